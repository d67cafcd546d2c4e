#include "chunking/chunks.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "chunking/context.h"
#include "chunking/cuts.h"
#include "chunking/partition.h"
#include "chunking/scan.h"

namespace gossamer {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// Below this a single character with its context might not fit.
constexpr std::size_t kLeastSize = 32;
// What readers of others' indexes take for a heading at most.
constexpr std::size_t kMostHeadingBytes = 1 << 16;
// No model takes so many, and sums of sizes stay below 2^32.
constexpr std::size_t kMostSize = 1 << 20;
// A tokenizer may see one token in a megabyte of encoded data; nobody reads a chunk like that.
constexpr std::size_t kMostBytesPerToken = 32;
// Long texts are divided in stretches of about this many bytes, so that the work is linear and the
// memory a few times the text.
constexpr std::size_t kStretchBytes = 1 << 19;
constexpr std::string_view kCode = "code/";
constexpr std::string_view kProse[] = {"asciidoc", "latex", "org", "text", "typst"};

Outline outline_of(std::string_view text, std::size_t begin, const ChunkOptions& options) {
  if (options.markup.starts_with(kCode)) {
    const std::string_view language = options.markup.substr(kCode.size());
    const bool is_prose =
        std::find(std::begin(kProse), std::end(kProse), language) != std::end(kProse);
    return outline_of_code(text, begin, options.captures, is_prose);
  }
  if (options.markup == "markdown") return outline_of_markdown(text, begin);
  if (options.markup == "rst") return outline_of_rst(text, begin);
  if (options.markup == "rows") return outline_of_rows(text, begin);
  return outline_of_plain(text, begin);
}

// Where a byte stands last in a span; nothing if it does not.
std::optional<std::size_t> find_last(std::string_view text, char byte, TextSpan span) {
  const std::size_t found = words_of(text, span).rfind(byte);
  return found == std::string_view::npos ? std::nullopt : std::optional(span.start + found);
}

// Ends a stretch at the best place of its second half.
std::size_t end_of_stretch(std::string_view text, std::size_t begin, const Cuts& cuts) {
  const std::size_t end = begin + kStretchBytes;
  if (end >= text.size()) return text.size();
  const std::size_t half = begin + kStretchBytes / 2;
  const auto before = [](const Cut& cut, std::size_t offset) { return cut.offset < offset; };
  auto cut = std::lower_bound(cuts.begin(), cuts.end(), half, before);
  std::optional<Cut> best;
  for (; cut != cuts.end() && cut->offset < end; ++cut)
    if (!best || cut->cost <= best->cost) best = *cut;
  if (best) return best->offset;
  for (const char space : {'\n', ' '})
    if (const auto at = find_last(text, space, {half, end})) return *at + 1;
  return begin_of_character(text, end);
}

// A place to part a span, between words where it can be; nothing for one character.
std::optional<std::size_t> middle_of(std::string_view text, TextSpan span) {
  const std::size_t middle = (span.start + span.end) / 2;
  const std::size_t quarter = (span.start + middle) / 2;
  const auto space =
      std::max(find_last(text, ' ', {quarter, middle}), find_last(text, '\n', {quarter, middle}));
  if (space && *space > span.start) return *space + 1;
  for (std::size_t place = middle; place < std::min(middle + 4, span.end); ++place) {
    const std::size_t found = begin_of_character(text, place);
    if (found > span.start) return found;
  }
  return std::nullopt;
}

// The text, the tokenizer and the limits, which every step needs.
class Chunker {
 public:
  Chunker(std::string_view text, std::size_t size, std::string_view line, const FindTokens& find)
      : text_(text), size_(size), max_bytes_(size * kMostBytesPerToken), find_(find) {
    line_ = shorten_line(line);
    line_tokens_ = count(line_);
    if (line_tokens_ > size_ / 5) {
      line_.clear();
      line_tokens_ = 0;
      outermost_ = {kNoContextLine};
    }
    // What a tokenizer that minds newlines counts for the join of two parts.
    const std::size_t two = 2 * count("a"), joined = count("a\na");
    join_tokens_ = joined > two ? joined - two : 0;
  }

  // Whether the whole span is one chunk.
  bool fits(TextSpan span) const {
    return span.end - span.start <= max_bytes_ && count(embedded(span, outermost_)) <= size_;
  }

