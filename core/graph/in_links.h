#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/types.h"
#include "graph/graph.h"
#include "graph/layers.h"

namespace gossamer {

// Who links to a node, on each layer. Unlike a neighbor list this has no upper bound (a node may be
// everybody's favourite): the few lists too long for a Graph are kept beside it.
class InLinks {
 public:
  InLinks() = default;
  explicit InLinks(std::size_t node_count) : node_count_(node_count) {}

  // Replaces a whole layer.
  void set_layer(unsigned layer, const LayerLists& reverse);
  void grow(std::size_t node_count, std::size_t layer_count);
  // The link must not be there yet, or must be there.
  void insert(NodeId from, NodeId to, unsigned layer);
  void erase(NodeId from, NodeId to, unsigned layer);
  // Sorted.
  void read(NodeId to, unsigned layer, std::vector<NodeId>& out) const;
  std::size_t count(NodeId to, unsigned layer) const;
  std::size_t memory_bytes() const;

 private:
  static std::uint64_t key(NodeId to, unsigned layer) { return (std::uint64_t{layer} << 32) | to; }

  std::size_t node_count_ = 0;
  std::vector<Graph> layers_;
  std::unordered_map<std::uint64_t, std::vector<NodeId>> long_lists_;
};

}  // namespace gossamer
