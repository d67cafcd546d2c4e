#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/slim_parameters.h"

namespace gossamer {

// What a graph pruned with some parameters is expected to take, before it is built.
struct SlimSize {
  double base_degree = 0;          // mean links of a node on the base layer, reverse links included
  std::uint64_t edge_count = 0;    // over all layers
  std::uint64_t memory_bytes = 0;  // as a Graph, after order_by_locality()
  std::uint64_t disk_bytes = 0;    // as pack_graph() writes it, likewise
  std::uint64_t chal_bytes = 0;    // as HNSW-Slim's own layout would take, by its own estimate
};

// Expects shares and the level probability in [0, 1), degrees of kMaxDegree at most. A rough guide:
// how many links reverse edges add and how small gaps get depends on the vectors. On 62,797 text
// embeddings, memory came out 7, 12 and 23 % below the estimate for low_degree0 4, 8 and 12, and
// further below beyond that, where the selection rule ends the lists before the limit does. Sets
// that are harder to put in order may come out above it.
SlimSize estimate_slim_bytes(std::size_t node_count, const SlimParameters& parameters);

// The parameters with the most links whose estimated memory fits the budget, in the proportions of
// the defaults. Fails with kTooLarge, naming the least that would do, when none fit.
SlimParameters propose_slim(std::size_t node_count, std::uint64_t byte_budget);

}  // namespace gossamer
