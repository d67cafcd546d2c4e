#pragma once

#include <cstddef>
#include <limits>
#include <queue>
#include <vector>

#include "base/types.h"
#include "codes/estimate.h"
#include "search/effort.h"
#include "search/layered_walk.h"
#include "search/lookup.h"
#include "search/view.h"

namespace gossamer {

// LEANN's two-level search (algorithm 2) with dynamic batching: exact distances decide where the
// walk goes, estimates decide whose exact distance is worth asking for. Of all nodes estimated so
// far, the nearest share `ratio` is looked at; they are collected over several hops until
// `batch` of them are wanted or the walk cannot go on without them. A small ratio would end the
// walk early, with nothing left to expand: until the beam is full, the nearest estimates are
// looked at then, whatever their rank.
class TwoLevel {
 public:
  TwoLevel(const View& view, const Estimator& estimator, const Effort& effort,
           WalkScratch& scratch);

  // Goes on until the walk is over (true) or vectors are wanted (false). `found(candidate)` is
  // called once for each node whose exact distance is known.
  template <class Found>
  bool resume(Lookup& lookup, const Found& found) {
    while (true) {
      for (Candidate& candidate : pending_) {
        if (candidate.distance == kAskedFor) lookup.find(candidate.node, candidate.distance);
        scratch_.beam.offer(candidate);
        found(candidate);
      }
      pending_.clear();
      if (!advance(lookup)) return true;
      if (!lookup.wanted().empty()) return false;
    }
  }

  std::size_t hops() const { return hops_; }
  std::size_t codes_touched() const { return codes_touched_; }

 private:
  // Stands for a distance that comes with the vectors asked for. Distances found at hand are noted
  // at once: a hot vector may have made room for another by the time the host has answered.
  static constexpr float kAskedFor = std::numeric_limits<float>::infinity();

  // Expands nodes until `batch` are pending or nothing is left to expand; false if nothing is
  // pending then.
  bool advance(Lookup& lookup);
  NodeId descend();
  void estimate_neighbors(NodeId node);
  void promote(Lookup& lookup);
  void take_nearest(Lookup& lookup);
  float estimate(NodeId node) {
    ++codes_touched_;
    return estimator_.estimate(view_.codes->row(node));
  }

  View view_;
  const Estimator& estimator_;
  WalkScratch& scratch_;
  Effort effort_;
  struct Farther {
    bool operator()(const Candidate& a, const Candidate& b) const { return b < a; }
  };
  std::priority_queue<Candidate, std::vector<Candidate>, Farther> waiting_;  // estimated only
  std::vector<float> promoted_;  // estimates of nodes looked at, sorted
  std::size_t estimated_ = 0;
  std::vector<Candidate> pending_;
  std::size_t hops_ = 0;
  std::size_t codes_touched_ = 0;
};

}  // namespace gossamer
