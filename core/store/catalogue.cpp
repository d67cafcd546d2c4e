#include "store/catalogue.h"

#include <algorithm>

#include "base/append.h"
#include "base/sort.h"
#include "store/schema.h"
#include "store/walk.h"

namespace gossamer {
namespace {

using Source = SourceColumns;
using Document = DocumentColumns;

constexpr const char* kNotThere = "a segment takes a source away that another one does not have";

GoneSource gone_at(const Group& group, std::size_t row) {
  const RowRange documents = group.rows.documents_of(row),
                 chunks = group.rows.chunks_of_source(row);
  return {group.before.sources + row, group.before.documents + documents.first, documents.size(),
          group.before.chunks + chunks.first, chunks.size()};
}

}  // namespace

Counts LivePart::counts() const {
  const Counts& all = segment->sources().counts();
  return {all.sources - sources.removed(), all.documents - documents.removed(),
          all.chunks - chunks.removed()};
}

Catalogue::Catalogue(std::vector<std::shared_ptr<const Segment>> segments) {
  for (std::shared_ptr<const Segment>& segment : segments) {
    LivePart part{segment, {}, {}, {}};
    std::vector<GoneSource> gone;
    for (const auto& other : segments) append(gone, other->gone().of(segment->number()));
    sort_values(gone.begin(), gone.end());
    for (const GoneSource& one : gone) {
      part.sources.add(one.source, 1);
      part.documents.add(one.first_document, one.documents);
      part.chunks.add(one.first_chunk, one.chunks);
    }
    const Counts& all = segment->sources().counts();
    expect(part.sources.end() <= all.sources && part.documents.end() <= all.documents &&
               part.chunks.end() <= all.chunks,
           Reason::kDamaged, kNotThere);
    before_.push_back(counts_);
    const Counts own = part.counts();
    counts_ = {counts_.sources + own.sources, counts_.documents + own.documents,
               counts_.chunks + own.chunks};
    parts_.push_back(std::move(part));
  }
  for (const LivePart& part : parts_)
    if (part.segment->origin() == Origin::kOther) {
      verify();
      break;
    }
}

void Catalogue::verify_gone(const LivePart& part) const {
  for (const LivePart& other : parts_)
    for (const GoneSource& gone : other.segment->gone().of(part.segment->number())) {
      const SegmentView::Found found = part.segment->sources().source(gone.source);
      const GoneSource real = gone_at(*found.group, found.row);
      expect(real.first_document == gone.first_document && real.documents == gone.documents &&
                 real.first_chunk == gone.first_chunk && real.chunks == gone.chunks,
             Reason::kDamaged, kNotThere);
    }
}

void Catalogue::verify() const {
  std::vector<LiveSegment> segments;
  for (const LivePart& part : parts_) {
    part.segment->verify();
    verify_gone(part);
    segments.push_back({&part.segment->sources(), &part.sources});
  }
  SourceWalk walk(segments);  // refuses two of one name
  while (walk.next()) {
  }
  std::vector<std::uint64_t> all = ids();
  sort_values(all.begin(), all.end());
  expect(std::adjacent_find(all.begin(), all.end()) == all.end(), Reason::kDamaged,
         "two chunks of the index have the same id");
}

Gaps LivePart::* Catalogue::gaps_of(std::size_t Counts::* kind) const {
  return kind == &Counts::sources ? &LivePart::sources : &LivePart::documents;
}

const LivePart& Catalogue::part_of(std::size_t Counts::* kind, std::size_t row,
                                   std::size_t& within) const {
  const auto after = std::upper_bound(
      before_.begin(), before_.end(), row,
      [&](std::size_t wanted, const Counts& before) { return wanted < before.*kind; });
  const auto number = static_cast<std::size_t>(after - before_.begin()) - 1;
  within = (parts_[number].*gaps_of(kind)).row_of(row - before_[number].*kind);
  return parts_[number];
}

std::optional<std::size_t> Catalogue::find(const SourceName& name) const {
  // What is new is asked for most.
  for (std::size_t number = parts_.size(); number-- > 0;) {
    const auto found = parts_[number].segment->sources().find(name);
    if (!found) continue;
    const std::size_t row = found->group->before.sources + found->row;
    if (parts_[number].sources.has(row)) continue;
    return before_[number].sources + parts_[number].sources.left_of(row);
  }
  return std::nullopt;
}

std::vector<std::size_t> Catalogue::files_below(const std::string& path) const {
  std::vector<std::size_t> rows;
  if (const auto row = find({path, true})) rows.push_back(*row);
  const std::string folder = path.ends_with('/') ? path : path + '/';
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    const SegmentView& sources = parts_[number].segment->sources();
    for (std::size_t i = sources.first_from({folder, false}); i < sources.counts().sources; ++i) {
      const SegmentView::Found found = sources.source(i);
      const SourceName name = found.group->rows.name(found.row);
      if (!name.path.starts_with(folder)) break;
      if (name.is_file && name.path != path && !parts_[number].sources.has(i))
        rows.push_back(before_[number].sources + parts_[number].sources.left_of(i));
    }
  }
  return rows;
}

Catalogue::Place Catalogue::source(std::size_t row) const {
  expect(row < counts_.sources, Reason::kInvalidArgument, "the index has no source of this row");
  std::size_t within = 0;
  const LivePart& part = part_of(&Counts::sources, row, within);
  SegmentView::Found found = part.segment->sources().source(within);
  return {&part, std::move(found.group), found.row};
}

