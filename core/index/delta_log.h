#pragma once

#include <cstddef>
#include <vector>

#include "base/bitmap.h"
#include "base/types.h"
#include "graph/graph.h"

namespace gossamer {

// What an index writes down of its changes, so that a delta can be made of them.
struct DeltaLog {
  // The state that the next delta starts from.
  std::size_t base_count = 0;
  Bitmap deleted;
  Graph graph;

  // What happened since, in any order and more than once.
  std::vector<NodeId> filled;   // places that were given a vector
  std::vector<NodeId> cleared;  // nodes that were taken out of the graph
  std::vector<NodeId> linked;   // nodes whose pruned lists changed
  // Nobody says which lists changed: all are compared.
  bool compares_all = true;
};

}  // namespace gossamer
