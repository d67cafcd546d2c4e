#include "graph/slim_follower.h"

#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "graph/diff_lists.h"

namespace gossamer {
namespace {

using NodeArray = std::array<NodeId, kMaxDegree>;

// Packing reads every list, so it waits for updates that change one node in so many.
constexpr std::size_t kSettledShare = 64;

void sort_unique(std::vector<ChangedLists::List>& lists) {
  std::sort(lists.begin(), lists.end());
  lists.erase(std::unique(lists.begin(), lists.end()), lists.end());
}

}  // namespace

SlimFollower::SlimFollower(const Graph& base, const Rows& rows, const SlimParameters& parameters,
                           unsigned max_degree, unsigned threads, SlimVariant variant)
    : parameters_(parameters), max_degree_(max_degree), variant_(variant) {
  check_slim_parameters(parameters, max_degree);
  start(base, rows, resolve_threads(threads));
}

void SlimFollower::start(const Graph& base, const Rows& rows, unsigned threads) {
  levels_ = level_bytes(base);
  slim_ = prune_slim(base, rows, parameters_, max_degree_, threads, variant_);
  in_links_ = InLinks(base.node_count());
  unique_in_links_ = InLinks(base.node_count());
  std::vector<LayerLists> unique;
  std::vector<LayerLists> selected;
  for (const std::vector<NodeId>& members : layer_members(base)) {
    const auto depth = static_cast<unsigned>(layers_.size());
    Layer& layer = layers_.emplace_back();
    layer.rules = slim_layer(parameters_, max_degree_, depth);
    unique.push_back(unique_layer(base, members, levels_, layer.rules, depth, threads));
    layer.degrees = count_degrees(unique.back(), base.node_count());
    layer.hubs = cut_hubs(layer.degrees, layer.rules.hub_share);
    selected.push_back(select_layer(rows, unique.back(), layer.degrees, layer.rules, threads));
    const LayerLists reverse = reverse_lists(selected.back());
    in_links_.set_layer(depth, reverse);
    if (!by_in_degree()) continue;
    layer.weak.resize(base.node_count());
    find_weak(layer, reverse);
    unique_in_links_.set_layer(depth, reverse_lists(unique.back()));
  }
  selected_ = assemble_graph(base, selected);
  if (by_in_degree()) unique_ = assemble_graph(base, unique);
}

std::vector<NodeId> SlimFollower::update(const Graph& base, const Rows& rows,
                                         const ChangedLists& changed) {
  Update update{base, rows, changed.lists(), {}, {}, {}};
  grow(update);
  for (const NodeId node : changed.renewed()) renew(update, node);
  std::erase_if(update.dirty, [&](const List& list) { return list.layer > levels_[list.node]; });
  recount_degrees(update);
  find_flipped_hubs(update);
  sort_unique(update.dirty);
  for (const List& list : update.dirty) select_again(update, list);
  if (by_in_degree()) find_flipped_weak(update);
  sort_unique(update.touched);
  for (const List& list : update.touched) link_again(update, list);
  slim_.set_entry(base.entry());
  std::sort(update.changed.begin(), update.changed.end());
  update.changed.erase(std::unique(update.changed.begin(), update.changed.end()),
                       update.changed.end());
  if (update.changed.size() * kSettledShare > slim_.node_count()) slim_.settle();
  return std::move(update.changed);
}

// Makes room for nodes and layers that were not there.
void SlimFollower::grow(Update& update) {
  const std::size_t count = update.base.node_count();
  while (layers_.size() <= update.base.max_level()) {
    const auto depth = static_cast<unsigned>(layers_.size());
    layers_.push_back({slim_layer(parameters_, max_degree_, depth), {}, {}, {}});
  }
  for (Layer& layer : layers_) {
    layer.degrees.resize(count, kNotOnLayer);
    layer.weak.resize(by_in_degree() ? count : 0);
  }
  in_links_.grow(count, layers_.size());
  if (by_in_degree()) unique_in_links_.grow(count, layers_.size());
  for (auto node = static_cast<NodeId>(levels_.size()); node < count; ++node) {
    const unsigned level = update.base.level(node);
    levels_.push_back(static_cast<std::uint8_t>(level));
    slim_.add_node(level);
    selected_.add_node(level);
    if (by_in_degree()) unique_.add_node(level);
    update.changed.push_back(node);
    mark_dirty(update, node);
  }
}

void SlimFollower::mark_dirty(Update& update, NodeId node) {
  for (unsigned layer = 0; layer <= levels_[node]; ++layer) {
    update.dirty.push_back({node, layer});
    update.counted.push_back({node, layer});
  }
}

// Forgets what a node was before: its vector and its level may be others now, so all that it
// selected looks at it again.
void SlimFollower::renew(Update& update, NodeId node) {
  for (unsigned layer = 0; layer <= levels_[node]; ++layer) {
    replace_selected(update, {node, layer}, {});
    layers_[layer].degrees[node] = kNotOnLayer;
    if (!by_in_degree()) continue;
    NodeArray list;
    const std::size_t count = unique_.neighbors(node, layer, list.data());
    for (const NodeId to : std::span(list).first(count)) unique_in_links_.erase(node, to, layer);
    unique_.set_neighbors(node, layer, {});
  }
  const unsigned level = update.base.level(node);
  if (level != levels_[node]) {
    levels_[node] = static_cast<std::uint8_t>(level);
    slim_.reset_node(node, level);
    selected_.reset_node(node, level);
    if (by_in_degree()) unique_.reset_node(node, level);
    update.changed.push_back(node);
  }
  mark_dirty(update, node);
}

void SlimFollower::recount_degrees(Update& update) {
  NodeArray list;
  for (const auto& [node, layer] : update.dirty) {
    layers_[layer].degrees[node] = counted_degree(
        unique_neighbors(update.base, levels_, layers_[layer].rules, node, layer, list.data()));
  }
}

// A cut that moves makes hubs of some nodes that did not change, and unmakes others.
void SlimFollower::find_flipped_hubs(Update& update) {
  for (unsigned depth = 0; depth < layers_.size(); ++depth) {
    Layer& layer = layers_[depth];
    const HubCut now = cut_hubs(layer.degrees, layer.rules.hub_share);
    if (now == layer.hubs) continue;
    const unsigned low = std::min(now.degree, layer.hubs.degree);
    const unsigned high = std::max(now.degree, layer.hubs.degree);
    for (NodeId node = 0; node < layer.degrees.size(); ++node) {
      const unsigned degree = layer.degrees[node];
      if (degree < low || degree > high) continue;
      if (now.contains(node, degree) != layer.hubs.contains(node, degree)) {
        update.dirty.push_back({node, depth});
      }
    }
    layer.hubs = now;
  }
}

void SlimFollower::select_again(Update& update, List list) {
  const Layer& layer = layers_[list.layer];
  NodeArray nodes;
  const std::size_t count =
      unique_neighbors(update.base, levels_, layer.rules, list.node, list.layer, nodes.data());
  const bool is_hub = layer.hubs.contains(list.node, layer.degrees[list.node]);
  list_.clear();
  append_selected(update.rows, list.node, {nodes.data(), count}, layer.rules.limit(is_hub),
                  scratch_, list_);
  std::sort(list_.begin(), list_.end());
  replace_selected(update, list, list_);
  update.touched.push_back(list);
  if (by_in_degree()) replace_unique(update, list);
}

// `selected` must be sorted.
void SlimFollower::replace_selected(Update& update, List list, std::span<const NodeId> selected) {
  const auto [node, layer] = list;
  NodeArray before;
  const std::size_t count = selected_.neighbors(node, layer, before.data());
  if (std::ranges::equal(std::span(before).first(count), selected)) return;
  // With reverse links a list changes with the links to its node; by in-degree it matters only
  // whether there are enough of them, which is looked at when all are counted.
  std::vector<List>& ends = by_in_degree() ? update.counted : update.touched;
  const auto removed = [&](NodeId to) {
    ends.push_back({to, layer});
    in_links_.erase(node, to, layer);
  };
  const auto added = [&](NodeId to) {
    ends.push_back({to, layer});
    in_links_.insert(node, to, layer);
  };
  diff_lists({before.data(), count}, selected, removed, added);
  selected_.set_neighbors(node, layer, selected);
}

void SlimFollower::replace_unique(const Update& update, List list) {
  const auto [node, layer] = list;
  NodeArray before;
  NodeArray after;
  const std::size_t old_count = unique_.neighbors(node, layer, before.data());
  const std::size_t count =
      unique_neighbors(update.base, levels_, layers_[layer].rules, node, layer, after.data());
  diff_lists(
      {before.data(), old_count}, {after.data(), count},
      [&](NodeId to) { unique_in_links_.erase(node, to, layer); },
      [&](NodeId to) { unique_in_links_.insert(node, to, layer); });
  unique_.set_neighbors(node, layer, {after.data(), count});
}

void SlimFollower::find_weak(Layer& layer, const LayerLists& reverse) {
  for (std::size_t i = 0; i < reverse.members.size(); ++i) {
    if (reverse.list(i).size() < layer.rules.weak_below()) layer.weak.insert(reverse.members[i]);
  }
}

void SlimFollower::find_flipped_weak(Update& update) {
  sort_unique(update.counted);
  for (const auto& [node, layer] : update.counted) {
    Bitmap& weak = layers_[layer].weak;
    const bool is_weak = in_links_.count(node, layer) < layers_[layer].rules.weak_below();
    if (is_weak == weak.contains(node)) continue;
    if (is_weak) {
      weak.insert(node);
    } else {
      weak.erase(node);
    }
    unique_in_links_.read(node, layer, reverse_);
    for (const NodeId from : reverse_) update.touched.push_back({from, layer});
  }
}

void SlimFollower::link_again(Update& update, List list) {
  const auto [node, layer] = list;
  if (layer > levels_[node]) return;
  const Layer& judged = layers_[layer];
  NodeArray own;
  list_.clear();
  if (by_in_degree()) {
    const std::size_t count = unique_.neighbors(node, layer, own.data());
    const bool is_hub = judged.hubs.contains(node, judged.degrees[node]);
    append_with_weak(
        update.rows, node, {own.data(), count}, judged.rules.limit(is_hub),
        [&](NodeId other) { return judged.weak.contains(other); }, scratch_, list_);
  } else {
    const std::size_t count = selected_.neighbors(node, layer, own.data());
    in_links_.read(node, layer, reverse_);
    append_mirrored(update.rows, node, {own.data(), count}, reverse_, judged.rules.full_degree,
                    scratch_, list_);
  }
  std::sort(list_.begin(), list_.end());
  const std::size_t count = slim_.neighbors(node, layer, own.data());
  if (std::ranges::equal(std::span(own).first(count), list_)) return;
  slim_.set_neighbors(node, layer, list_);
  update.changed.push_back(node);
}

std::size_t SlimFollower::memory_bytes() const {
  std::size_t bytes = levels_.size() + slim_.memory_bytes() + selected_.memory_bytes() +
                      unique_.memory_bytes() + in_links_.memory_bytes() +
                      unique_in_links_.memory_bytes();
  for (const Layer& layer : layers_) bytes += layer.degrees.size();
  return bytes;
}

}  // namespace gossamer
