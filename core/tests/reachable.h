#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/bitmap.h"
#include "graph/graph.h"

namespace gossamer {

// The share of nodes that a walk over the base layer can reach from the entry; 1 for an empty
// graph.
inline double reachable_share(const Graph& graph) {
  if (graph.node_count() == 0) return 1;
  if (graph.entry() == kNoNode) return 0;
  std::array<NodeId, kMaxDegree> list;
  Bitmap seen(graph.node_count());
  std::vector<NodeId> open{graph.entry()};
  seen.insert(graph.entry());
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    const std::size_t count = graph.neighbors(node, 0, list.data());
    for (const NodeId neighbor : std::span(list).first(count)) {
      if (seen.contains(neighbor)) continue;
      seen.insert(neighbor);
      open.push_back(neighbor);
    }
  }
  return static_cast<double>(seen.count()) / static_cast<double>(graph.node_count());
}

}  // namespace gossamer
