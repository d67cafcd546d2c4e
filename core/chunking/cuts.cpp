#include "chunking/cuts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "chunking/scan.h"

namespace gossamer {
namespace {

// What may stand between the end of a sentence and the space after it.
constexpr std::string_view kClosing = "\"')]*_";
constexpr std::size_t kMostClosing = 4;
// Ends of sentences in scripts that write no space after them, and what may close a quotation.
constexpr std::array<std::string_view, 6> kFullStops = {
    "\xe3\x80\x82", "\xef\xbc\x81", "\xef\xbc\x9f", "\xef\xbd\xa1", "\xe0\xa5\xa4", "\xd8\x9f"};
constexpr std::array<std::string_view, 5> kWideClosing = {
    "\xe3\x80\x8d", "\xe3\x80\x8f", "\xe2\x80\x9d", "\xe2\x80\x99", "\xef\xbc\x89"};

enum class Finer { kSentences, kLines, kWords, kTokens };

// The length of the one of `marks` that stands at a place; 0 if none does.
template <std::size_t N>
std::size_t length_of_mark(std::string_view text, std::size_t at,
                           const std::array<std::string_view, N>& marks) {
  for (const std::string_view mark : marks)
    if (text.substr(at, mark.size()) == mark) return mark.size();
  return 0;
}

// A letter with a full stop is an initial or an abbreviation.
bool is_initial(std::string_view text, std::size_t dot) {
  if (text[dot] != '.' || dot < 2) return false;
  const char letter = text[dot - 1], before = text[dot - 2];
  return (is_upper(letter) || is_lower(letter)) &&
         (before == ' ' || before == '(' || before == '.');
}

// Where the sentence after the one begins that ends with the mark at `at`; nothing if none ends.
std::optional<std::size_t> after_sentence(std::string_view text, std::size_t at) {
  if (text[at] == '.' || text[at] == '!' || text[at] == '?') {
    if (is_initial(text, at)) return std::nullopt;
    const auto is_closing = [](char byte) { return kClosing.find(byte) != std::string_view::npos; };
    const std::size_t closed = skip(text, at + 1, is_closing, kMostClosing);
    const std::size_t next = skip(text, closed, is_space);
    const bool begins = next > closed && next < text.size() && !is_lower(text[next]);
    return begins ? std::optional(next) : std::nullopt;
  }
  std::size_t length = length_of_mark(text, at, kFullStops);
  if (length == 0) return std::nullopt;
  for (; length > 0; length = length_of_mark(text, at, kWideClosing)) at += length;
  return skip(text, at, is_space);
}

void add_sentences(const Stretch& stretch, Cuts& cuts) {
  const std::string_view text = stretch.text.substr(0, stretch.end);
  constexpr std::string_view kFirstBytes = ".!?\xe3\xef\xe0\xd8";
  for (std::size_t at = text.find_first_of(kFirstBytes, stretch.begin);
       at != std::string_view::npos; at = text.find_first_of(kFirstBytes, at)) {
    const std::optional<std::size_t> next = after_sentence(text, at);
    if (next) cuts.push_back({*next, kSentenceCost});
    at = next.value_or(at + 1);
  }
}

void add_lines(const Stretch& stretch, Cuts& cuts) {
  for (std::size_t at = stretch.begin; at < stretch.end; ++at)
    if (stretch.text[at] == '\n') cuts.push_back({at + 1, kLineCost});
}

void add_words(const Stretch& stretch, Cuts& cuts) {
  for (const std::size_t token : stretch.tokens)
    if (token > stretch.begin && is_space(stretch.text[token - 1]))
      cuts.push_back({token, kWordCost});
}

void add_tokens(const Stretch& stretch, Cuts& cuts) {
  for (const std::size_t token : stretch.tokens)
    if (token > stretch.begin && begin_of_character(stretch.text, token) == token)
      cuts.push_back({token, kTokenCost});
}

// For where a tokenizer sees one endless word, as in encoded data.
void add_characters(const Stretch& stretch, std::size_t step, Cuts& cuts) {
  for (std::size_t place = stretch.begin + step; place < stretch.end; place += step)
    cuts.push_back({begin_of_character(stretch.text, place), kTokenCost});
}

Cuts find_finer(Finer finer, const Stretch& stretch) {
  Cuts found;
  if (finer == Finer::kSentences) add_sentences(stretch, found);
  if (finer == Finer::kLines) add_lines(stretch, found);
  if (finer == Finer::kWords) add_words(stretch, found);
  if (finer == Finer::kTokens) add_tokens(stretch, found);
  return found;
}

// The spans that begin in the stretch and have no more than `size` tokens.
std::vector<TextSpan> spans_that_fit(const Stretch& stretch, std::span<const TextSpan> spans,
                                     std::size_t size) {
  std::vector<TextSpan> fitting;
  auto span =
      std::lower_bound(spans.begin(), spans.end(), stretch.begin,
                       [](const TextSpan& one, std::size_t begin) { return one.start < begin; });
  for (; span != spans.end() && span->start < stretch.end; ++span)
    if (stretch.count_before(span->end) - stretch.count_before(span->start) <= size)
      fitting.push_back(*span);
  return fitting;
}

// Whether a cut there leaves every span whole.
bool is_outside(std::size_t offset, std::span<const TextSpan> spans) {
  const auto after =
      std::lower_bound(spans.begin(), spans.end(), offset,
                       [](const TextSpan& span, std::size_t value) { return span.start < value; });
  return after == spans.begin() || offset >= (after - 1)->end;
}

// The cuts of a stretch while finer ones are added to them.
class Refinement {
 public:
  Refinement(const Stretch& stretch, std::size_t byte_gap)
      : stretch_(stretch), byte_gap_(byte_gap) {}

