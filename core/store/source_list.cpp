#include "store/source_list.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "store/source_rows.h"
#include "store/verify.h"

namespace gossamer {
namespace {

using Source = SourceColumns;
using Document = DocumentColumns;

constexpr std::array<std::uint8_t, 8> kMagic{'G', 'S', 'M', 'C', 'A', 'T', 'A', 'L'};
constexpr std::uint32_t kVersion = 1;

// The columns that name strings.
constexpr std::array kStringsOfSources{Source::kRoot, Source::kKind, Source::kReason};
constexpr std::array kStringsOfDocuments{Document::kKind, Document::kUnit};

// Calls `visit` with each number of a string, of the rows from these on.
template <class Visit>
void visit_strings(Table& sources, std::size_t first, std::size_t first_document,
                   const Visit& visit) {
  const auto visit_column = [&](Ints& numbers, std::size_t row) {
    for (; row < numbers.size(); ++row) visit(numbers[row]);
  };
  for (const auto column : kStringsOfSources) visit_column(sources.columns[column], first);
  for (const auto column : kStringsOfDocuments)
    visit_column(sources.children[Source::kDocument].columns[column], first_document);
}

// Leaves the strings that are used, sorted; the empty one is the first.
Strings sort_strings(const Strings& strings, Table& sources) {
  std::vector<bool> is_used(strings.size());
  is_used[0] = true;
  visit_strings(sources, 0, 0,
                [&](std::int64_t number) { is_used[static_cast<std::size_t>(number)] = true; });
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < strings.size(); ++i)
    if (is_used[i]) kept.push_back(i);
  std::sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
    return strings[static_cast<std::int64_t>(a)] < strings[static_cast<std::int64_t>(b)];
  });
  std::vector<std::string> sorted;
  Ints numbers(strings.size());
  for (const std::size_t i : kept) {
    numbers[i] = static_cast<std::int64_t>(sorted.size());
    sorted.push_back(strings[static_cast<std::int64_t>(i)]);
  }
  visit_strings(sources, 0, 0,
                [&](std::int64_t& number) { number = numbers[static_cast<std::size_t>(number)]; });
  return Strings::of(std::move(sorted));
}

ByteView bytes_of(const Ints& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), 8 * values.size()};
}

void give_number(std::uint64_t number, const std::function<void(ByteView)>& take_piece) {
  std::array<std::uint8_t, 8> bytes;
  std::memcpy(bytes.data(), &number, bytes.size());
  take_piece(bytes);
}

// Lengths come first, so that nothing runs over into what follows.
void give_table(const Table& table, const std::function<void(ByteView)>& take_piece) {
  give_number(table.size(), take_piece);
  if (table.schema->is_bytes) return take_piece(table.content);
  for (std::size_t number = 0; number < table.columns.size(); ++number) {
    const std::string_view name = table.schema->column(number).name;
    if (name != "segment" && name != "offset") take_piece(bytes_of(table.columns[number]));
  }
  for (const Table& child : table.children) give_table(child, take_piece);
}

}  // namespace

SourceList SourceList::read(ByteView bytes, Origin origin, const Codec& codec) {
  expect(bytes.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), bytes.begin()),
         Reason::kNotGossamer, "this is no catalogue of a Gossamer index");
  ByteReader in(bytes.subspan(kMagic.size()), "the catalogue");
  const auto version = in.get<std::uint32_t>();
  if (version != kVersion)
    fail(Reason::kUnknownVersion, "the catalogue is of version " + std::to_string(version) +
                                      ", and this release reads " + std::to_string(kVersion) +
                                      "; use the release that wrote it, or a newer one");
  const auto length = in.get<std::uint64_t>();
  expect(length <= in.remaining(), Reason::kTruncated, "the catalogue ends too early");
  const ByteView strings = in.take(static_cast<std::size_t>(length));
  SourceList list(
      Strings::read(strings, origin, codec, kMostAlone),
      unpack_table(in.take(in.remaining()), sources_schema(), origin, codec, kMostAlone));
  verify_sources(list.sources_, list.strings_.size(), origin);
  return list;
}

Bytes SourceList::pack(const Codec& codec) const {
  const Bytes strings = strings_.pack(codec);
  ByteWriter out;
  out.put_bytes(kMagic);
  out.put(kVersion);
  out.put<std::uint64_t>(strings.size());
  out.put_bytes(strings);
  out.put_bytes(pack_table(sources_, codec));
  return out.take();
}

