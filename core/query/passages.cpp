#include "query/passages.h"

#include <algorithm>

#include "base/append.h"
#include "base/blake2b.h"
#include "base/sort.h"
#include "chunking/context.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

// Text before chunks is read in such steps: a document may be larger than the memory.
constexpr std::size_t kStepBytes = 1 << 20;

std::string_view text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::int64_t count_lines(std::string_view text) {
  return std::count(text.begin(), text.end(), '\n');
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (next_point(text, at) == kReplacement && text.substr(start, at - start) != "\xEF\xBF\xBD")
      return false;
  }
  return true;
}

// With U+FFFD in place of what is no UTF-8.
std::string readable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) append_utf8(out, next_point(text, at));
  return out;
}

// With a question mark in place of each half of a pair (three bytes), which no encoder takes.
std::string without_halves(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_half = text[at] == '\xED' && text.size() - at > 2 &&
                         static_cast<std::uint8_t>(text[at + 1]) >= 0xA0;
    out += is_half ? '?' : text[at];
    if (is_half) at += 2;
  }
  return out;
}

void sort_by_start(std::vector<ChunkFacts>& chunks) {
  std::vector<SortKey> order;
  for (std::size_t i = 0; i < chunks.size(); ++i)
    order.emplace_back(static_cast<std::int64_t>(chunks[i].place.span.start),
                       static_cast<std::int64_t>(i));
  sort_values(order.begin(), order.end());
  std::vector<ChunkFacts> sorted;
  for (const SortKey& key : order)
    sorted.push_back(std::move(chunks[static_cast<std::size_t>(key.second)]));
  chunks = std::move(sorted);
}

// The words of a heading with the bytes around them that tell its style.
TextSpan with_style(TextSpan heading, TextSpan chunk) {
  if (heading.empty() || heading.end > chunk.start) return heading;
  return {heading.start - std::min(heading.start, kBytesBefore),
          std::min(heading.end + kBytesBehind, chunk.start)};
}

// Cuts the words out of what with_style() asked for.
std::string_view take_words(std::string_view read, TextSpan heading, TextSpan chunk) {
  return read.substr(heading.start - with_style(heading, chunk).start, heading.end - heading.start);
}

bool is_indexed(const AwayText& given, const ChunkFacts& chunk) {
  return given.id == chunk.id && check_of(given.embedded) == chunk.check &&
         is_utf8(given.embedded) && given.embedded.ends_with(given.body) &&
         given.body.size() == chunk.place.span.end - chunk.place.span.start;
}

}  // namespace

std::int64_t Passage::number_at(std::size_t byte) const {
  const std::vector<NumberedPlace>& places = chunk.document->document.places;
  if (places.empty()) return first + count_lines(std::string_view(body).substr(0, byte));
  const auto after = std::upper_bound(
      places.begin(), places.end(), static_cast<std::int64_t>(chunk.place.span.start + byte),
      [](std::int64_t wanted, const NumberedPlace& place) { return wanted < place.offset; });
  return (after == places.begin() ? after : std::prev(after))->number;
}

// What was supplied, one after the other.
class PassageReader::Spans {
 public:
  explicit Spans(std::span<const std::optional<ByteView>> all) : all_(all) {}

  // Of the next span; nothing where it is not there.
  std::optional<std::string_view> next() {
    const std::optional<ByteView>& one = all_[at_++];
    if (!one) return std::nullopt;
    return text_of(*one);
  }
  void enter(const TextNeed& need) { end_ = at_ + need.spans.size(); }
  bool has_more() const { return at_ < end_; }

 private:
  std::span<const std::optional<ByteView>> all_;
  std::size_t at_ = 0, end_ = 0;
};

