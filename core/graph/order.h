#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/progress.h"
#include "base/types.h"
#include "distance/space.h"
#include "graph/graph.h"

namespace gossamer {

// An order of the rows that puts near ones side by side, as position -> row: the gaps between
// neighbors get small, and with them their lists. Halves the rows again and again by the two
// centers of a sample. The same for a seed whatever the number of threads. `progress`, if given,
// counts rows.
std::vector<NodeId> order_by_locality(const Rows& rows, unsigned threads, std::uint64_t seed,
                                      Progress* progress);

// The same graph with the node `position_to_old[i]` as node i; fails unless that is a permutation.
Graph renumber(const Graph& graph, std::span<const NodeId> position_to_old);

}  // namespace gossamer
