#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/types.h"

namespace gossamer {

// The k nearest of a stream of candidates, kept sorted. Each node must be offered only once.
class TopK {
 public:
  explicit TopK(std::size_t k = 0) : k_(k) {}

  std::size_t size() const { return items_.size(); }
  bool is_full() const { return items_.size() >= k_; }
  // Whether a candidate this far away would be taken.
  bool takes(float distance) const { return !is_full() || distance < items_.back().distance; }
  void offer(Candidate candidate) {
    if (k_ == 0) return;
    if (is_full()) {
      if (!(candidate < items_.back())) return;
      items_.pop_back();
    }
    items_.insert(std::upper_bound(items_.begin(), items_.end(), candidate), candidate);
  }
  // The farthest candidate held; there must be one.
  const Candidate& last() const { return items_.back(); }
  std::span<const Candidate> items() const { return items_; }

 private:
  std::size_t k_;
  std::vector<Candidate> items_;
};

}  // namespace gossamer
