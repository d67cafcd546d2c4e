#pragma once

#include <cstdint>

#include "base/progress.h"
#include "base/types.h"
#include "distance/space.h"
#include "graph/graph.h"

namespace gossamer {

// No candidate list is longer than this.
inline constexpr unsigned kMaxEffort = 1u << 20;

struct BuildOptions {
  // Neighbors of a node on the layers above the base (HNSW's M); the base layer holds twice as
  // many.
  unsigned max_degree = 30;
  // How many candidates a node chooses its neighbors from (efConstruction).
  unsigned effort = 128;
  // How likely a node is to reach one layer higher; 0 means 1 / max_degree.
  double level_probability = 1.0 / 32;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  // Updates only: an overfull list keeps its nearest neighbors, whatever shadows them. Cheaper
  // (no pairwise distances), and a little worse with every insert it is used for.
  bool simple_shrink = false;
  // Updates only: how many neighbors a new node selects; 0 means as many as it may have. Pruned
  // graphs take few.
  unsigned pick_degree = 0;
};

// The level that a node of this id has under this seed, whenever and wherever it is inserted.
unsigned random_level(const BuildOptions& options, NodeId node);

// Builds an HNSW graph over all rows. With one thread the same rows, options and seed give the
// same graph. Twice as fast when near rows have near ids. No rows give an empty graph.
// `progress` may be null; it counts nodes, and can cancel.
Graph build_graph(const Rows& rows, const BuildOptions& options, Progress* progress);

// Refuses what no graph can be built with (kInvalidArgument).
void check_build_options(const BuildOptions& options);

}  // namespace gossamer