void PassageReader::begin(std::span<const std::uint64_t> ids, bool with_places) {
  std::vector<std::uint64_t> wanted;
  for (const std::uint64_t id : ids) {
    const Passage* known = find(id);
    if (!known || (with_places && known->first == 0)) wanted.push_back(id);
  }
  std::map<std::size_t, Reading> by_document;
  for (ChunkFacts& chunk : collection_.find(wanted)) {
    chunk.document = documents_.try_emplace(chunk.document->row, chunk.document).first->second;
    if (chunk.document->is_away()) {
      away_.push_back(chunk.id);
      continue;
    }
    Reading& reading = by_document[chunk.document->row];
    reading.document = chunk.document;
    if (with_places && chunk.document->document.places.empty()) reading.places.push_back(chunk);
    if (!find(chunk.id)) reading.chunks.push_back(std::move(chunk));
  }
  for (auto& [row, reading] : by_document) {
    sort_by_start(reading.places);
    readings_.push_back(std::move(reading));
  }
  ask();
}

// Names what the documents that are being read need next; those that need nothing are over.
void PassageReader::ask() {
  texts_.clear();
  std::vector<Reading> going_on;
  for (Reading& reading : readings_) {
    if (reading.chunks.empty()) place(reading);
    std::vector<TextSpan> spans;
    const TextSpan title = reading.document->document.title_span;
    if (!reading.chunks.empty() && !title.empty()) spans.push_back(title);
    for (const ChunkFacts& chunk : reading.chunks) {
      for (const TextSpan heading : chunk.place.context)
        spans.push_back(with_style(heading, chunk.place.span));
      spans.push_back(chunk.place.span);
    }
    std::size_t at = reading.counted, room = kStepBytes;
    for (std::size_t i = reading.placed; i < reading.places.size(); ++i) {
      const std::size_t start = reading.places[i].place.span.start;
      if (start <= at) continue;
      const std::size_t end = std::min(start, at + room);
      spans.push_back({at, end});
      room -= end - at;
      at = end;
      if (room == 0) break;
    }
    if (spans.empty()) continue;
    texts_.push_back({reading.document, std::move(spans)});
    going_on.push_back(std::move(reading));
  }
  readings_ = std::move(going_on);
}

void PassageReader::supply_texts(std::span<const std::optional<ByteView>> given) {
  std::size_t expected = 0;
  for (const TextNeed& need : texts_) {
    for (const TextSpan span : need.spans) {
      if (expected < given.size() && given[expected] &&
          given[expected]->size() != span.end - span.start)
        fail(Reason::kInvalidArgument, "a span of text has another length than was asked for");
      ++expected;
    }
  }
  expect(given.size() == expected, Reason::kInvalidArgument,
         "expected each span of text that was asked for");
  Spans spans(given);
  for (std::size_t i = 0; i < readings_.size(); ++i) {
    spans.enter(texts_[i]);
    take(readings_[i], spans);
  }
  ask();
}

void PassageReader::take(Reading& reading, Spans& spans) {
  const DocumentRecord& document = reading.document->document;
  std::optional<std::string> title = document.title;
  if (!reading.chunks.empty() && !document.title_span.empty()) {
    const std::optional<std::string_view> found = spans.next();
    title = found ? std::optional(readable(*found)) : std::nullopt;
  }
  for (const ChunkFacts& chunk : reading.chunks)
    if (!take_chunk(chunk, title ? &*title : nullptr, spans))
      stale_.insert(reading.document->source_row);
  reading.chunks.clear();
  std::erase_if(reading.places, [&](const ChunkFacts& chunk) { return !find(chunk.id); });
  take_lines(reading, spans);
}