  // Adds the chunks of the text from `begin` on.
  void chunk(const Outline& outline, std::size_t begin) {
    std::vector<Heading> headings = outline.headings;
    for (Heading& heading : headings)
      if (heading.words.end - heading.words.start > kMostHeadingBytes)
        heading.words.end = heading.words.start;  // one word without end: it only ends a section
    HeadingPath path(text_, headings, line_, size_ / 5 - line_tokens_);
    while (begin < text_.size()) {
      const std::size_t end = end_of_stretch(text_, begin, outline.cuts);
      Stretch stretch{text_, begin, end, {}};
      for (const std::uint32_t start : find_(text_.substr(begin, end - begin)))
        stretch.tokens.push_back(begin + std::min<std::size_t>(start, end - begin - 1));
      path.enter(stretch);
      chunk_stretch(stretch, outline, path);
      begin = end;
    }
  }

  // Adds a span as a chunk, trimmed and counted; in pieces where it is too long after all. Tokens
  // need not add up at a cut, so what is embedded is counted as it will be.
  void add(TextSpan whole, std::span<const TextSpan> headings) {
    std::vector<TextSpan> context = outermost_;
    context.insert(context.end(), headings.begin(), headings.end());
    std::vector<TextSpan> waiting = {whole};
    while (!waiting.empty()) {
      const TextSpan span = trim(text_, waiting.back());
      waiting.pop_back();
      if (span.empty()) continue;
      const std::size_t tokens = count(embedded(span, context));
      if (tokens <= size_) {
        // A context is never this long, so that the text itself must have tokens.
        if (tokens > size_ / 2 || count(words(span)) > 0) chunks_.push_back({span, context});
      } else if (const auto middle = middle_of(text_, span)) {
        waiting.push_back({*middle, span.end});
        waiting.push_back({span.start, *middle});
      } else {
        chunks_.push_back({span, {kNoContextLine}});
      }
    }
  }

  std::vector<ChunkSpan> take() { return std::move(chunks_); }

 private:
  void chunk_stretch(const Stretch& stretch, const Outline& outline, HeadingPath& path) {
    Cuts cuts = places_to_cut(stretch, outline, size_, max_bytes_);
    cuts.insert(cuts.begin(), {stretch.begin, 0});
    cuts.push_back({stretch.end, 0});
    std::vector<Place> places;
    std::vector<std::vector<TextSpan>> contexts;
    for (const Cut& cut : cuts) {
      const bool is_end = cut.offset == stretch.end;
      HeadingPath::Context context = is_end ? HeadingPath::Context{} : path.at(cut.offset);
      places.push_back({cut.offset, stretch.count_before(cut.offset), cut.cost, budget(context)});
      contexts.push_back(std::move(context.spans));
    }
    const std::vector<std::size_t> chosen = cheapest_partition(places, max_bytes_);
    for (std::size_t i = 1; i < chosen.size(); ++i)
      add({places[chosen[i - 1]].offset, places[chosen[i]].offset}, contexts[chosen[i - 1]]);
  }

  std::int64_t budget(const HeadingPath::Context& context) const {
    const std::size_t parts = context.spans.size() + (line_.empty() ? 0 : 1);
    return static_cast<std::int64_t>(size_) -
           static_cast<std::int64_t>(line_tokens_ + context.tokens + parts * join_tokens_);
  }

  std::string_view words(TextSpan span) const { return words_of(text_, span); }

  std::string embedded(TextSpan span, std::span<const TextSpan> context) const {
    std::vector<std::string_view> headings;
    for (const TextSpan& heading : context) headings.push_back(words(heading));
    return embedded_text(line_, headings, words(span));
  }

  std::size_t count(std::string_view text) const { return find_(text).size(); }

  std::string_view text_;
  std::size_t size_;
  std::size_t max_bytes_;
  const FindTokens& find_;
  std::string line_;
  std::size_t line_tokens_ = 0;
  std::size_t join_tokens_ = 0;
  std::vector<TextSpan> outermost_;
  std::vector<ChunkSpan> chunks_;
};

}  // namespace

std::vector<ChunkSpan> chunk_document(std::string_view text, const ChunkOptions& options,
                                      const FindTokens& find_tokens) {
  if (options.size < kLeastSize)
    fail(Reason::kInvalidArgument, "a chunk needs room for " + std::to_string(kLeastSize) +
                                       " tokens or more, not " + std::to_string(options.size));
  Chunker chunker(text, std::min(options.size, kMostSize), options.line, find_tokens);
  const std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (chunker.fits({begin, text.size()}))
    chunker.add({begin, text.size()}, {});
  else
    chunker.chunk(outline_of(text, begin, options), begin);
  return chunker.take();
}

}  // namespace gossamer
