#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "distance/space.h"
#include "graph/graph.h"
#include "graph/layers.h"
#include "graph/select.h"
#include "graph/slim_parameters.h"

namespace gossamer {

// What decides about one node's links in HNSW-Slim. The pruning of a whole graph and the one that
// follows changes are both made of these, which is why they cannot disagree.

// How many neighbors each node has on one layer, in a byte: what hubs are told by.
using Degrees = std::vector<std::uint8_t>;
inline constexpr std::uint8_t kMaxCountedDegree = 254;
inline constexpr std::uint8_t kNotOnLayer = 255;

std::uint8_t counted_degree(std::size_t degree);

// The hubs of one layer: exactly the asked-for share of its nodes, rounded up, those with the most
// neighbors first and of equal ones those of lower id.
struct HubCut {
  unsigned degree = kNotOnLayer + 1u;
  NodeId last = 0;  // the last hub of exactly that degree

  bool contains(NodeId node, unsigned its_degree) const {
    return its_degree != kNotOnLayer &&
           (its_degree > degree || (its_degree == degree && node <= last));
  }
  friend bool operator==(const HubCut&, const HubCut&) = default;
};

HubCut cut_hubs(const Degrees& degrees, double share);

// The limits of one layer.
struct SlimLayer {
  double hub_share;
  std::size_t hub_degree;
  std::size_t low_degree;
  std::size_t full_degree;  // what refining cuts to
  bool is_whole;            // not pruned hierarchically

  std::size_t limit(bool is_hub) const { return is_hub ? hub_degree : low_degree; }
  // Nodes that fewer select are retained first, in the variant by in-degree.
  std::size_t weak_below() const { return low_degree / 2; }
};

SlimLayer slim_layer(const SlimParameters& parameters, unsigned max_degree, unsigned layer);

// Refuses what no graph can be pruned with (kInvalidArgument).
void check_slim_parameters(const SlimParameters& parameters, unsigned max_degree);

// A node's neighbors after hierarchical pruning: those that are not on a higher layer too.
// `out` needs room for kMaxDegree; sorted.
std::size_t unique_neighbors(const Graph& base, std::span<const std::uint8_t> levels,
                             const SlimLayer& rules, NodeId node, unsigned layer, NodeId* out);

// unique_neighbors() of all members of a layer.
LayerLists unique_layer(const Graph& base, std::vector<NodeId> members,
                        std::span<const std::uint8_t> levels, const SlimLayer& rules,
                        unsigned layer, unsigned threads);

Degrees count_degrees(const LayerLists& lists, std::size_t node_count);

// What each member selects among its neighbors, before any link is turned round.
LayerLists select_layer(const Rows& rows, const LayerLists& lists, const Degrees& degrees,
                        const SlimLayer& rules, unsigned threads);

// Appends a node's choice in the variant by in-degree: the nearest weak neighbors fill at most half
// of the limit, then the selector chooses. `is_weak(node)` says who needs links.
template <class IsWeak>
void append_with_weak(const Rows& rows, NodeId node, std::span<const NodeId> nodes,
                      std::size_t limit, const IsWeak& is_weak, SelectScratch& scratch,
                      std::vector<NodeId>& out) {
  measure_candidates(rows, node, nodes, scratch.candidates);
  scratch.kept.clear();
  std::erase_if(scratch.candidates, [&](const Candidate& candidate) {
    if (scratch.kept.size() >= limit / 2 || !is_weak(candidate.node)) return false;
    scratch.kept.push_back(candidate);
    return true;
  });
  const auto between = [&rows](NodeId a, NodeId b) { return rows.between(a, b); };
  select_neighbors(scratch.candidates, limit, between, scratch.kept);
  for (const Candidate& neighbor : scratch.kept) out.push_back(neighbor.node);
}

}  // namespace gossamer
