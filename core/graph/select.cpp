#include "graph/select.h"

#include <algorithm>

namespace gossamer {

void select_neighbors(const Rows& rows, std::span<const Candidate> candidates, std::size_t limit,
                      std::vector<Candidate>& kept) {
  kept.clear();
  const auto between = [&rows](NodeId a, NodeId b) { return rows.between(a, b); };
  select_neighbors(candidates, limit, between, kept);
}

void measure_candidates(const Rows& rows, NodeId node, std::span<const NodeId> nodes,
                        std::vector<Candidate>& candidates) {
  for (const NodeId other : nodes) rows.prefetch(other);
  candidates.clear();
  for (const NodeId other : nodes) candidates.push_back({rows.between(node, other), other});
  std::sort(candidates.begin(), candidates.end(), NearerTo(node));
}

}  // namespace gossamer