Catalogue::Place Catalogue::document(std::size_t row) const {
  expect(row < counts_.documents, Reason::kInvalidArgument,
         "the index has no document of this row");
  std::size_t within = 0;
  const LivePart& part = part_of(&Counts::documents, row, within);
  std::shared_ptr<const Group> group = part.segment->sources().group_of_document(within);
  const std::size_t in_group = within - group->before.documents;
  return {&part, std::move(group), in_group};
}

RowRange Catalogue::documents_of(std::size_t source) const {
  const Place place = this->source(source);
  const RowRange rows = place.group->rows.documents_of(place.row);
  if (rows.size() == 0) return {0, 0};
  const auto number = static_cast<std::size_t>(place.part - parts_.data());
  const std::size_t first =
      before_[number].documents +
      place.part->documents.left_of(place.group->before.documents + rows.first);
  return {first, first + rows.size()};
}

std::size_t Catalogue::source_of(std::size_t document) const {
  const Place place = this->document(document);
  const auto number = static_cast<std::size_t>(place.part - parts_.data());
  const std::size_t row = place.group->before.sources + place.group->rows.source_of(place.row);
  return before_[number].sources + place.part->sources.left_of(row);
}

std::vector<std::size_t> Catalogue::in_order(std::span<const std::uint64_t> ids) const {
  constexpr int kRowBits = 32;  // a segment has fewer rows
  std::vector<SortKey> places;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    places.emplace_back(std::int64_t{1} << 62, static_cast<std::int64_t>(i));
    for (std::size_t number = parts_.size(); number-- > 0;)
      if (const auto row = parts_[number].segment->chunk_of(ids[i]);
          row && !parts_[number].chunks.has(*row)) {
        places.back().first =
            static_cast<std::int64_t>(std::uint64_t{number} << kRowBits | std::uint64_t{*row});
        break;
      }
  }
  sort_values(places.begin(), places.end());
  std::vector<std::size_t> order;
  for (const SortKey& place : places) order.push_back(static_cast<std::size_t>(place.second));
  return order;
}

bool Catalogue::has(std::uint64_t id) const {
  for (const LivePart& part : parts_)
    if (const auto row = part.segment->chunk_of(id); row && !part.chunks.has(*row)) return true;
  return false;
}

Catalogue::ChunkPlace Catalogue::chunk(std::uint64_t id) const {
  for (std::size_t number = parts_.size(); number-- > 0;) {
    const LivePart& part = parts_[number];
    const auto row = part.segment->chunk_of(id);
    if (!row || part.chunks.has(*row)) continue;
    std::shared_ptr<const Group> group = part.segment->sources().group_of_chunk(*row);
    const std::size_t in_group = *row - group->before.chunks;
    const std::size_t document = group->rows.document_of(in_group);
    const std::size_t document_row =
        before_[number].documents + part.documents.left_of(group->before.documents + document);
    const std::size_t chunk = in_group - group->rows.chunks_of(document).first;
    return {{&part, std::move(group), document}, document_row, chunk, *row};
  }
  fail(Reason::kUnknownId,
       "there is no chunk " + std::to_string(id) + "; search again for present ids");
}

std::pair<std::uint64_t, GoneSource> Catalogue::gone_of(std::size_t source) const {
  const Place place = this->source(source);
  return {place.part->segment->number(), gone_at(*place.group, place.row)};
}

std::vector<std::uint64_t> Catalogue::ids() const {
  std::vector<std::uint64_t> all;
  all.reserve(counts_.chunks);
  for (const LivePart& part : parts_) {
    const IdMap& own = part.segment->ids();
    for (const auto& [first, end] : part.chunks.between(part.segment->chunk_count()))
      for (std::size_t chunk = first; chunk < end; ++chunk)
        all.push_back(own.id(static_cast<NodeId>(chunk)));
  }
  return all;
}

Column Catalogue::codes() const {
  const std::size_t width = stamp().bytes;
  for (const LivePart& part : parts_)
    if (part.segment->chunk_count() == counts_.chunks && part.chunks.removed() == 0)
      return Column(width, part.segment->codes());
  RowBytes all;
  all.reserve(counts_.chunks * width);
  for (const LivePart& part : parts_) {
    if (part.counts().chunks == 0) continue;
    const ByteView codes = part.segment->codes();
    for (const auto& [first, end] : part.chunks.between(part.segment->chunk_count()))
      all.insert(all.end(), codes.begin() + static_cast<std::ptrdiff_t>(first * width),
                 codes.begin() + static_cast<std::ptrdiff_t>(end * width));
  }
  return Column(width, std::move(all));
}

CodeStamp Catalogue::stamp() const {
  std::optional<CodeStamp> known;
  for (const LivePart& part : parts_) {
    if (part.counts().chunks == 0) continue;
    expect(!known || *known == part.segment->stamp(), Reason::kDamaged,
           "the segments of the index have codes of different codebooks");
    known = part.segment->stamp();
  }
  return known.value_or(CodeStamp());
}

SourceList Catalogue::list() const {
  SourceList all;
  for (const LivePart& part : parts_) {
    const SegmentView& sources = part.segment->sources();
    const Ints strings = all.number_strings(sources.strings());
    for (std::size_t number = 0; number < sources.group_count(); ++number) {
      const std::shared_ptr<const Group> group = sources.read_apart(number);
      std::vector<std::size_t> rows;
      for (std::size_t row = 0; row < group->rows.size(); ++row)
        if (!part.sources.has(group->before.sources + row)) rows.push_back(row);
      all.append(strings, group->sources, rows, static_cast<std::int64_t>(part.segment->number()));
    }
  }
  return all;
}

}  // namespace gossamer
