#include "graph/slim.h"

#include <array>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "graph/layers.h"
#include "graph/slim_rule.h"

namespace gossamer {
namespace {

// One layer after hierarchical pruning.
LayerLists unique_layer(const Graph& base, std::vector<NodeId> members,
                        std::span<const std::uint8_t> levels, const SlimLayer& rules,
                        unsigned layer, unsigned threads) {
  return make_lists(std::move(members), threads,
                    [&](std::size_t, NodeId node, unsigned, std::vector<NodeId>& out) {
                      std::array<NodeId, kMaxDegree> list;
                      const std::size_t count =
                          unique_neighbors(base, levels, rules, node, layer, list.data());
                      out.insert(out.end(), list.begin(), list.begin() + count);
                    });
}

// How many neighbors each member may select.
std::vector<std::size_t> select_limits(const LayerLists& lists, std::size_t node_count,
                                       const SlimLayer& rules) {
  Degrees degrees(node_count, kNotOnLayer);
  for (std::size_t i = 0; i < lists.members.size(); ++i) {
    degrees[lists.members[i]] = counted_degree(lists.list(i).size());
  }
  const HubCut hubs = cut_hubs(degrees, rules.hub_share);
  std::vector<std::size_t> limits;
  limits.reserve(lists.members.size());
  for (const NodeId node : lists.members) {
    limits.push_back(rules.limit(hubs.contains(node, degrees[node])));
  }
  return limits;
}

LayerLists retain_weak(const Rows& rows, const LayerLists& lists, const LayerLists& selected,
                       std::span<const std::size_t> limits, const SlimLayer& rules,
                       unsigned threads) {
  const LayerLists reverse = reverse_lists(selected);
  const auto is_weak = [&](NodeId node) {
    return reverse.list(reverse.index_of(node)).size() < rules.weak_below();
  };
  std::vector<SelectScratch> scratch(threads);
  return make_lists(lists.members, threads,
                    [&](std::size_t index, NodeId node, unsigned worker, std::vector<NodeId>& out) {
                      append_with_weak(rows, node, lists.list(index), limits[index], is_weak,
                                       scratch[worker], out);
                    });
}

LayerLists prune_layer(const Rows& rows, const LayerLists& lists, std::size_t node_count,
                       const SlimLayer& rules, unsigned threads, SlimVariant variant) {
  const std::vector<std::size_t> limits = select_limits(lists, node_count, rules);
  std::vector<SelectScratch> scratch(threads);
  const LayerLists selected = make_lists(
      lists.members, threads,
      [&](std::size_t index, NodeId node, unsigned worker, std::vector<NodeId>& out) {
        append_selected(rows, node, lists.list(index), limits[index], scratch[worker], out);
      });
  if (variant == SlimVariant::kByInDegree) {
    return retain_weak(rows, lists, selected, limits, rules, threads);
  }
  return mirror_lists(rows, selected, rules.full_degree, threads);
}

}  // namespace

Graph prune_slim(const Graph& base, const Rows& rows, const SlimParameters& parameters,
                 unsigned max_degree, unsigned threads, SlimVariant variant) {
  check_slim_parameters(parameters, max_degree);
  threads = resolve_threads(threads);
  const std::vector<std::uint8_t> levels = level_bytes(base);
  std::vector<std::vector<NodeId>> members = layer_members(base);
  std::vector<LayerLists> layers;
  for (unsigned layer = 0; layer < members.size(); ++layer) {
    const SlimLayer rules = slim_layer(parameters, max_degree, layer);
    const LayerLists lists =
        unique_layer(base, std::move(members[layer]), levels, rules, layer, threads);
    layers.push_back(prune_layer(rows, lists, base.node_count(), rules, threads, variant));
  }
  Graph graph = assemble_graph(base, layers);
  graph.set_tradeoff_layer(parameters.tradeoff_layer);
  return graph;
}

}  // namespace gossamer
