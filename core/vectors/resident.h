#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/types.h"
#include "distance/space.h"

namespace gossamer {

// Rows in memory of vectors that are stored elsewhere: slots that the host fills, in the order it
// likes, and that searches look nodes up in. Which rows stay is the host's choice; stamps tell it
// which were looked at. Looking up is safe from many threads, changing slots is not.
class ResidentRows {
 public:
  static constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

  ResidentRows(std::size_t row_bytes, std::size_t node_count, std::size_t capacity);

  std::size_t row_bytes() const { return row_bytes_; }
  std::size_t node_count() const { return slot_of_.size(); }
  std::size_t capacity() const { return node_at_.size(); }
  std::size_t used() const { return used_; }
  std::uint32_t slot_of(NodeId node) const { return slot_of_[node]; }
  NodeId node_at(std::size_t slot) const { return node_at_[slot]; }

  // The row of a node, or null if it is not in memory.
  Row find(NodeId node) const {
    const std::uint32_t slot = slot_of_[node];
    if (slot == kNoSlot) return nullptr;
    __atomic_store_n(&stamps_[slot], epoch_, __ATOMIC_RELAXED);
    return blocks_[slot >> shift_].data() + place_in_block(slot);
  }

  // Where the host writes a slot's row, before it says with place() whose row that is.
  std::uint8_t* bytes_of(std::size_t slot) {
    return blocks_[slot >> shift_].data() + place_in_block(slot);
  }
  // The rows of slots lie in blocks of 1 << block_shift() rows.
  unsigned block_shift() const { return shift_; }
  std::size_t block_count() const { return blocks_.size(); }
  // The slot holds the row of this node now; what it held before is forgotten, and so is another
  // row of the node.
  void place(std::size_t slot, NodeId node);
  // Empties a slot.
  void forget(std::size_t slot);
  // Another number of slots, at most one a node; rows in slots that go are forgotten. Takes no more
  // memory on the way than one block; where there is not enough, slots are as they were.
  void resize(std::size_t capacity);

  // The slot of each node (kNoSlot) and the node of each slot (kNoNode).
  std::span<const std::uint32_t> slots() const { return slot_of_; }
  std::span<const NodeId> nodes() const { return node_at_; }
  // When each slot was last looked at or filled: the number of the search.
  std::span<const std::uint32_t> stamps() const { return stamps_; }
  void begin_search() { ++epoch_; }

  // What all this takes.
  std::size_t memory_bytes() const;

 private:
  std::size_t place_in_block(std::size_t slot) const {
    return (slot & ((std::size_t{1} << shift_) - 1)) * row_bytes_;
  }
  std::size_t block_count(std::size_t capacity) const {
    return (capacity + (std::size_t{1} << shift_) - 1) >> shift_;
  }
  std::size_t bytes_of_block(std::size_t i, std::size_t capacity) const;
  void grow_blocks(std::size_t capacity);
  void trim_blocks();
  void replace_block(std::size_t i, std::size_t bytes);

  std::size_t row_bytes_;
  unsigned shift_;
  std::vector<RowBytes> blocks_;        // the last one is no longer than its slots
  std::vector<std::uint32_t> slot_of_;  // by node
  std::vector<NodeId> node_at_;         // by slot; kNoNode for an empty one
  mutable std::vector<std::uint32_t> stamps_;
  std::uint32_t epoch_ = 0;
  std::size_t used_ = 0;
};

}  // namespace gossamer
