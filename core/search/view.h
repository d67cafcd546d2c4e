#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"
#include "codes/codebook.h"
#include "graph/graph.h"
#include "vectors/column.h"
#include "vectors/kept.h"

namespace gossamer {

// All that a search reads. Null where the index has no such part.
struct View {
  const Space* space = nullptr;
  const Kept* kept = nullptr;
  const Codebook* codebook = nullptr;
  const Column* codes = nullptr;
  const Graph* graph = nullptr;
  // Nodes that may be returned; null means all. Others are walked through, never returned.
  const Bitmap* allowed = nullptr;
  // Nodes whose vectors nobody has any more; null means none. Walks still pass through them.
  const Bitmap* deleted = nullptr;
  // A node that walks do not see: calibration asks for its neighbors as if it were not there.
  NodeId hidden = kNoNode;
  std::size_t node_count = 0;
  std::size_t allowed_count = 0;

  bool may_return(NodeId node) const { return allowed == nullptr || allowed->contains(node); }
};

}  // namespace gossamer
