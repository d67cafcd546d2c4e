#include "graph/graph.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "base/sort.h"

namespace gossamer {

namespace {

// Sorts a list into `sorted` and refuses what no list may hold.
std::span<const NodeId> checked_list(NodeId self, std::size_t node_count,
                                     std::span<const NodeId> list,
                                     std::array<NodeId, kMaxDegree>& sorted) {
  if (list.size() > kMaxDegree)
    fail(Reason::kInvalidArgument, "a node may have " + std::to_string(kMaxDegree) +
                                       " neighbors at most, but " + std::to_string(list.size()) +
                                       " were given");
  const auto end = std::copy(list.begin(), list.end(), sorted.begin());
  if (!std::is_sorted(sorted.begin(), end)) sort_values(sorted.begin(), end);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (sorted[i] >= node_count)
      fail(Reason::kInvalidArgument, "neighbor " + std::to_string(sorted[i]) + " is not one of " +
                                         std::to_string(node_count) + " nodes");
    if (sorted[i] == self || (i > 0 && sorted[i] == sorted[i - 1]))
      fail(Reason::kInvalidArgument, "node " + std::to_string(self) + " may link to " +
                                         std::to_string(sorted[i]) +
                                         " once only, and never to itself");
  }
  return {sorted.data(), list.size()};
}

void check_level(unsigned level) {
  if (level > kMaxLevel)
    fail(Reason::kInvalidArgument,
         "level " + std::to_string(level) + " is above the highest, " + std::to_string(kMaxLevel));
}

}  // namespace

Graph Graph::from_lists(std::span<const std::uint8_t> levels, const ListSource& lists) {
  Graph graph;
  std::array<NodeId, kMaxDegree> sorted;
  const auto encode = [&](NodeId node, unsigned layer, std::uint8_t* out) {
    return encode_list(node, checked_list(node, levels.size(), lists(node, layer), sorted), out);
  };
  graph.base_ = PagedLists(levels.size(), [&](std::size_t index, std::uint8_t* out) {
    return encode(static_cast<NodeId>(index), 0, out);
  });
  std::vector<std::pair<NodeId, unsigned>> slots;  // whose list of which layer
  for (std::size_t i = 0; i < levels.size(); ++i) {
    check_level(levels[i]);
    if (levels[i] == 0) continue;
    const auto node = static_cast<NodeId>(i);
    graph.uppers_.push_back({node, static_cast<std::uint32_t>(slots.size()), levels[i]});
    graph.max_level_ = std::max<unsigned>(graph.max_level_, levels[i]);
    for (unsigned layer = 1; layer <= levels[i]; ++layer) slots.emplace_back(node, layer);
  }
  graph.uppers_.shrink_to_fit();
  graph.upper_lists_ = PagedLists(slots.size(), [&](std::size_t index, std::uint8_t* out) {
    return encode(slots[index].first, slots[index].second, out);
  });
  return graph;
}

std::size_t Graph::node_count() const { return base_.size(); }

unsigned Graph::level(NodeId node) const {
  const Upper* const upper = find_upper(node);
  return upper == nullptr ? 0 : upper->level;
}

unsigned Graph::max_level() const { return max_level_; }

std::vector<NodeId> Graph::upper_nodes() const {
  std::vector<NodeId> nodes;
  nodes.reserve(uppers_.size());
  for (const Upper& upper : uppers_) nodes.push_back(upper.node);
  return nodes;
}

NodeId Graph::entry() const { return entry_; }

void Graph::set_entry(NodeId node) {
  if (node != kNoNode) check_node(node);
  entry_ = node;
}

unsigned Graph::tradeoff_layer() const { return tradeoff_layer_; }

void Graph::set_tradeoff_layer(unsigned layer) {
  check_level(layer);
  tradeoff_layer_ = layer;
}

NodeId Graph::add_node(unsigned level) {
  check_level(level);
  if (node_count() >= kNoNode)
    fail(Reason::kTooLarge, "a graph holds 4,294,967,295 nodes at most; split it into shards");
  const auto node = static_cast<NodeId>(node_count());
  base_.append();
  if (level > 0) uppers_.push_back({node, append_upper_lists(level), level});
  max_level_ = std::max(max_level_, level);
  return node;
}