  void begin_with(Cut cut) { cuts_.push_back(cut); }

  // Whether some gap between cuts has more than so many tokens, or too many bytes.
  bool has_wide_gaps(std::size_t gap) {
    is_wide_.clear();
    std::size_t begin = stretch_.begin;
    for (const Cut& cut : cuts_) {
      is_wide_.push_back(is_wide(begin, cut.offset, gap));
      begin = cut.offset;
    }
    is_wide_.push_back(is_wide(begin, stretch_.end, gap));
    return std::find(is_wide_.begin(), is_wide_.end(), true) != is_wide_.end();
  }

  // Adds those that lie in the gaps that were found wide.
  void add(const Cuts& found) {
    const std::size_t before = cuts_.size();
    for (const Cut& cut : found)
      if (cut.offset > stretch_.begin && cut.offset < stretch_.end &&
          is_wide_[gap_of(cut.offset, before)])
        cuts_.push_back(cut);
    sort_cuts(cuts_);
  }

  // Keeps the cheapest cut of each run of `bucket` tokens.
  void thin(std::size_t bucket) {
    Cuts kept;
    std::size_t last = 0;
    for (const Cut& cut : cuts_) {
      const std::size_t here = stretch_.count_before(cut.offset) / bucket;
      if (kept.empty() || here != last)
        kept.push_back(cut);
      else if (cut.cost < kept.back().cost)
        kept.back() = cut;
      last = here;
    }
    cuts_ = std::move(kept);
  }

  Cuts take() { return std::move(cuts_); }

 private:
  bool is_wide(std::size_t begin, std::size_t end, std::size_t gap) const {
    return end - begin > byte_gap_ ||
           stretch_.count_before(end) - stretch_.count_before(begin) > gap;
  }

  // Which gap an offset lies in; a cut begins the one after it.
  std::size_t gap_of(std::size_t offset, std::size_t count) const {
    const auto after =
        std::upper_bound(cuts_.begin(), cuts_.begin() + static_cast<std::ptrdiff_t>(count), offset,
                         [](std::size_t value, const Cut& cut) { return value < cut.offset; });
    return static_cast<std::size_t>(after - cuts_.begin());
  }

  const Stretch& stretch_;
  std::size_t byte_gap_;
  Cuts cuts_;
  std::vector<bool> is_wide_;  // one more than there are cuts
};

// How many tokens stand before each place that is tied to its heading.
std::vector<std::size_t> counts_of_tied(const Stretch& stretch, const Outline& outline) {
  std::vector<std::size_t> counts;
  auto place = std::lower_bound(outline.tied.begin(), outline.tied.end(), stretch.begin);
  for (; place != outline.tied.end() && *place < stretch.end; ++place)
    counts.push_back(stretch.count_before(*place));
  return counts;
}

}  // namespace

std::size_t Stretch::count_before(std::size_t offset) const {
  return static_cast<std::size_t>(std::lower_bound(tokens.begin(), tokens.end(), offset) -
                                  tokens.begin());
}

Cuts places_to_cut(const Stretch& stretch, const Outline& outline, std::size_t size,
                   std::size_t max_bytes) {
  const std::vector<TextSpan> whole = spans_that_fit(stretch, outline.whole, size - size / 5);
  const std::vector<std::size_t> tied = counts_of_tied(stretch, outline);
  const std::size_t byte_gap = max_bytes / 4;
  Refinement cuts(stretch, byte_gap);
  auto cut = std::upper_bound(outline.cuts.begin(), outline.cuts.end(), stretch.begin,
                              [](std::size_t value, const Cut& one) { return value < one.offset; });
  for (; cut != outline.cuts.end() && cut->offset < stretch.end; ++cut)
    if (is_outside(cut->offset, whole)) cuts.begin_with(*cut);

  using enum Finer;
  const std::array order = outline.is_prose ? std::array{kSentences, kLines, kWords, kTokens}
                                            : std::array{kLines, kSentences, kWords, kTokens};
  for (const Finer finer : order) {
    const bool is_coarse = finer == kSentences || finer == kLines;
    if (!cuts.has_wide_gaps(std::max<std::size_t>(1, is_coarse ? size / 8 : size / 4))) break;
    Cuts found = find_finer(finer, stretch);
    // What is not cut as it stands is code, which has lines and no sentences.
    const std::vector<TextSpan>& spared = finer == kSentences ? outline.whole : whole;
    std::erase_if(found, [&](const Cut& one) {
      return !is_outside(one.offset, spared) || is_among(stretch.count_before(one.offset), tied);
    });
    cuts.add(found);
  }
  cuts.thin(std::max<std::size_t>(1, size / 32));
  if (cuts.has_wide_gaps(size)) {
    Cuts characters;
    add_characters(stretch, byte_gap, characters);
    cuts.add(characters);
  }
  return cuts.take();
}

}  // namespace gossamer
