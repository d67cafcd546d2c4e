#pragma once

#include "distance/space.h"
#include "graph/graph.h"
#include "graph/slim_parameters.h"

namespace gossamer {

// How a pruned node is kept reachable: by the reverse of every link (HNSW-Slim), or, with fewer
// links, by retaining those to nodes that few others select (HNSW-SlimZero).
enum class SlimVariant { kReverseLinks, kByInDegree };

// Prunes an HNSW graph: neighbors that are on a higher layer too are dropped (except on the
// trade-off layer), then each node selects among those it has, hubs more than others. Depends on
// the graph, the rows and the parameters only: not on threads, nor on how the graph came about.
// `max_degree` is the one the graph was built with; no list gets longer than the graph's limit.
Graph prune_slim(const Graph& base, const Rows& rows, const SlimParameters& parameters,
                 unsigned max_degree, unsigned threads,
                 SlimVariant variant = SlimVariant::kReverseLinks);

}  // namespace gossamer
