#include "store/gone.h"

namespace gossamer {
namespace {

struct GoneColumns {
  enum : std::size_t { kSegment, kSource, kFirstDocument, kDocuments, kFirstChunk, kChunks };
};

// Rows of one segment follow each other, and most are gone with those next to them.
const Schema& gone_schema() {
  using Form = TableColumn::Form;
  static const Schema schema{{{"segment", Form::kRising},
                              {"source", Form::kRising},
                              {"first_document", Form::kAfter, GoneColumns::kDocuments},
                              {"documents"},
                              {"first_chunk", Form::kAfter, GoneColumns::kChunks},
                              {"chunks"}},
                             {}};
  return schema;
}

}  // namespace

GoneSources GoneSources::read(ByteView bytes, Origin origin, const Codec& codec) {
  const Table table = unpack_table(bytes, gone_schema(), origin, codec);
  GoneSources gone;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto number = [&](std::size_t column) {
      const std::int64_t value = table.columns[column][row];
      expect(value >= 0 && value < std::int64_t{1} << 31, Reason::kDamaged,
             "a segment takes a source away that cannot be");
      return static_cast<std::size_t>(value);
    };
    gone.add(number(GoneColumns::kSegment),
             {number(GoneColumns::kSource), number(GoneColumns::kFirstDocument),
              number(GoneColumns::kDocuments), number(GoneColumns::kFirstChunk),
              number(GoneColumns::kChunks)});
  }
  return gone;
}

Bytes GoneSources::pack(const Codec& codec) const {
  Table table(gone_schema());
  for (const auto& [segment, sources] : segments_)
    for (const auto& [number, gone] : sources) {
      std::size_t column = 0;
      for (const std::size_t value :
           {static_cast<std::size_t>(segment), gone.source, gone.first_document, gone.documents,
            gone.first_chunk, gone.chunks})
        table.columns[column++].push_back(static_cast<std::int64_t>(value));
    }
  return pack_table(table, codec);
}

void GoneSources::add(std::uint64_t segment, const GoneSource& source) {
  segments_[segment].emplace(source.source, source);
}

void GoneSources::add_all(const GoneSources& other, std::span<const std::uint64_t> of_segments) {
  for (const std::uint64_t segment : of_segments)
    if (const auto found = other.segments_.find(segment); found != other.segments_.end())
      segments_[segment].insert(found->second.begin(), found->second.end());
}

std::vector<GoneSource> GoneSources::of(std::uint64_t segment) const {
  std::vector<GoneSource> sources;
  if (const auto found = segments_.find(segment); found != segments_.end())
    for (const auto& [number, source] : found->second) sources.push_back(source);
  return sources;
}

}  // namespace gossamer
