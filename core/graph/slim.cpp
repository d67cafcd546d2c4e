#include "graph/slim.h"

#include <vector>

#include "base/parallel.h"
#include "graph/layers.h"
#include "graph/slim_rule.h"

namespace gossamer {
namespace {

LayerLists retain_weak(const Rows& rows, const LayerLists& lists, const LayerLists& selected,
                       const Degrees& degrees, const SlimLayer& rules, unsigned threads) {
  const HubCut hubs = cut_hubs(degrees, rules.hub_share);
  const LayerLists reverse = reverse_lists(selected);
  const auto is_weak = [&](NodeId node) {
    return reverse.list(reverse.index_of(node)).size() < rules.weak_below();
  };
  std::vector<SelectScratch> scratch(threads);
  return make_lists(lists.members, threads,
                    [&](std::size_t index, NodeId node, unsigned worker, std::vector<NodeId>& out) {
                      append_with_weak(rows, node, lists.list(index),
                                       rules.limit(hubs.contains(node, degrees[node])), is_weak,
                                       scratch[worker], out);
                    });
}

LayerLists prune_layer(const Rows& rows, const LayerLists& lists, std::size_t node_count,
                       const SlimLayer& rules, unsigned threads, SlimVariant variant) {
  const Degrees degrees = count_degrees(lists, node_count);
  const LayerLists selected = select_layer(rows, lists, degrees, rules, threads);
  if (variant == SlimVariant::kByInDegree) {
    return retain_weak(rows, lists, selected, degrees, rules, threads);
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
