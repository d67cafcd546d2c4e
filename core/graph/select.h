#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "distance/space.h"

namespace gossamer {

// The order in which a node looks at candidates: nearest first, and equally near ones in an order
// of its own. If all took equal ones by id, many copies of one vector would all link to the same
// few, and most of them would be found by nobody.
class NearerTo {
 public:
  explicit NearerTo(NodeId node) : salt_(salt_of(node)) {}

  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.distance < b.distance ||
           (a.distance == b.distance && (a.node ^ salt_) < (b.node ^ salt_));
  }
  // Less than 2^31.
  static NodeId salt_of(NodeId node) {
    return static_cast<NodeId>((std::uint64_t{node} * 0x9e3779b97f4a7c15ULL) >> 33);
  }

 private:
  NodeId salt_;
};

// The one neighbor selector: build, update and every pruning choose with it, so that choosing
// again from the same candidates always gives the same neighbors.
//
// Walks `candidates` (sorted by NearerTo the node, without duplicates) and keeps one unless a
// neighbor kept before is nearer to it than the node being connected is; stops when `kept` holds
// `limit`. What `kept` holds at the start stays and shadows candidates like any other neighbor.
// `between(a, b)` is the distance between two nodes.
template <class Between>
void select_neighbors(std::span<const Candidate> candidates, std::size_t limit,
                      const Between& between, std::vector<Candidate>& kept) {
  for (const Candidate& candidate : candidates) {
    if (kept.size() >= limit) break;
    bool is_shadowed = false;
    for (const Candidate& neighbor : kept) {
      if (between(candidate.node, neighbor.node) < candidate.distance) {
        is_shadowed = true;
        break;
      }
    }
    if (!is_shadowed) kept.push_back(candidate);
  }
}

// The same over rows in memory, starting from nothing: `kept` is cleared first.
void select_neighbors(const Rows& rows, std::span<const Candidate> candidates, std::size_t limit,
                      std::vector<Candidate>& kept);

// `nodes` with their distances from `node`, sorted by NearerTo it: what the selector walks.
void measure_candidates(const Rows& rows, NodeId node, std::span<const NodeId> nodes,
                        std::vector<Candidate>& candidates);

}  // namespace gossamer
