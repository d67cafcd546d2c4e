#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.h"
#include "graph/lists.h"

namespace gossamer {

// No list is longer than this: a walk decodes lists into arrays of this size.
inline constexpr std::size_t kMaxDegree = kMaxListLength;
// No node is on a layer above this one.
inline constexpr unsigned kMaxLevel = 31;

// A layered neighbor graph that can still change: each node's lists are replaced without touching
// any other node's, and a deleted node's place can be used again. Lists are sorted gaps in byte
// varints, packed in pages: no pointer and no allocation for a node. Reading from several threads
// is safe while nobody writes. Node ids and layers given to readers are not checked.
class Graph {
 public:
  // A node's neighbors in one layer, in any order; they need to stay only until the next call.
  using ListSource = std::function<std::span<const NodeId>(NodeId node, unsigned layer)>;

  Graph() = default;
  // A whole graph at once, packed without slack: much faster than set_neighbors() for each node.
  // Node i is on layers 0 to levels[i]. Asks for the base layer's lists first, in the order of
  // nodes; then, node by node, for those of layers 1 to its level. Lists are checked as
  // set_neighbors() does. The entry is left to set_entry().
  static Graph from_lists(std::span<const std::uint8_t> levels, const ListSource& lists);

  std::size_t node_count() const;
  // Highest layer of a node, and of the graph (0 when empty).
  unsigned level(NodeId node) const;
  unsigned max_level() const;
  // The nodes above the base layer, in the order of their ids.
  std::vector<NodeId> upper_nodes() const;
  // Where walks start; kNoNode until it is set.
  NodeId entry() const;
  void set_entry(NodeId node);
  // The layer that hierarchical pruning left whole (HNSW-Slim's L_t): walks are greedy above it
  // and use the full beam from it down.
  unsigned tradeoff_layer() const;
  void set_tradeoff_layer(unsigned layer);

  // Appends a node without neighbors; ids are given in order from 0.
  NodeId add_node(unsigned level);
  // Empties a node's lists and gives it another level: its id starts a new life.
  void reset_node(NodeId node, unsigned level);

  // Decodes a node's neighbors, sorted by id, into `out` (room for kMaxDegree); gives their number.
  // 0 for a layer that the node is not on.
  std::size_t neighbors(NodeId node, unsigned layer, NodeId* out) const;
  // Replaces a node's neighbors: any order, no duplicates, at most kMaxDegree.
  void set_neighbors(NodeId node, unsigned layer, std::span<const NodeId> neighbors);
  // Brings a node's base list near before it is decoded.
  void prefetch(NodeId node) const;

  std::size_t edge_count(unsigned layer) const;
  // What the lists and their bookkeeping take in memory.
  std::size_t memory_bytes() const;

  // Packs the lists anew, without the slack that changes left behind.
  void compact();
  // The same if there is slack worth packing: for the end of an update.
  void settle();

  // Same nodes, levels, lists, entry and trade-off layer.
  friend bool operator==(const Graph& a, const Graph& b);

 private:
  // A node above the base layer; its lists of layers 1 to `level` lie side by side.
  struct Upper {
    NodeId node;
    std::uint32_t first_list;
    std::uint32_t level;
  };

  const Upper* find_upper(NodeId node) const;
  std::uint32_t append_upper_lists(unsigned level);
  void check_node(NodeId node) const;

  PagedLists base_;
  PagedLists upper_lists_;
  std::vector<Upper> uppers_;  // sorted by node: only one node in 1/p is here
  unsigned max_level_ = 0;
  NodeId entry_ = kNoNode;
  unsigned tradeoff_layer_ = 0;
};

}  // namespace gossamer
