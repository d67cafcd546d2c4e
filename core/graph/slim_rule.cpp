#include "graph/slim_rule.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace gossamer {

std::uint8_t counted_degree(std::size_t degree) {
  return static_cast<std::uint8_t>(std::min<std::size_t>(degree, kMaxCountedDegree));
}

HubCut cut_hubs(const Degrees& degrees, double share) {
  std::array<std::size_t, 256> histogram{};
  for (const std::uint8_t degree : degrees) ++histogram[degree];
  const std::size_t members = degrees.size() - histogram[kNotOnLayer];
  std::size_t wanted = static_cast<std::size_t>(std::ceil(share * static_cast<double>(members)));
  if (wanted == 0) return {};
  HubCut cut{kMaxCountedDegree, 0};
  while (histogram[cut.degree] < wanted) wanted -= histogram[cut.degree--];
  for (NodeId node = 0;; ++node) {
    if (degrees[node] != cut.degree || --wanted > 0) continue;
    cut.last = node;
    return cut;
  }
}

SlimLayer slim_layer(const SlimParameters& parameters, unsigned max_degree, unsigned layer) {
  const bool is_whole = layer == parameters.tradeoff_layer;
  if (layer == 0) {
    return {parameters.hub_share0, parameters.hub_degree0, parameters.low_degree0,
            2 * std::size_t{max_degree}, is_whole};
  }
  return {parameters.hub_share, parameters.hub_degree, parameters.low_degree, max_degree, is_whole};
}

void check_slim_parameters(const SlimParameters& parameters, unsigned max_degree) {
  const auto is_share = [](double share) { return share >= 0 && share <= 1; };
  expect(is_share(parameters.hub_share0) && is_share(parameters.hub_share),
         Reason::kInvalidArgument, "hub shares must be in [0, 1]");
  expect(parameters.low_degree0 >= 1 && parameters.low_degree >= 1 &&
             parameters.hub_degree0 >= parameters.low_degree0 &&
             parameters.hub_degree >= parameters.low_degree &&
             parameters.hub_degree0 <= kMaxDegree && parameters.hub_degree <= kMaxDegree,
         Reason::kInvalidArgument, "degrees must satisfy 1 <= low_degree <= hub_degree <= 256");
  expect(max_degree >= 1 && 2 * max_degree <= kMaxDegree, Reason::kInvalidArgument,
         "max_degree must be between 1 and 128");
}

std::size_t unique_neighbors(const Graph& base, std::span<const std::uint8_t> levels,
                             const SlimLayer& rules, NodeId node, unsigned layer, NodeId* out) {
  const std::size_t count = base.neighbors(node, layer, out);
  if (rules.is_whole) return count;
  NodeId* end = std::remove_if(out, out + count, [&](NodeId n) { return levels[n] != layer; });
  return static_cast<std::size_t>(end - out);
}

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

Degrees count_degrees(const LayerLists& lists, std::size_t node_count) {
  Degrees degrees(node_count, kNotOnLayer);
  for (std::size_t i = 0; i < lists.members.size(); ++i) {
    degrees[lists.members[i]] = counted_degree(lists.list(i).size());
  }
  return degrees;
}

LayerLists select_layer(const Rows& rows, const LayerLists& lists, const Degrees& degrees,
                        const SlimLayer& rules, unsigned threads) {
  const HubCut hubs = cut_hubs(degrees, rules.hub_share);
  std::vector<SelectScratch> scratch(threads);
  return make_lists(lists.members, threads,
                    [&](std::size_t index, NodeId node, unsigned worker, std::vector<NodeId>& out) {
                      append_selected(rows, node, lists.list(index),
                                      rules.limit(hubs.contains(node, degrees[node])),
                                      scratch[worker], out);
                    });
}

}  // namespace gossamer
