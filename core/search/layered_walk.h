#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"
#include "base/visited.h"
#include "graph/beam.h"
#include "graph/graph.h"

namespace gossamer {

// What a walk needs besides the graph; kept from one search to the next.
struct WalkScratch {
  Visited visited;
  Beam beam;
};

// A best-first walk down the layers of a graph that can stop in the middle when distances are
// missing and go on when they are at hand (WebANNS, algorithm 1). Greedy above the graph's
// trade-off layer; the full beam, one shared set of seen nodes and all candidates handed down
// from there (HNSW-Slim, algorithms 2 and 5).
class LayeredWalk {
 public:
  // `patience` is how many distances may be missing before the walk stops for them: 0 asks after
  // every hop. Missing distances are always asked for at the end of a layer. WebANNS stops at `ef`,
  // which is 1 on greedy layers; here the patience is the same on all, for fewer stops.
  // `hidden` is a node to pass by (kNoNode for none).
  LayeredWalk(const Graph& graph, std::size_t width, std::size_t patience, NodeId hidden,
              WalkScratch& scratch)
      : graph_(graph), scratch_(scratch), width_(width), patience_(patience), hidden_(hidden) {
    layer_ = graph.max_level();
    start_layer({});
    if (graph.entry() != kNoNode) {
      scratch_.visited.insert(graph.entry());
      missing_.push_back(graph.entry());
    }
  }

  // Goes on until the walk is over (true) or the distances of missing() are needed (false).
  // `measure(node, distance)` says whether the distance is at hand; `prefetch(node)` brings near
  // what it will read; `found(candidate)` is called once for each node of the beam layers.
  template <class Measure, class Prefetch, class Found>
  bool resume(const Measure& measure, const Prefetch& prefetch, const Found& found) {
    while (true) {
      take_missing(measure, found);
      if (!expand(measure, prefetch, found)) return false;
      if (layer_ == 0) return true;
      descend(found);
    }
  }

  std::span<const NodeId> missing() const { return missing_; }
  // The nearest nodes of the last layer, once the walk is over.
  std::span<const Candidate> nearest() { return scratch_.beam.finish(); }
  std::size_t hops() const { return hops_; }

 private:
  bool is_beam_layer() const { return layer_ <= graph_.tradeoff_layer(); }

  template <class Found>
  void offer(const Candidate& candidate, const Found& found) {
    scratch_.beam.offer(candidate);
    if (is_beam_layer()) found(candidate);
  }

  template <class Measure, class Found>
  void take_missing(const Measure& measure, const Found& found) {
    std::size_t still = 0;
    for (const NodeId node : missing_) {
      float distance = 0;
      if (measure(node, distance)) {
        offer({distance, node}, found);
      } else {
        missing_[still++] = node;
      }
    }
    missing_.resize(still);
  }

  // Walks the layer; false if it has to stop for missing distances.
  template <class Measure, class Prefetch, class Found>
  bool expand(const Measure& measure, const Prefetch& prefetch, const Found& found) {
    std::array<NodeId, kMaxDegree> list;
    Beam& beam = scratch_.beam;
    while (missing_.size() <= patience_) {
      const NodeId node = beam.next();
      if (node == kNoNode) return missing_.empty();
      ++hops_;
      const std::size_t count = graph_.neighbors(node, layer_, list.data());
      std::size_t fresh = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (!scratch_.visited.insert(list[i])) continue;
        prefetch(list[i]);
        list[fresh++] = list[i];
      }
      if (const NodeId ahead = beam.peek(); ahead != kNoNode) graph_.prefetch(ahead);
      for (std::size_t i = 0; i < fresh; ++i) {
        float distance = 0;
        if (measure(list[i], distance)) {
          offer({distance, list[i]}, found);
        } else {
          missing_.push_back(list[i]);
        }
      }
    }
    return false;
  }

  template <class Found>
  void descend(const Found& found) {
    const std::span<const Candidate> nearest = scratch_.beam.finish();
    const std::vector<Candidate> entries(nearest.begin(), nearest.end());
    const bool was_beam_layer = is_beam_layer();
    --layer_;
    start_layer(entries);
    if (!was_beam_layer && is_beam_layer()) {
      for (const Candidate& entry : entries) found(entry);
    }
  }

  // Candidates of greedy layers must be met again further down; those of beam layers need not.
  void start_layer(std::span<const Candidate> entries) {
    const bool is_first_beam_layer =
        layer_ == std::min(graph_.tradeoff_layer(), graph_.max_level());
    if (!is_beam_layer() || is_first_beam_layer) {
      scratch_.visited.start(graph_.node_count());
      if (hidden_ != kNoNode) scratch_.visited.insert(hidden_);
    }
    scratch_.beam.start(is_beam_layer() ? width_ : 1);
    for (const Candidate& entry : entries) {
      scratch_.visited.insert(entry.node);
      scratch_.beam.offer(entry);
    }
  }

  const Graph& graph_;
  WalkScratch& scratch_;
  std::size_t width_;
  std::size_t patience_;
  NodeId hidden_;
  unsigned layer_ = 0;
  std::vector<NodeId> missing_;
  std::size_t hops_ = 0;
};

}  // namespace gossamer
