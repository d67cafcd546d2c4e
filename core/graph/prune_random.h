#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace gossamer {

// Keeps each link of the base layer with probability `keep_share`: what the benchmarks compare the
// prunings with. A link and its reverse are kept or dropped together. Upper layers are kept.
Graph prune_random(const Graph& base, double keep_share, std::uint64_t seed);

}  // namespace gossamer
