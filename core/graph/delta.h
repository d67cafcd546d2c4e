#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "graph/graph.h"

namespace gossamer {

// One direction of a link.
struct Edge {
  NodeId from;
  NodeId to;

  friend auto operator<=>(const Edge&, const Edge&) = default;
};

// What leads from one state of a graph to a later one, edge by edge.
struct GraphDelta {
  // Sorted; none is in both.
  struct Layer {
    std::vector<Edge> removed;  // between nodes that are not fresh
    std::vector<Edge> added;

    friend bool operator==(const Layer&, const Layer&) = default;
  };

  std::size_t base_count = 0;  // nodes before
  std::size_t node_count = 0;  // and after
  // Nodes that lose every link, from or to them, on all layers, and start anew; sorted. They and
  // the new nodes (from base_count up) are the fresh ones.
  std::vector<NodeId> cleared;
  // The level of each fresh node: first of those cleared, then of the new.
  std::vector<std::uint8_t> levels;
  std::vector<Layer> layers;  // the last one has changes
  NodeId entry = kNoNode;
  unsigned tradeoff_layer = 0;

  bool is_cleared(NodeId node) const;
  bool is_fresh(NodeId node) const { return node >= base_count || is_cleared(node); }
  // Its place in `levels`.
  std::size_t fresh_rank(NodeId node) const;
  std::size_t fresh_count() const { return cleared.size() + (node_count - base_count); }
  NodeId fresh_node(std::size_t rank) const;
  // Says whether both ends are on a layer, as far as the delta tells: of fresh nodes it does.
  bool may_link(const Edge& edge, unsigned layer) const;

  friend bool operator==(const GraphDelta&, const GraphDelta&) = default;
};

// What leads from `shadow` to `now`, which `shadow` is made equal to. `changed` names the nodes
// whose lists or levels may differ, and `cleared` those whose former links are all gone: other
// nodes are not looked at, but for one sweep if any node was cleared. Nodes that `shadow` does not
// have are new and need not be named.
GraphDelta diff_graphs(Graph& shadow, const Graph& now, std::span<const NodeId> changed,
                       std::span<const NodeId> cleared);

// Makes the changes, all or none: kWrongState if the graph is not one that the delta can start
// from (an edge to be removed is not there, one to be added is, a list would be too long).
void apply_delta(Graph& graph, const GraphDelta& delta);

// Two deltas, one after the other, as one: just what diff_graphs() would have given over both.
// kWrongState if the second cannot follow the first.
GraphDelta join_deltas(const GraphDelta& first, const GraphDelta& second);

}  // namespace gossamer
