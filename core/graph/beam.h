#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"
#include "base/visited.h"

namespace gossamer {

// The `width` nearest candidates met so far, sorted, each with a mark that says whether it was
// expanded. One sorted array serves as both heaps of the textbook search: at the widths of a
// build, moving a few hundred bytes is cheaper than sifting.
class Beam {
 public:
  // Node ids must stay below this: the top bit is the mark.
  static constexpr NodeId kMaxNodes = NodeId{1} << 31;

  // Equally near candidates are held in the order of id ^ salt.
  void start(std::size_t width, NodeId salt = 0) {
    width_ = width;
    salt_ = salt;
    items_.clear();
    items_.reserve(width + 1);
    cursor_ = 0;
  }
  // Takes a candidate in if it is among the nearest; each node must be offered only once.
  void offer(Candidate candidate) {
    if (items_.size() == width_) {
      if (!is_nearer(candidate, items_.back())) return;
      items_.pop_back();
    }
    const auto place = std::upper_bound(
        items_.begin(), items_.end(), candidate,
        [this](const Candidate& a, const Candidate& b) { return is_nearer(a, b); });
    const auto index = static_cast<std::size_t>(place - items_.begin());
    items_.insert(place, candidate);
    cursor_ = std::min(cursor_, index);
  }
  std::size_t size() const { return items_.size(); }
  // The nearest candidate not expanded yet, which counts as expanded from now on; kNoNode when
  // all are.
  NodeId next() {
    advance();
    if (cursor_ == items_.size()) return kNoNode;
    const NodeId node = items_[cursor_].node;
    items_[cursor_].node |= kExpanded;
    return node;
  }
  // What next() would give, without expanding it.
  NodeId peek() {
    advance();
    return cursor_ == items_.size() ? kNoNode : items_[cursor_].node;
  }
  // Clears the marks and gives everything held, nearest first.
  std::span<const Candidate> finish() {
    for (Candidate& item : items_) item.node &= ~kExpanded;
    cursor_ = 0;
    return items_;
  }

 private:
  static constexpr NodeId kExpanded = kMaxNodes;

  bool is_nearer(const Candidate& a, const Candidate& b) const {
    return a.distance < b.distance || (a.distance == b.distance && order(a.node) < order(b.node));
  }
  NodeId order(NodeId node) const { return (node & ~kExpanded) ^ salt_; }
  void advance() {
    while (cursor_ < items_.size() && (items_[cursor_].node & kExpanded) != 0) ++cursor_;
  }

  std::vector<Candidate> items_;
  std::size_t width_ = 0;
  NodeId salt_ = 0;
  std::size_t cursor_ = 0;
};

}  // namespace gossamer
