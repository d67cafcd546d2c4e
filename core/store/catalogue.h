#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "store/gaps.h"
#include "store/segment_file.h"
#include "store/source_list.h"
#include "vectors/column.h"

namespace gossamer {

// A segment of a state, and what of it is gone: by number of sources, documents and chunks.
struct LivePart {
  std::shared_ptr<const Segment> segment;
  Gaps sources, documents, chunks;

  Counts counts() const;
};

// What an index holds: the live sources, documents and chunks of all its segments, as one. Sources
// and documents are known by row: segment after segment, in the order of names within each. Chunks
// are known by their ids.
class Catalogue {
 public:
  // Oldest first. kDamaged where one takes away what another one does not have. Those of strangers
  // are read as a whole.
  explicit Catalogue(std::vector<std::shared_ptr<const Segment>> segments);

  const Counts& counts() const { return counts_; }
  const std::vector<LivePart>& parts() const { return parts_; }

  // A row of a group, and which segment that belongs to.
  struct Place {
    const LivePart* part;
    std::shared_ptr<const Group> group;
    std::size_t row;
  };
  std::optional<std::size_t> find(const SourceName& name) const;
  // Rows of the file of this path, and of all files below it.
  std::vector<std::size_t> files_below(const std::string& path) const;
  Place source(std::size_t row) const;
  Place document(std::size_t row) const;
  RowRange documents_of(std::size_t source) const;
  std::size_t source_of(std::size_t document) const;

  struct ChunkPlace {
    Place document;
    std::size_t document_row;  // among all of the index
    std::size_t number;        // of the chunk in its document
    std::size_t row;           // in its segment
  };
  bool has(std::uint64_t id) const;
  // kUnknownId if there is none.
  ChunkPlace chunk(std::uint64_t id) const;
  // The places of these ids in the order of their rows: each group is read once then.
  std::vector<std::size_t> in_order(std::span<const std::uint64_t> ids) const;

  // What a segment that takes a source away says of it.
  std::pair<std::uint64_t, GoneSource> gone_of(std::size_t source) const;

  // Ids and codes of all chunks, segment by segment. Codes of one segment of which nothing is gone
  // are a view of its file.
  std::vector<std::uint64_t> ids() const;
  Column codes() const;
  // What all of these are; kDamaged if they are not of one kind.
  CodeStamp stamp() const;
  // All of it, in the order of rows; texts that are kept here have the number of their segment.
  SourceList list() const;

  // Reads everything (kDamaged).
  void verify() const;

 private:
  Gaps LivePart::* gaps_of(std::size_t Counts::* kind) const;
  const LivePart& part_of(std::size_t Counts::* kind, std::size_t row, std::size_t& within) const;
  void verify_gone(const LivePart& part) const;

  std::vector<LivePart> parts_;
  std::vector<Counts> before_;  // live rows of the segments before each
  Counts counts_;
};

}  // namespace gossamer
