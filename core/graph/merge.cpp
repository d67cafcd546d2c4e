#include "graph/merge.h"

#include <algorithm>
#include <array>

#include "base/bitmap.h"
#include "base/error.h"
#include "base/random.h"

namespace gossamer {

GraphMerger::GraphMerger(std::size_t node_count, unsigned max_degree, std::uint64_t seed)
    : max_degree_(max_degree), seed_(seed) {
  expect(max_degree >= 1 && 2 * max_degree <= kMaxDegree, Reason::kInvalidArgument,
         "max_degree must be between 1 and 128");
  const std::vector<std::uint8_t> levels(node_count, 0);
  graph_ = Graph::from_lists(levels, [](NodeId, unsigned) { return std::span<const NodeId>(); });
}

void GraphMerger::add(const Graph& shard, std::span<const NodeId> local_to_global) {
  expect(local_to_global.size() == shard.node_count(), Reason::kInvalidArgument,
         "a shard needs one name for each of its nodes");
  for (const NodeId node : local_to_global) {
    expect(node < graph_.node_count(), Reason::kUnknownId, "a shard names a node beyond the graph");
  }
  std::array<NodeId, kMaxDegree> list;
  for (NodeId local = 0; local < shard.node_count(); ++local) {
    const NodeId node = local_to_global[local];
    raise(node, shard.level(local));
    for (unsigned layer = 0; layer <= shard.level(local); ++layer) {
      const std::size_t count = shard.neighbors(local, layer, list.data());
      for (std::size_t i = 0; i < count; ++i) list[i] = local_to_global[list[i]];
      unite(node, layer, {list.data(), count});
    }
  }
}

// Gives a node a higher level and leaves its lists as they are.
void GraphMerger::raise(NodeId node, unsigned level) {
  const unsigned old_level = graph_.level(node);
  if (level <= old_level) return;
  std::vector<std::vector<NodeId>> lists(old_level + 1, std::vector<NodeId>(kMaxDegree));
  for (unsigned layer = 0; layer <= old_level; ++layer) {
    lists[layer].resize(graph_.neighbors(node, layer, lists[layer].data()));
  }
  graph_.reset_node(node, level);
  for (unsigned layer = 0; layer <= old_level; ++layer) {
    graph_.set_neighbors(node, layer, lists[layer]);
  }
}

void GraphMerger::unite(NodeId node, unsigned layer, std::span<const NodeId> neighbors) {
  list_.resize(kMaxDegree);
  list_.resize(graph_.neighbors(node, layer, list_.data()));
  list_.insert(list_.end(), neighbors.begin(), neighbors.end());
  std::sort(list_.begin(), list_.end());
  list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
  cut(list_, node, layer, kMaxDegree);
  graph_.set_neighbors(node, layer, list_);
}

// Drops links at random until `limit` are left; which ones depends on the seed and the list alone.
void GraphMerger::cut(std::vector<NodeId>& list, NodeId node, unsigned layer,
                      std::size_t limit) const {
  Random random(seed_ ^ ((std::uint64_t{layer} << 32) | node));
  while (list.size() > limit) {
    list[static_cast<std::size_t>(random.below(list.size()))] = list.back();
    list.pop_back();
  }
}

Graph GraphMerger::finish() {
  NodeId entry = graph_.node_count() == 0 ? kNoNode : 0;
  for (const NodeId node : graph_.upper_nodes()) {
    if (graph_.level(node) > graph_.level(entry)) entry = node;
  }
  for (NodeId node = 0; node < graph_.node_count(); ++node) {
    for (unsigned layer = 0; layer <= graph_.level(node); ++layer) {
      const std::size_t limit = layer == 0 ? 2 * max_degree_ : max_degree_;
      list_.resize(kMaxDegree);
      list_.resize(graph_.neighbors(node, layer, list_.data()));
      if (list_.size() <= limit) continue;
      cut(list_, node, layer, limit);
      graph_.set_neighbors(node, layer, list_);
    }
  }
  graph_.set_entry(entry);
  graph_.compact();
  return std::move(graph_);
}

}  // namespace gossamer
