#include "search/two_level.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gossamer {

TwoLevel::TwoLevel(const View& view, const Estimator& estimator, const Effort& effort,
                   WalkScratch& scratch)
    : view_(view), estimator_(estimator), scratch_(scratch), effort_(effort) {
  if (view.graph->entry() == kNoNode) return;
  const NodeId start = descend();
  scratch_.visited.start(view.graph->node_count());
  if (view.hidden != kNoNode) scratch_.visited.insert(view.hidden);
  scratch_.visited.insert(start);
  scratch_.beam.start(effort.beam);
  waiting_.push({estimate(start), start});
  ++estimated_;
}

bool TwoLevel::advance(Lookup& lookup) {
  promote(lookup);
  const std::size_t target = std::max<std::size_t>(effort_.batch, 1);
  while (pending_.size() < target) {
    const NodeId node = scratch_.beam.next();
    if (node != kNoNode) {
      estimate_neighbors(node);
      promote(lookup);
    } else if (!waiting_.empty() && scratch_.beam.size() + pending_.size() < effort_.beam) {
      take_nearest(lookup);
    } else {
      break;
    }
  }
  return !pending_.empty();
}

// Above the base layer estimates are good enough to find an entry, and cost no vectors.
NodeId TwoLevel::descend() {
  const Graph& graph = *view_.graph;
  std::array<NodeId, kMaxDegree> list;
  Candidate nearest{estimate(graph.entry()), graph.entry()};
  for (unsigned layer = graph.max_level(); layer > 0; --layer) {
    for (bool moved = true; moved;) {
      moved = false;
      const std::size_t count = graph.neighbors(nearest.node, layer, list.data());
      ++hops_;
      for (std::size_t i = 0; i < count; ++i) {
        const Candidate candidate{estimate(list[i]), list[i]};
        if (candidate < nearest) {
          nearest = candidate;
          moved = true;
        }
      }
    }
  }
  return nearest.node;
}

void TwoLevel::estimate_neighbors(NodeId node) {
  std::array<NodeId, kMaxDegree> list;
  const std::size_t count = view_.graph->neighbors(node, 0, list.data());
  ++hops_;
  for (std::size_t i = 0; i < count; ++i) {
    if (!scratch_.visited.insert(list[i])) continue;
    waiting_.push({estimate(list[i]), list[i]});
    ++estimated_;
  }
}

// Takes the estimated nodes that rank among the nearest `ratio` of all estimated so far.
void TwoLevel::promote(Lookup& lookup) {
  const double share = static_cast<double>(effort_.ratio) * static_cast<double>(estimated_);
  const auto allowed = static_cast<std::size_t>(std::ceil(share));
  while (!waiting_.empty()) {
    const Candidate nearest = waiting_.top();
    const auto place = std::lower_bound(promoted_.begin(), promoted_.end(), nearest.distance);
    if (static_cast<std::size_t>(place - promoted_.begin()) >= allowed) return;
    take_nearest(lookup);
  }
}

void TwoLevel::take_nearest(Lookup& lookup) {
  const Candidate nearest = waiting_.top();
  waiting_.pop();
  promoted_.insert(std::lower_bound(promoted_.begin(), promoted_.end(), nearest.distance),
                   nearest.distance);
  float distance = kAskedFor;
  if (!lookup.find(nearest.node, distance)) lookup.want(nearest.node);
  pending_.push_back({distance, nearest.node});
}

}  // namespace gossamer
