#include "graph/delta.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "base/bitmap.h"
#include "base/error.h"
#include "graph/diff_lists.h"

namespace gossamer {

namespace {

using NodeArray = std::array<NodeId, kMaxDegree>;
using Edges = std::vector<Edge>;

void sort_unique(std::vector<NodeId>& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

Bitmap bitmap_of(std::span<const NodeId> nodes, std::size_t size) {
  Bitmap bitmap(size);
  for (const NodeId node : nodes) bitmap.insert(node);
  return bitmap;
}

// A list without the cleared nodes.
std::size_t read_staying(const Graph& graph, NodeId node, unsigned layer, const Bitmap& cleared,
                         NodeArray& out) {
  const std::size_t count = graph.neighbors(node, layer, out.data());
  const auto end = std::remove_if(out.begin(), out.begin() + count,
                                  [&](NodeId other) { return cleared.contains(other); });
  return static_cast<std::size_t>(end - out.begin());
}

// One list of a graph.
struct ListName {
  unsigned layer;
  NodeId node;

  friend auto operator<=>(const ListName&, const ListName&) = default;
};

// The lists that name a cleared node, in order, but for those of cleared nodes themselves.
std::vector<ListName> torn_lists(const Graph& graph, const Bitmap& cleared) {
  std::vector<ListName> torn;
  NodeArray list;
  const auto look_at = [&](unsigned layer, NodeId node) {
    if (cleared.contains(node)) return;
    const std::size_t count = graph.neighbors(node, layer, list.data());
    const auto is_cleared = [&](NodeId other) { return cleared.contains(other); };
    if (std::any_of(list.begin(), list.begin() + count, is_cleared)) torn.push_back({layer, node});
  };
  for (NodeId node = 0; node < graph.node_count(); ++node) look_at(0, node);
  const std::vector<NodeId> uppers = graph.upper_nodes();
  for (unsigned layer = 1; layer <= graph.max_level(); ++layer) {
    for (const NodeId node : uppers) look_at(layer, node);
  }
  return torn;
}

// The edges of one node, of many sorted ones; those before it are passed over for good.
std::span<const Edge> take_edges(std::span<const Edge>& edges, NodeId node) {
  std::size_t begin = 0;
  while (begin < edges.size() && edges[begin].from < node) ++begin;
  std::size_t end = begin;
  while (end < edges.size() && edges[end].from == node) ++end;
  const auto own = edges.subspan(begin, end - begin);
  edges = edges.subspan(end);
  return own;
}

[[noreturn]] void refuse(const std::string& why) {
  fail(Reason::kWrongState, "this delta does not fit the graph: " + why);
}

// Every list as it will be, computed and checked before the first is written.
class Patch {
 public:
  Patch(const Graph& graph, const GraphDelta& delta)
      : graph_(graph), delta_(delta), cleared_(delta.base_count) {
    if (graph.node_count() != delta.base_count) {
      refuse("it starts from " + std::to_string(delta.base_count) + " nodes, but " +
             std::to_string(graph.node_count()) + " are there");
    }
    cleared_ = bitmap_of(delta.cleared, delta.base_count);
    check_entry();
    for (const ListName& name : changed_lists()) change_list(name);
  }

  void write(Graph& graph) const {
    for (std::size_t rank = 0; rank < delta_.levels.size(); ++rank) {
      if (rank < delta_.cleared.size()) {
        graph.reset_node(delta_.cleared[rank], delta_.levels[rank]);
      } else {
        graph.add_node(delta_.levels[rank]);
      }
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto [layer, node] = names_[i];
      graph.set_neighbors(node, layer, {ids_.data() + starts_[i], starts_[i + 1] - starts_[i]});
    }
    graph.set_entry(delta_.entry);
    graph.set_tradeoff_layer(delta_.tradeoff_layer);
  }

 private:
  unsigned level_after(NodeId node) const {
    return delta_.is_fresh(node) ? delta_.levels[delta_.fresh_rank(node)] : graph_.level(node);
  }

  // Every walk expects the entry to be of the highest level.
  void check_entry() const {
    if (delta_.entry == kNoNode) return;
    unsigned highest = 0;
    for (const NodeId node : graph_.upper_nodes()) {
      if (!cleared_.contains(node)) highest = std::max(highest, graph_.level(node));
    }
    for (const std::uint8_t level : delta_.levels) highest = std::max<unsigned>(highest, level);
    if (delta_.entry >= delta_.node_count || level_after(delta_.entry) != highest) {
      refuse("its entry is not of the highest level");
    }
  }

  std::vector<ListName> changed_lists() {
    std::vector<ListName> names;
    if (!delta_.cleared.empty()) names = torn_lists(graph_, cleared_);
    for (unsigned layer = 0; layer < delta_.layers.size(); ++layer) {
      for (const Edge& edge : delta_.layers[layer].removed) names.push_back({layer, edge.from});
      for (const Edge& edge : delta_.layers[layer].added) names.push_back({layer, edge.from});
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  void start_layer(unsigned layer) {
    static const GraphDelta::Layer kNoChanges;
    const auto& edges = layer < delta_.layers.size() ? delta_.layers[layer] : kNoChanges;
    removed_ = edges.removed;
    added_ = edges.added;
    layer_ = layer;
  }

  // Names come in order, so that each layer's edges are passed once.
  void change_list(ListName name) {
    const auto [layer, node] = name;
    if (names_.empty() || layer != layer_) start_layer(layer);
    if (layer > level_after(node)) refuse_list(name, "it is not on that layer");
    NodeArray list;
    const std::size_t count =
        delta_.is_fresh(node) ? 0 : read_staying(graph_, node, layer, cleared_, list);
    auto left = std::span<const NodeId>(list).first(count);
    for (const Edge& edge : take_edges(removed_, node)) {
      left = copy_below(left, edge.to);
      if (left.empty() || left[0] != edge.to) refuse_list(name, "an edge to remove is not there");
      left = left.subspan(1);
    }
    ids_.insert(ids_.end(), left.begin(), left.end());
    add_edges(name);
  }

  std::span<const NodeId> copy_below(std::span<const NodeId> list, NodeId end) {
    const auto place = std::lower_bound(list.begin(), list.end(), end);
    ids_.insert(ids_.end(), list.begin(), place);
    return {place, list.end()};
  }

  void add_edges(ListName name) {
    const auto [layer, node] = name;
    const auto begin = static_cast<std::ptrdiff_t>(starts_.back());
    const auto middle = static_cast<std::ptrdiff_t>(ids_.size());
    for (const Edge& edge : take_edges(added_, node)) {
      if (layer > 0 && layer > level_after(edge.to))
        refuse_list(name, "its new neighbor is not on that layer");
      ids_.push_back(edge.to);
    }
    std::inplace_merge(ids_.begin() + begin, ids_.begin() + middle, ids_.end());
    if (std::adjacent_find(ids_.begin() + begin, ids_.end()) != ids_.end())
      refuse_list(name, "an edge to add is there already");
    if (ids_.size() - starts_.back() > kMaxDegree) refuse_list(name, "it has too many neighbors");
    names_.push_back(name);
    starts_.push_back(ids_.size());
  }

  [[noreturn]] static void refuse_list(ListName name, const char* why) {
    refuse("node " + std::to_string(name.node) + ", layer " + std::to_string(name.layer) + ": " +
           why);
  }

  const Graph& graph_;
  const GraphDelta& delta_;
  Bitmap cleared_;
  std::span<const Edge> removed_;  // what is left of the layer at hand
  std::span<const Edge> added_;
  unsigned layer_ = 0;
  std::vector<ListName> names_;
  std::vector<std::size_t> starts_{0};
  std::vector<NodeId> ids_;
};

// Nodes whose links must be compared: a node that starts anew at another level was cleared, too.
struct Compared {
  std::vector<NodeId> nodes;
  std::vector<NodeId> cleared;
};

Compared choose_compared(const Graph& shadow, const Graph& now, std::span<const NodeId> changed,
                         std::span<const NodeId> cleared) {
  Compared compared{{changed.begin(), changed.end()}, {cleared.begin(), cleared.end()}};
  for (const NodeId node : changed) {
    if (node < shadow.node_count() && shadow.level(node) != now.level(node)) {
      compared.cleared.push_back(node);
    }
  }
  std::erase_if(compared.cleared, [&](NodeId node) { return node >= shadow.node_count(); });
  sort_unique(compared.cleared);
  std::vector<NodeId>& nodes = compared.nodes;
  nodes.insert(nodes.end(), compared.cleared.begin(), compared.cleared.end());
  for (std::size_t node = shadow.node_count(); node < now.node_count(); ++node) {
    nodes.push_back(static_cast<NodeId>(node));
  }
  if (!compared.cleared.empty()) {
    // A link that was cleared and came back is in a list that did not change.
    const Bitmap is_cleared = bitmap_of(compared.cleared, shadow.node_count());
    for (const ListName& name : torn_lists(shadow, is_cleared)) nodes.push_back(name.node);
  }
  sort_unique(nodes);
  return compared;
}

void diff_node(const Graph& shadow, const Graph& now, const Bitmap& cleared, NodeId node,
               GraphDelta& delta) {
  NodeArray before;
  NodeArray after;
  const bool is_fresh = delta.is_fresh(node);
  for (unsigned layer = 0; layer <= now.level(node); ++layer) {
    const std::size_t old_count = is_fresh ? 0 : read_staying(shadow, node, layer, cleared, before);
    const std::size_t count = now.neighbors(node, layer, after.data());
    GraphDelta::Layer& edges = delta.layers[layer];
    diff_lists(
        {before.data(), old_count}, {after.data(), count},
        [&](NodeId to) { edges.removed.push_back({node, to}); },
        [&](NodeId to) { edges.added.push_back({node, to}); });
  }
}

void drop_empty_layers(GraphDelta& delta) {
  while (!delta.layers.empty() && delta.layers.back() == GraphDelta::Layer()) {
    delta.layers.pop_back();
  }
}

template <class SetOperation>
Edges combine(const Edges& a, const Edges& b, const SetOperation& operation) {
  Edges out;
  operation(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

Edges both(const Edges& a, const Edges& b) {
  return combine(a, b, [](auto... args) { std::set_intersection(args...); });
}
Edges either(const Edges& a, const Edges& b) {
  return combine(a, b, [](auto... args) { std::set_union(args...); });
}
Edges without(const Edges& a, const Edges& b) {
  return combine(a, b, [](auto... args) { std::set_difference(args...); });
}

[[noreturn]] void refuse_join() {
  fail(Reason::kWrongState, "these deltas do not follow each other: join them in their order");
}

GraphDelta::Layer join_layers(GraphDelta::Layer first, const GraphDelta::Layer& second,
                              const GraphDelta& later, const GraphDelta& joined) {
  const auto is_gone = [&](const Edge& edge) {
    return later.is_cleared(edge.from) || later.is_cleared(edge.to);
  };
  std::erase_if(first.removed, is_gone);
  std::erase_if(first.added, is_gone);
  const Edges removed_of_base = without(second.removed, first.added);
  const bool is_impossible =
      !both(first.removed, second.removed).empty() || !both(first.added, second.added).empty() ||
      std::any_of(removed_of_base.begin(), removed_of_base.end(), [&](const Edge& edge) {
        return joined.is_fresh(edge.from) || joined.is_fresh(edge.to);
      });
  if (is_impossible) refuse_join();
  const Edges restored = both(first.removed, second.added);
  return {without(either(first.removed, removed_of_base), restored),
          without(either(without(first.added, second.removed), second.added), restored)};
}

}  // namespace

bool GraphDelta::is_cleared(NodeId node) const {
  return std::binary_search(cleared.begin(), cleared.end(), node);
}

std::size_t GraphDelta::fresh_rank(NodeId node) const {
  if (node >= base_count) return cleared.size() + (node - base_count);
  const auto place = std::lower_bound(cleared.begin(), cleared.end(), node);
  return static_cast<std::size_t>(place - cleared.begin());
}

NodeId GraphDelta::fresh_node(std::size_t rank) const {
  return rank < cleared.size() ? cleared[rank]
                               : static_cast<NodeId>(base_count + (rank - cleared.size()));
}

bool GraphDelta::may_link(const Edge& edge, unsigned layer) const {
  const auto reaches = [&](NodeId node) {
    return !is_fresh(node) || levels[fresh_rank(node)] >= layer;
  };
  return reaches(edge.from) && reaches(edge.to);
}

GraphDelta diff_graphs(Graph& shadow, const Graph& now, std::span<const NodeId> changed,
                       std::span<const NodeId> cleared) {
  expect(now.node_count() >= shadow.node_count(), Reason::kWrongState,
         "a graph that lost nodes was numbered anew: no delta leads to it");
  Compared compared = choose_compared(shadow, now, changed, cleared);
  GraphDelta delta;
  delta.base_count = shadow.node_count();
  delta.node_count = now.node_count();
  delta.cleared = std::move(compared.cleared);
  delta.layers.resize(now.max_level() + std::size_t{1});
  delta.entry = now.entry();
  delta.tradeoff_layer = now.tradeoff_layer();
  for (std::size_t rank = 0; rank < delta.fresh_count(); ++rank) {
    delta.levels.push_back(static_cast<std::uint8_t>(now.level(delta.fresh_node(rank))));
  }
  const Bitmap is_cleared = bitmap_of(delta.cleared, delta.base_count);
  for (const NodeId node : compared.nodes) diff_node(shadow, now, is_cleared, node, delta);
  drop_empty_layers(delta);
  apply_delta(shadow, delta);
  return delta;
}

void apply_delta(Graph& graph, const GraphDelta& delta) { Patch(graph, delta).write(graph); }

GraphDelta join_deltas(const GraphDelta& first, const GraphDelta& second) {
  if (second.base_count != first.node_count) refuse_join();
  GraphDelta joined;
  joined.base_count = first.base_count;
  joined.node_count = second.node_count;
  std::set_union(first.cleared.begin(), first.cleared.end(), second.cleared.begin(),
                 std::lower_bound(second.cleared.begin(), second.cleared.end(), first.base_count),
                 std::back_inserter(joined.cleared));
  joined.entry = second.entry;
  joined.tradeoff_layer = second.tradeoff_layer;
  for (std::size_t rank = 0; rank < joined.fresh_count(); ++rank) {
    const NodeId node = joined.fresh_node(rank);
    const GraphDelta& last = second.is_fresh(node) ? second : first;
    joined.levels.push_back(last.levels[last.fresh_rank(node)]);
  }
  joined.layers.resize(std::max(first.layers.size(), second.layers.size()));
  for (std::size_t i = 0; i < joined.layers.size(); ++i) {
    const auto layer_of = [&](const GraphDelta& delta) {
      return i < delta.layers.size() ? delta.layers[i] : GraphDelta::Layer();
    };
    joined.layers[i] = join_layers(layer_of(first), layer_of(second), second, joined);
    for (const Edge& edge : joined.layers[i].added) {
      if (!joined.may_link(edge, static_cast<unsigned>(i))) refuse_join();
    }
  }
  drop_empty_layers(joined);
  return joined;
}

}  // namespace gossamer
