#include "graph/prune_hub.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/bitmap.h"
#include "base/parallel.h"
#include "graph/layers.h"
#include "graph/link.h"
#include "graph/select.h"

namespace gossamer {
namespace {

void check_options(const HubOptions& options) {
  expect(options.max_degree >= 1 && options.max_degree <= kMaxDegree, Reason::kInvalidArgument,
         "max_degree must be between 1 and 256");
  expect(options.low_degree >= 1 && options.low_degree <= options.max_degree,
         Reason::kInvalidArgument, "low_degree must be between 1 and max_degree");
  expect(options.hub_share >= 0 && options.hub_share <= 1, Reason::kInvalidArgument,
         "hub_share must be in [0, 1]");
  expect(options.effort >= 1, Reason::kInvalidArgument, "effort must be at least 1");
}

// The nodes with the most neighbors; of equal ones, those of lower id.
Bitmap find_hubs(const Graph& graph, double share) {
  std::array<NodeId, kMaxDegree> list;
  std::vector<std::size_t> degrees(graph.node_count());
  for (NodeId node = 0; node < degrees.size(); ++node) {
    degrees[node] = graph.neighbors(node, 0, list.data());
  }
  std::vector<NodeId> order(degrees.size());
  std::iota(order.begin(), order.end(), NodeId{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](NodeId a, NodeId b) { return degrees[a] > degrees[b]; });
  order.resize(static_cast<std::size_t>(std::ceil(share * static_cast<double>(order.size()))));
  Bitmap hubs(degrees.size());
  for (const NodeId node : order) hubs.insert(node);
  return hubs;
}

// The nearest nodes to a node that is in the graph itself: the walk starts where it would arrive.
std::span<const Candidate> search_around(const Graph& graph, const Rows& rows, NodeId node,
                                         std::size_t effort, InsertScratch& scratch) {
  scratch.beam.start(effort + 1, NearerTo::salt_of(node));
  scratch.visited.start(graph.node_count());
  scratch.visited.insert(node);
  const auto distance_to = [&](NodeId other) { return rows.between(node, other); };
  scratch.beam.offer({distance_to(node), node});
  search_layer(graph, rows, 0, distance_to, scratch.visited, scratch.beam);
  const std::span<const Candidate> found = scratch.beam.finish();
  scratch.candidates.clear();
  std::copy_if(found.begin(), found.end(), std::back_inserter(scratch.candidates),
               [&](const Candidate& candidate) { return candidate.node != node; });
  return scratch.candidates;
}

LayerLists copy_layer(const Graph& graph, std::vector<NodeId> members, unsigned layer) {
  return make_lists(std::move(members), 1,
                    [&](std::size_t, NodeId node, unsigned, std::vector<NodeId>& out) {
                      std::array<NodeId, kMaxDegree> list;
                      const std::size_t count = graph.neighbors(node, layer, list.data());
                      out.insert(out.end(), list.begin(), list.begin() + count);
                    });
}

}  // namespace

Graph prune_hub(const Graph& base, const Rows& rows, const HubOptions& options,
                Progress* progress) {
  check_options(options);
  if (progress != nullptr) progress->start(base.node_count());
  const Bitmap hubs = find_hubs(base, options.hub_share);
  const unsigned threads = resolve_threads(options.threads);
  std::vector<InsertScratch> scratch(threads);
  std::vector<std::vector<NodeId>> members = layer_members(base);
  const auto select = [&](std::size_t, NodeId node, unsigned worker, std::vector<NodeId>& out) {
    InsertScratch& own = scratch[worker];
    const std::size_t limit = hubs.contains(node) ? options.max_degree : options.low_degree;
    const auto found = search_around(base, rows, node, options.effort, own);
    select_neighbors(rows, found, limit, own.kept);
    for (const Candidate& neighbor : own.kept) out.push_back(neighbor.node);
    if (progress == nullptr) return;
    progress->throw_if_cancelled();
    progress->advance();
  };
  std::vector<LayerLists> layers;
  const LayerLists forward = make_lists(std::move(members[0]), threads, select);
  layers.push_back(mirror_lists(rows, forward, options.max_degree, threads));
  for (unsigned layer = 1; layer < members.size(); ++layer) {
    layers.push_back(copy_layer(base, std::move(members[layer]), layer));
  }
  return assemble_graph(base, layers);
}

}  // namespace gossamer