void Graph::reset_node(NodeId node, unsigned level) {
  check_node(node);
  check_level(level);
  base_.assign(node, {});
  const auto place =
      std::lower_bound(uppers_.begin(), uppers_.end(), node,
                       [](const Upper& upper, NodeId wanted) { return upper.node < wanted; });
  if (place != uppers_.end() && place->node == node) {
    for (unsigned layer = 1; layer <= place->level; ++layer)
      upper_lists_.assign(place->first_list + layer - 1, {});
    // Places of lists that are given up stay empty, a byte each: too few to keep account of.
    if (level == 0)
      uppers_.erase(place);
    else if (level <= place->level)
      place->level = level;
    else
      *place = {node, append_upper_lists(level), level};
  } else if (level > 0) {
    uppers_.insert(place, {node, append_upper_lists(level), level});
  }
  max_level_ = 0;
  for (const Upper& upper : uppers_) max_level_ = std::max<unsigned>(max_level_, upper.level);
}

std::size_t Graph::neighbors(NodeId node, unsigned layer, NodeId* out) const {
  if (layer == 0) return base_.decode(node, node, out);
  const Upper* const upper = find_upper(node);
  if (upper == nullptr || layer > upper->level) return 0;
  return upper_lists_.decode(upper->first_list + layer - 1, node, out);
}

void Graph::set_neighbors(NodeId node, unsigned layer, std::span<const NodeId> neighbors) {
  check_node(node);
  if (layer > level(node))
    fail(Reason::kInvalidArgument, "node " + std::to_string(node) + " is not on layer " +
                                       std::to_string(layer) + "; its highest is " +
                                       std::to_string(level(node)));
  std::array<NodeId, kMaxDegree> sorted;
  std::array<std::uint8_t, kMaxListBytes> bytes;
  const auto list = checked_list(node, node_count(), neighbors, sorted);
  const std::size_t size = encode_list(node, list, bytes.data());
  if (layer == 0)
    base_.assign(node, {bytes.data(), size});
  else
    upper_lists_.assign(find_upper(node)->first_list + layer - 1, {bytes.data(), size});
}

void Graph::prefetch(NodeId node) const { base_.prefetch(node); }

std::size_t Graph::edge_count(unsigned layer) const {
  std::size_t edges = 0;
  if (layer == 0) {
    for (std::size_t node = 0; node < base_.size(); ++node) edges += base_.length(node);
    return edges;
  }
  for (const Upper& upper : uppers_)
    if (upper.level >= layer) edges += upper_lists_.length(upper.first_list + layer - 1);
  return edges;
}

std::size_t Graph::memory_bytes() const {
  return base_.memory_bytes() + upper_lists_.memory_bytes() + uppers_.capacity() * sizeof(Upper);
}

void Graph::compact() {
  base_.compact();
  upper_lists_.compact();
  uppers_.shrink_to_fit();
}

void Graph::settle() {
  base_.settle();
  upper_lists_.settle();
}

bool operator==(const Graph& a, const Graph& b) {
  if (a.node_count() != b.node_count() || a.entry_ != b.entry_ ||
      a.tradeoff_layer_ != b.tradeoff_layer_ || a.uppers_.size() != b.uppers_.size())
    return false;
  // Equal lists have equal bytes, since each list has exactly one encoding.
  const auto is_equal = [](ByteView x, ByteView y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  for (std::size_t node = 0; node < a.node_count(); ++node)
    if (!is_equal(a.base_.get(node), b.base_.get(node))) return false;
  for (std::size_t i = 0; i < a.uppers_.size(); ++i) {
    const Graph::Upper& x = a.uppers_[i];
    const Graph::Upper& y = b.uppers_[i];
    if (x.node != y.node || x.level != y.level) return false;
    for (unsigned j = 0; j < x.level; ++j)
      if (!is_equal(a.upper_lists_.get(x.first_list + j), b.upper_lists_.get(y.first_list + j)))
        return false;
  }
  return true;
}

const Graph::Upper* Graph::find_upper(NodeId node) const {
  const auto place =
      std::lower_bound(uppers_.begin(), uppers_.end(), node,
                       [](const Upper& upper, NodeId wanted) { return upper.node < wanted; });
  return place != uppers_.end() && place->node == node ? &*place : nullptr;
}

std::uint32_t Graph::append_upper_lists(unsigned level) {
  const auto first = static_cast<std::uint32_t>(upper_lists_.size());
  for (unsigned layer = 1; layer <= level; ++layer) upper_lists_.append();
  return first;
}

void Graph::check_node(NodeId node) const {
  if (node >= node_count())
    fail(Reason::kInvalidArgument, "node " + std::to_string(node) + " is not one of " +
                                       std::to_string(node_count()) + " nodes");
}

}  // namespace gossamer
