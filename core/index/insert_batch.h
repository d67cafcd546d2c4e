#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "index/index.h"
#include "search/layered_walk.h"

namespace gossamer {

// Vectors on their way into an index that does not keep the vectors of its graph. For each new
// vector the graph is walked by codes; the exact vectors of the best candidates are asked for
// once, all together, and neighbors are selected among them. Where the host does not supply them,
// what the codes stand for serves instead.
class InsertBatch {
 public:
  InsertBatch(Index& index, std::span<const std::uint64_t> ids, const float* vectors);

  // Ids whose vectors make the links better.
  const std::vector<std::uint64_t>& wanted() const { return wanted_; }
  // Vectors of wanted(), in the same order, end to end.
  void supply(std::span<const float> vectors);
  // Puts the vectors in. Nothing is changed before.
  void finish();

 private:
  struct Planned {
    std::vector<Candidate> candidates;  // by estimate, then by exact distance
  };

  void plan(std::size_t item, WalkScratch& scratch);
  const float* vector_of(NodeId node, std::vector<float>& decoded) const;
  std::vector<Candidate> select(std::size_t item) const;
  void link(NodeId node, std::span<const Candidate> neighbors);
  void link_back(NodeId from, NodeId node);

  Index& index_;
  std::uint64_t version_;
  std::vector<std::uint64_t> ids_;
  std::vector<float> vectors_;
  std::vector<Planned> planned_;
  std::vector<NodeId> wanted_nodes_;  // sorted
  std::vector<std::uint64_t> wanted_;
  std::vector<float> supplied_;
};

}  // namespace gossamer
