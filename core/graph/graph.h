#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace gossamer {

// No list is longer than this: a walk decodes lists into arrays of this size.
inline constexpr std::size_t kMaxDegree = 256;

// A layered neighbor graph that can still change: each node's lists are replaced without touching
// any other node's, and a deleted node's place can be used again. Lists are sorted gaps in byte
// varints, packed in pages: no pointer and no allocation for a node.
class Graph {
 public:
  std::size_t node_count() const;
  // Highest layer of a node, and of the graph (0 when empty).
  unsigned level(NodeId node) const;
  unsigned max_level() const;
  // Where walks start; kNoNode while the graph is empty.
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
  std::size_t neighbors(NodeId node, unsigned layer, NodeId* out) const;
  // Replaces a node's neighbors: any order, no duplicates, at most kMaxDegree.
  void set_neighbors(NodeId node, unsigned layer, std::span<const NodeId> neighbors);
  // Brings a node's list near before it is decoded.
  void prefetch(NodeId node) const;

  std::size_t edge_count(unsigned layer) const;
  // What the lists and their bookkeeping take in memory.
  std::size_t memory_bytes() const;

  friend bool operator==(const Graph& a, const Graph& b);
};

}  // namespace gossamer
