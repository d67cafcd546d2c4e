#pragma once

#include <cstdint>

#include "base/progress.h"
#include "distance/space.h"
#include "graph/graph.h"

namespace gossamer {

// High-degree preserving pruning (LEANN, algorithm 3).
struct HubOptions {
  // How many neighbors a hub may select, and any node may have with the links to it (M).
  unsigned max_degree = 60;
  // How many neighbors any other node selects (m).
  unsigned low_degree = 6;
  // The share of nodes, those with the most neighbors, that count as hubs.
  double hub_share = 0.02;
  // How many candidates a node selects from (efC).
  unsigned effort = 128;
  unsigned threads = 1;
};

// A sparse graph over the same nodes: each searches the given graph for its nearest, selects a few
// (many if it is a hub), and links are made both ways. All selections are made before any link, so
// the order of nodes and the number of threads do not matter. Layers above the base are kept.
// `progress` may be null.
Graph prune_hub(const Graph& base, const Rows& rows, const HubOptions& options, Progress* progress);

}  // namespace gossamer
