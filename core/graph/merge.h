#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "graph/graph.h"

namespace gossamer {

// Merges the graphs of overlapping shards into one (LEANN, section 6): of the levels a node has
// the highest counts, its neighbors are united layer by layer, and a list over the limit loses
// links at random. Holds one packed graph while it works: a shard can be dropped once it is added.
class GraphMerger {
 public:
  // `max_degree` as in BuildOptions: lists are cut to twice as many on the base layer.
  GraphMerger(std::size_t node_count, unsigned max_degree, std::uint64_t seed);

  // `local_to_global` names each node of the shard; no node twice.
  void add(const Graph& shard, std::span<const NodeId> local_to_global);

  // The merged graph, whose entry is the first of the highest nodes. The merger is empty
  // afterwards.
  Graph finish();

 private:
  void raise(NodeId node, unsigned level);
  void unite(NodeId node, unsigned layer, std::span<const NodeId> neighbors);
  void cut(std::vector<NodeId>& list, NodeId node, unsigned layer, std::size_t limit) const;

  Graph graph_;
  std::size_t max_degree_;
  std::uint64_t seed_;
  std::vector<NodeId> list_;
};

}  // namespace gossamer
