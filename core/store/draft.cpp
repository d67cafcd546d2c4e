#include "store/draft.h"

#include "store/schema.h"

namespace gossamer {

void SegmentDraft::add(SourceRecord source) {
  const SourceName name = name_of(source);
  if (has(name))
    fail(Reason::kDuplicateId, "'" + name.path + "' was given twice in one step; give it once");
  for (const DocumentRecord& document : source.documents) chunks_ += document.chunks.size();
  sources_.emplace(name, std::move(source));
}

void SegmentDraft::add_again(const Catalogue& catalogue, std::size_t row, std::int64_t time_ns,
                             std::int64_t reader_version) {
  const Catalogue::Place place = catalogue.source(row);
  const Segment& segment = *place.part->segment;
  SourceRecord source = place.group->rows.source(place.row);
  source.time_ns = time_ns;
  source.reader_version = reader_version;
  std::vector<std::uint64_t> ids;
  for (DocumentRecord& document : source.documents) {
    if (document.segment == kHere) {
      const auto start = static_cast<std::uint64_t>(document.offset);
      const auto end = start + static_cast<std::uint64_t>(document.length);
      document.offset = static_cast<std::int64_t>(texts().add(segment.texts().read(start, end)));
    }
    for (std::size_t i = 0; i < document.chunks.size(); ++i)
      ids.push_back(static_cast<std::uint64_t>(document.first_chunk) + i);
  }
  if (stamp_.bytes > 0 && !ids.empty()) {
    expect(segment.stamp() == stamp_, Reason::kCodebookMismatch,
           "the codes of a source are of another codebook");
    const RowRange rows = place.group->rows.chunks_of_source(place.row);
    add_codes(ids, segment.codes().subspan((place.group->before.chunks + rows.first) * stamp_.bytes,
                                           rows.size() * stamp_.bytes));
  }
  add(std::move(source));
}

void SegmentDraft::add_codes(std::span<const std::uint64_t> ids, ByteView codes) {
  expect(codes.size() == ids.size() * stamp_.bytes, Reason::kInvalidArgument,
         "there are more or fewer codes than ids");
  for (const std::uint64_t id : ids)
    expect(code_of_.insert(id, code_of_.size()), Reason::kDuplicateId,
           "a chunk was given two codes");
  codes_.insert(codes_.end(), codes.begin(), codes.end());
}

void SegmentDraft::finish(FileImage& image) {
  for (const auto& [name, source] : sources_) {
    Bytes codes;
    if (stamp_.bytes > 0)
      for (const DocumentRecord& document : source.documents)
        for (std::size_t i = 0; i < document.chunks.size(); ++i) {
          const auto* place = code_of_.find(static_cast<std::uint64_t>(document.first_chunk) + i);
          expect(place != nullptr, Reason::kInvalidArgument, "a chunk of a segment has no code");
          const auto code = codes_.begin() + static_cast<std::ptrdiff_t>(*place * stamp_.bytes);
          codes.insert(codes.end(), code, code + static_cast<std::ptrdiff_t>(stamp_.bytes));
        }
    image_.add(source, codes);
  }
  image_.finish(image);
}

}  // namespace gossamer