Ints SourceList::text_lengths() const { return gossamer::text_lengths(sources_); }

std::vector<std::size_t> SourceList::order() const {
  const SourceRows rows(sources_, strings_);
  std::vector<SourceName> names;
  for (std::size_t row = 0; row < rows.size(); ++row) names.push_back(rows.name(row));
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  return order;
}

SourceList SourceList::take(std::span<const std::size_t> rows) const {
  for (const std::size_t row : rows)
    expect(row < sources_.size(), Reason::kInvalidArgument, "the list has no source of this row");
  SourceList taken;
  taken.sources_.append(sources_, rows);
  taken.strings_ = sort_strings(strings_, taken.sources_);
  return taken;
}

Ints SourceList::number_strings(const Strings& strings) {
  Ints numbers;
  for (std::size_t i = 0; i < strings.size(); ++i)
    numbers.push_back(strings_.number_of(strings[static_cast<std::int64_t>(i)]));
  return numbers;
}

void SourceList::append(const Ints& numbers, const Table& sources,
                        std::span<const std::size_t> rows, std::int64_t segment) {
  const bool do_rise =
      std::adjacent_find(rows.begin(), rows.end(), std::greater_equal()) == rows.end();
  if (do_rise && rows.size() == sources.size()) return append_all(numbers, sources, segment);
  const std::size_t first = sources_.size(), first_document = documents().size();
  sources_.append(sources, rows);
  settle(numbers, first, first_document, segment);
}

void SourceList::append_all(const Ints& numbers, const Table& sources, std::int64_t segment) {
  const std::size_t first = sources_.size(), first_document = documents().size();
  sources_.append(sources);
  settle(numbers, first, first_document, segment);
}

void SourceList::settle(const Ints& numbers, std::size_t first, std::size_t first_document,
                        std::int64_t segment) {
  visit_strings(sources_, first, first_document,
                [&](std::int64_t& number) { number = numbers[static_cast<std::size_t>(number)]; });
  Ints& places = sources_.children[Source::kDocument].columns[Document::kSegment];
  std::replace(places.begin() + static_cast<std::ptrdiff_t>(first_document), places.end(), kHere,
               segment);
}

SourceList SourceList::join(const SourceList& other) const {
  SourceList joined(*this);
  joined.append_all(joined.number_strings(other.strings_), other.sources_);
  return joined;
}

SourceList SourceList::place_texts(std::span<const std::int64_t> segments,
                                   std::span<const std::int64_t> offsets) const {
  expect(segments.size() == documents().size() && offsets.size() == documents().size(),
         Reason::kInvalidArgument, "places are a segment and an offset for each document");
  SourceList placed(*this);
  Table& own = placed.sources_.children[Source::kDocument];
  own.columns[Document::kLength] = text_lengths();
  own.columns[Document::kSegment].assign(segments.begin(), segments.end());
  own.columns[Document::kOffset].assign(offsets.begin(), offsets.end());
  // A text that is its file has the file's length.
  for (std::size_t row = 0; row < segments.size(); ++row)
    if (segments[row] == kVerbatim) own.columns[Document::kLength][row] = 0;
  return placed;
}

SourceList SourceList::put_texts_away() const {
  const std::size_t count = documents().size();
  return place_texts(Ints(count, kAway), Ints(count, 0));
}

SourceList SourceList::rename_roots(std::span<const std::string> names) const {
  expect(names.size() == strings_.size() && names[0].empty(), Reason::kInvalidArgument,
         "there is one name for each string, and none for the first");
  SourceList renamed(*this);
  for (std::int64_t& root : renamed.sources_.columns[Source::kRoot])
    root = renamed.strings_.number_of(names[static_cast<std::size_t>(root)]);
  return renamed;
}

void SourceList::give_content(const std::function<void(ByteView)>& take_piece) const {
  const SourceList content = put_texts_away().take(order());
  for (std::size_t i = 0; i < content.strings_.size(); ++i) {
    const std::string& text = content.strings_[static_cast<std::int64_t>(i)];
    give_number(text.size(), take_piece);
    take_piece({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  give_table(content.sources_, take_piece);
}

}  // namespace gossamer
