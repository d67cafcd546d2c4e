#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace gossamer {

// The graph while it is being built: fixed slots for every list, so that workers write in place.
// Lists are read without a lock: a reader may see a list half old and half new, but every slot it
// sees holds a node whose own lists were written before, which is all a search needs. Writers of
// one node's lists hold its lock.
class FlatGraph {
 public:
  FlatGraph(std::vector<std::uint8_t> levels, std::size_t base_degree, std::size_t upper_degree)
      : levels_(std::move(levels)),
        base_stride_(base_degree + 1),
        upper_stride_(upper_degree + 1),
        base_(levels_.size() * base_stride_),
        locks_(levels_.size()) {
    upper_starts_.reserve(levels_.size());
    std::size_t lists = 0;
    for (const std::uint8_t level : levels_) {
      upper_starts_.push_back(static_cast<std::uint32_t>(lists));
      lists += level;
    }
    upper_.resize(lists * upper_stride_);
  }

  std::size_t node_count() const { return levels_.size(); }
  unsigned level(NodeId node) const { return levels_[node]; }

  std::size_t neighbors(NodeId node, unsigned layer, NodeId* out) const {
    const Slot* slots = list(node, layer);
    const NodeId count = slots[0].load(std::memory_order_acquire);
    for (NodeId i = 0; i < count; ++i) out[i] = slots[i + 1].load(std::memory_order_acquire);
    return count;
  }
  void set_neighbors(NodeId node, unsigned layer, std::span<const NodeId> neighbors) {
    Slot* slots = list(node, layer);
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
      slots[i + 1].store(neighbors[i], std::memory_order_release);
    }
    slots[0].store(static_cast<NodeId>(neighbors.size()), std::memory_order_release);
  }
  void prefetch(NodeId node) const {
    const Slot* slots = base_.data() + node * base_stride_;
    __builtin_prefetch(slots);
    __builtin_prefetch(slots + 16);
  }

  void lock(NodeId node) {
    while (locks_[node].exchange(1, std::memory_order_acquire) != 0) {
    }
  }
  void unlock(NodeId node) { locks_[node].store(0, std::memory_order_release); }

 private:
  // Copyable only so that vectors of it can be sized; never copied once workers run.
  template <class T>
  struct Atomic : std::atomic<T> {
    Atomic() : std::atomic<T>(0) {}
    Atomic(const Atomic&) : std::atomic<T>(0) {}
  };
  using Slot = Atomic<NodeId>;  // the first slot of a list is its length

  const Slot* list(NodeId node, unsigned layer) const {
    if (layer == 0) return base_.data() + node * base_stride_;
    return upper_.data() + (upper_starts_[node] + layer - 1) * upper_stride_;
  }
  Slot* list(NodeId node, unsigned layer) {
    return const_cast<Slot*>(static_cast<const FlatGraph*>(this)->list(node, layer));
  }

  std::vector<std::uint8_t> levels_;
  std::size_t base_stride_;
  std::size_t upper_stride_;
  std::vector<Slot> base_;
  std::vector<Slot> upper_;
  std::vector<std::uint32_t> upper_starts_;
  std::vector<Atomic<std::uint8_t>> locks_;
};

}  // namespace gossamer
