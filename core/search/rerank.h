#pragma once

#include <cstddef>
#include <vector>

#include "base/top_k.h"
#include "base/types.h"
#include "search/effort.h"
#include "search/lookup.h"

namespace gossamer {

// Looks at candidates exactly, nearest estimate first, until the k nearest are not expected to
// change any more. Estimates are off in two ways: by an amount common to the candidates of this
// query, which is learnt from those already looked at, and by scatter around it, whose standard
// deviation the codes predict. Easy queries therefore stop early.
class Rerank {
 public:
  // `candidates` are sorted by estimate; `error` is the standard deviation of an estimate; `unit`
  // is what one of a raw exact distance is worth in estimates (Space::raw_unit). `exact` are their
  // exact distances if they are known already (calibration), else empty.
  Rerank(std::vector<Candidate> candidates, float error, std::size_t k, const Effort& effort,
         float unit = 1.0f, std::vector<float> exact = {});

  enum class State {
    kOver,      // the hits stand
    kWaiting,   // vectors are wanted
    kNeedMore,  // every candidate was looked at, and the next ones might still matter
  };
  // Goes on until one of the states is reached. `lookup` may be null if all distances are known.
  State resume(Lookup* lookup, TopK& hits);

  std::size_t candidate_count() const { return candidates_.size(); }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  std::size_t looked_at() const { return absorbed_; }
  // The same candidates and more: those looked at already must come in the same order.
  void extend(std::vector<Candidate> candidates) { candidates_ = std::move(candidates); }

 private:
  void absorb(const Lookup* lookup, TopK& hits);
  std::size_t next_end(const TopK& hits, bool& need_more) const;
  // How far to go for `wanted` candidates, which is more than were asked for.
  std::size_t end_for(std::size_t wanted) const;

  std::vector<Candidate> candidates_;
  float error_;
  double unit_;
  std::size_t k_;
  Effort effort_;
  std::vector<float> exact_;  // distances found at hand; kAskedFor where the host was asked
  std::size_t asked_ = 0;     // candidates before this one were asked for or found at hand
  std::size_t absorbed_ = 0;  // candidates before this one are in the hits
  std::size_t missing_ = 0;   // of those, how many have vectors that are not to be had
  double residual_sum_ = 0;   // exact distance - estimate, over those absorbed
};

}  // namespace gossamer
