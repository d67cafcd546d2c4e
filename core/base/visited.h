#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace gossamer {

// Which nodes one search has seen. Starting over costs nothing: a node counts as seen only if it
// carries the mark of the current search, so the array is swept once in 65,535 searches.
class Visited {
 public:
  void start(std::size_t node_count) {
    if (marks_.size() < node_count) marks_.resize(node_count, 0);
    if (++mark_ == 0) {
      marks_.assign(marks_.size(), 0);
      mark_ = 1;
    }
  }
  // True the first time a node is met.
  bool insert(NodeId node) {
    if (marks_[node] == mark_) return false;
    marks_[node] = mark_;
    return true;
  }
  bool contains(NodeId node) const { return marks_[node] == mark_; }
  void prefetch(NodeId node) const { __builtin_prefetch(marks_.data() + node); }

 private:
  std::vector<std::uint16_t> marks_;
  std::uint16_t mark_ = 0;
};

}  // namespace gossamer
