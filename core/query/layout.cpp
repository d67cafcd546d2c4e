#include "query/layout.h"

#include <algorithm>
#include <compare>

#include "base/error.h"
#include "base/sort.h"
#include "store/schema.h"

namespace gossamer {
namespace {

constexpr std::uint64_t kNearBytes = 1 << 16;
constexpr auto kAwayNumber = static_cast<std::uint32_t>(kAway);

// What documents are sorted by: one type for both orders, so that there is one such sort.
struct SortPlace {
  std::uint64_t segment, at;
  std::uint32_t document;

  friend auto operator<=>(const SortPlace&, const SortPlace&) = default;
};

std::uint32_t as_number(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

bool leads_out(std::string_view path) {
  for (std::size_t at = path.find(".."); at != path.npos; at = path.find("..", at + 1)) {
    const bool begins = at == 0 || path[at - 1] == '/';
    if (begins && (at + 2 == path.size() || path[at + 2] == '/')) return true;
  }
  return false;
}

}  // namespace

bool Roots::hold(const std::string& path) const {
  if (leads_out(path)) return false;
  for (std::string_view folder : folders_) {
    if (folder.empty()) continue;
    if (path == folder) return true;
    while (folder.ends_with('/')) folder.remove_suffix(1);
    if (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/')
      return true;
  }
  return false;
}

ChunkLayout::ChunkLayout(const Catalogue& catalogue, const Roots& roots) {
  expect(catalogue.counts().documents <= ~std::uint32_t{0}, Reason::kTooLarge,
         "an index holds at most 4,294,967,295 documents");
  documents_.reserve(catalogue.counts().documents);
  starts_.reserve(catalogue.counts().chunks);
  lengths_.reserve(catalogue.counts().chunks);
  std::size_t source_row = 0;
  for (const LivePart& part : catalogue.parts()) {
    const SegmentView& sources = part.segment->sources();
    for (std::size_t number = 0; number < sources.group_count(); ++number) {
      const std::shared_ptr<const Group> group = sources.read_apart(number);
      read_group(part, *group, source_row, roots);
      for (std::size_t row = 0; row < group->rows.size(); ++row)
        source_row += part.sources.has(group->before.sources + row) ? 0 : 1;
    }
  }
  sort_by_id();
  std::vector<SortPlace> places;
  for (std::uint32_t i = 0; i < documents_.size(); ++i)
    if (documents_[i].segment != kAwayNumber)
      places.push_back({documents_[i].segment, documents_[i].offset, i});
  sort_values(places.begin(), places.end());
  for (const SortPlace& place : places) text_order_.push_back(place.document);
}

void ChunkLayout::read_group(const LivePart& part, const Group& group, std::size_t source_row,
                             const Roots& roots) {
  const Table& documents = group.sources.children[SourceColumns::kDocument];
  for (std::size_t source = 0; source < group.rows.size(); ++source) {
    if (part.sources.has(group.before.sources + source)) continue;
    std::optional<std::size_t> path;  // the length of the source's, once it is known
    const RowRange own = group.rows.documents_of(source);
    for (std::size_t row = own.first; row < own.end; ++row) {
      const auto value = [&](std::size_t column) {
        return static_cast<std::uint64_t>(documents.columns[column][row]);
      };
      std::uint64_t segment = value(DocumentColumns::kSegment);
      if (segment == kHere) segment = part.segment->number();
      if (segment == kVerbatim) {
        if (!path) path = add_path(group.rows.name(source), roots);
        if (*path == 0) segment = kAway;
      }
      const RowRange rows = group.rows.chunks_of(row);
      documents_.push_back({value(DocumentColumns::kFirstChunk), value(DocumentColumns::kOffset),
                            as_number(documents_.size()), as_number(source_row),
                            as_number(starts_.size()), as_number(rows.size()), as_number(segment),
                            as_number(value(DocumentColumns::kTitleLength)),
                            value(DocumentColumns::kTitleStart), paths_.size(),
                            as_number(segment == kVerbatim ? *path : 0)});
      add_chunks(documents.children[DocumentColumns::kChunk], rows);
    }
    ++source_row;
  }
}

std::size_t ChunkLayout::add_path(const SourceName& name, const Roots& roots) {
  if (!name.is_file || !roots.hold(name.path)) return 0;
  paths_ += name.path;
  return name.path.size();
}

void ChunkLayout::add_chunks(const Table& chunks, RowRange rows) {
  std::int64_t end = 0;
  for (std::size_t chunk = rows.first; chunk < rows.end; ++chunk) {
    const std::int64_t start = end + chunks.columns[ChunkColumns::kGap][chunk];
    const std::int64_t length = chunks.columns[ChunkColumns::kLength][chunk];
    starts_.push_back(static_cast<std::uint64_t>(start));
    lengths_.push_back(as_number(static_cast<std::uint64_t>(length)));
    end = start + length;
  }
}

void ChunkLayout::sort_by_id() {
  std::vector<SortPlace> order;
  for (std::uint32_t i = 0; i < documents_.size(); ++i)
    if (documents_[i].chunk_count > 0) order.push_back({0, documents_[i].first_id, i});
  sort_values(order.begin(), order.end());
  std::vector<Document> documents;
  std::vector<std::uint64_t> starts;
  std::vector<std::uint32_t> lengths;
  documents.reserve(order.size());
  starts.reserve(starts_.size());
  lengths.reserve(lengths_.size());
  for (const SortPlace& place : order) {
    Document& document = documents.emplace_back(documents_[place.document]);
    const std::uint32_t first = as_number(starts.size());
    for (std::uint32_t chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk) {
      starts.push_back(starts_[chunk]);
      lengths.push_back(lengths_[chunk]);
    }
    document.first_chunk = first;
  }
  documents_ = std::move(documents);
  starts_ = std::move(starts);
  lengths_ = std::move(lengths);
}

const ChunkLayout::Document& ChunkLayout::document_of(ChunkNumber chunk) const {
  const auto after = std::upper_bound(
      documents_.begin(), documents_.end(), chunk,
      [](ChunkNumber wanted, const Document& document) { return wanted < document.first_chunk; });
  return *std::prev(after);
}

std::optional<ChunkNumber> ChunkLayout::number_of(std::uint64_t id) const {
  const auto after = std::upper_bound(
      documents_.begin(), documents_.end(), id,
      [](std::uint64_t wanted, const Document& document) { return wanted < document.first_id; });
  if (after == documents_.begin()) return std::nullopt;
  const Document& document = *std::prev(after);
  if (id - document.first_id >= document.chunk_count) return std::nullopt;
  return document.first_chunk + as_number(id - document.first_id);
}

std::uint64_t ChunkLayout::text_bytes() const {
  std::uint64_t bytes = 0;
  for (const std::uint32_t place : text_order_) {
    const Document& document = documents_[place];
    for (std::uint32_t chunk = document.first_chunk; chunk < document.end_chunk(); ++chunk)
      bytes += lengths_[chunk];
  }
  return bytes;
}

TextSpan ChunkLayout::title_near(const Document& document, ChunkNumber chunk) const {
  const std::uint64_t start = starts_[chunk], title = document.title_start;
  const std::uint64_t apart = title > start ? title - start : start - title;
  if (document.title_length == 0 || apart >= kNearBytes) return {0, 0};
  return {static_cast<std::size_t>(title), static_cast<std::size_t>(title) + document.title_length};
}

std::uint64_t ChunkLayout::counted_bytes(const Document& document, ChunkNumber chunk) const {
  const TextSpan title = title_near(document, chunk);
  return lengths_[chunk] + (title.end - title.start);
}

}  // namespace gossamer