bool PassageReader::take_chunk(const ChunkFacts& chunk, const std::string* title, Spans& spans) {
  const auto& [span, context] = chunk.place;
  bool is_there = title != nullptr;
  std::vector<std::string_view> parts;  // headings
  std::vector<HeadingAbove> headings;
  for (const TextSpan heading : context) {
    const std::optional<std::string_view> read = spans.next();
    is_there = is_there && read;
    if (!is_there) continue;
    const std::string_view words = take_words(*read, heading, span);
    is_there = is_utf8(words);
    parts.push_back(words);
    if (words.empty()) continue;
    const auto before = static_cast<std::size_t>(words.data() - read->data());
    headings.push_back(
        {heading, style_between(read->substr(0, before), read->substr(before + words.size()))});
  }
  const std::optional<std::string_view> body = spans.next();
  if (!is_there || !body || !is_utf8(*body)) return false;
  const SourceRecord& source = chunk.document->source;
  const std::string line =
      without_halves(context_line(source.root.empty() ? "" : source.name, *title));
  Passage passage{chunk, *title, std::string(*body),
                  embedded_text(shorten_line(line), parts, *body)};
  passage.headings = std::move(headings);
  if (check_of(passage.embedded) != chunk.check) return false;
  keep(std::move(passage));
  return true;
}

void PassageReader::take_lines(Reading& reading, Spans& spans) {
  place(reading);
  bool is_there = true;
  while (spans.has_more()) {
    const std::optional<std::string_view> text = spans.next();
    is_there = is_there && text;
    if (!is_there) continue;
    reading.lines += count_lines(*text);
    reading.counted += text->size();
    place(reading);
  }
  if (is_there) return;
  // The source has changed since the chunks were read: nobody can say where they are.
  stale_.insert(reading.document->source_row);
  for (; reading.placed < reading.places.size(); ++reading.placed)
    passages_.erase(reading.places[reading.placed].id);
}

void PassageReader::place(Reading& reading) {
  for (; reading.placed < reading.places.size(); ++reading.placed) {
    const ChunkFacts& chunk = reading.places[reading.placed];
    if (chunk.place.span.start > reading.counted) return;
    if (const auto known = passages_.find(chunk.id); known != passages_.end()) {
      known->second.first = 1 + reading.lines;
      known->second.last = known->second.first + count_lines(known->second.body);
    }
  }
}

void PassageReader::keep(Passage passage) {
  if (!passage.chunk.document->document.places.empty()) {
    passage.first = passage.number_at(0);
    passage.last = passage.number_at(std::max<std::size_t>(passage.body.size(), 1) - 1);
  }
  passages_[passage.chunk.id] = std::move(passage);
}

void PassageReader::supply_away(std::span<const std::optional<AwayText>> given, bool is_answered) {
  expect(given.size() == away_.size(), Reason::kInvalidArgument,
         "expected an answer for each chunk that was asked for");
  const std::vector<ChunkFacts> chunks = collection_.find(away_);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const ChunkFacts& chunk = chunks[i];
    const std::string& title = chunk.document->document.title;
    if (given[i] && is_indexed(*given[i], chunk)) {
      const AwayText& text = *given[i];
      Passage passage{chunk, title.empty() ? readable(text.title) : title, text.body,
                      text.embedded};
      passage.first = std::max<std::int64_t>(text.first, 0);
      passage.last = std::max(text.last, passage.first);
      for (const TextSpan heading : chunk.place.context)
        if (!heading.empty()) passage.headings.push_back({heading, {}});
      keep(std::move(passage));
    } else if (is_answered) {
      stale_.insert(chunk.document->source_row);
    } else {
      unreachable_.insert_or_assign(chunk.id, Passage{chunk, title, {}, {}});
    }
  }
  away_.clear();
}

const Passage* PassageReader::find(std::uint64_t id) const {
  const auto found = passages_.find(id);
  return found == passages_.end() ? nullptr : &found->second;
}

TextNeed text_around(const Passage& passage, std::size_t margin) {
  const DocumentRecord& document = passage.chunk.document->document;
  auto length = static_cast<std::size_t>(document.length);
  // A title that the text does not hold is kept behind it.
  const TextSpan title = document.title_span;
  if (!title.empty() && document.segment != kVerbatim && title.end >= length) length = title.start;
  const TextSpan span = passage.chunk.place.span;
  const std::size_t end = span.end + std::min(margin, std::max(length, span.end) - span.end);
  return {passage.chunk.document,
          {{span.start - std::min(span.start, margin), span.start}, {span.end, end}}};
}

}  // namespace gossamer
