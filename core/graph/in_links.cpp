#include "graph/in_links.h"

#include <algorithm>
#include <array>

namespace gossamer {

void InLinks::set_layer(unsigned layer, const LayerLists& reverse) {
  if (layers_.size() <= layer) grow(node_count_, layer + 1);
  for (std::size_t i = 0; i < reverse.members.size(); ++i) {
    const std::span<const NodeId> list = reverse.list(i);
    if (list.size() <= kMaxDegree) continue;
    long_lists_[key(reverse.members[i], layer)].assign(list.begin(), list.end());
  }
  std::size_t next = 0;
  const std::vector<std::uint8_t> levels(node_count_, 0);
  layers_[layer] = Graph::from_lists(levels, [&](NodeId node, unsigned) -> std::span<const NodeId> {
    if (next == reverse.members.size() || reverse.members[next] != node) return {};
    const std::span<const NodeId> list = reverse.list(next++);
    return list.size() <= kMaxDegree ? list : std::span<const NodeId>();
  });
}

void InLinks::grow(std::size_t node_count, std::size_t layer_count) {
  node_count_ = std::max(node_count_, node_count);
  if (layers_.size() < layer_count) layers_.resize(layer_count);
  for (Graph& layer : layers_) {
    while (layer.node_count() < node_count_) layer.add_node(0);
  }
}

void InLinks::insert(NodeId from, NodeId to, unsigned layer) {
  if (const auto found = long_lists_.find(key(to, layer)); found != long_lists_.end()) {
    std::vector<NodeId>& list = found->second;
    list.insert(std::lower_bound(list.begin(), list.end(), from), from);
    return;
  }
  std::array<NodeId, kMaxDegree + 1> list;
  const std::size_t count = layers_[layer].neighbors(to, 0, list.data());
  const auto place = std::lower_bound(list.begin(), list.begin() + count, from);
  std::copy_backward(place, list.begin() + count, list.begin() + count + 1);
  *place = from;
  if (count < kMaxDegree) return layers_[layer].set_neighbors(to, 0, {list.data(), count + 1});
  long_lists_[key(to, layer)].assign(list.begin(), list.end());
  layers_[layer].set_neighbors(to, 0, {});
}

void InLinks::erase(NodeId from, NodeId to, unsigned layer) {
  if (const auto found = long_lists_.find(key(to, layer)); found != long_lists_.end()) {
    std::vector<NodeId>& list = found->second;
    list.erase(std::lower_bound(list.begin(), list.end(), from));
    return;
  }
  std::array<NodeId, kMaxDegree> list;
  const auto end = list.begin() + layers_[layer].neighbors(to, 0, list.data());
  const auto kept = std::remove(list.begin(), end, from);
  layers_[layer].set_neighbors(to, 0, {list.begin(), kept});
}

void InLinks::read(NodeId to, unsigned layer, std::vector<NodeId>& out) const {
  if (const auto found = long_lists_.find(key(to, layer)); found != long_lists_.end()) {
    out = found->second;
    return;
  }
  out.resize(kMaxDegree);
  out.resize(layers_[layer].neighbors(to, 0, out.data()));
}

std::size_t InLinks::count(NodeId to, unsigned layer) const {
  if (const auto found = long_lists_.find(key(to, layer)); found != long_lists_.end()) {
    return found->second.size();
  }
  std::array<NodeId, kMaxDegree> list;
  return layers_[layer].neighbors(to, 0, list.data());
}

std::size_t InLinks::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Graph& layer : layers_) bytes += layer.memory_bytes();
  for (const auto& [key, list] : long_lists_)
    bytes += sizeof(key) + list.capacity() * sizeof(NodeId);
  return bytes;
}

}  // namespace gossamer
