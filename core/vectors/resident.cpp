#include "vectors/resident.h"

#include <algorithm>

#include "base/error.h"

namespace gossamer {

ResidentRows::ResidentRows(std::size_t row_bytes, std::size_t node_count, std::size_t capacity)
    : row_bytes_(row_bytes), slot_of_(node_count, kNoSlot) {
  resize(capacity);
}

void ResidentRows::place(std::size_t slot, NodeId node) {
  expect(slot < capacity() && node < node_count(), Reason::kInvalidArgument,
         "there is no such slot, or no such node");
  if (node_at_[slot] != node) {
    forget(slot);
    if (slot_of_[node] != kNoSlot) forget(slot_of_[node]);
    node_at_[slot] = node;
    slot_of_[node] = static_cast<std::uint32_t>(slot);
    ++used_;
  }
  stamps_[slot] = epoch_;
}

void ResidentRows::forget(std::size_t slot) {
  expect(slot < capacity(), Reason::kInvalidArgument, "there is no such slot");
  if (node_at_[slot] == kNoNode) return;
  slot_of_[node_at_[slot]] = kNoSlot;
  node_at_[slot] = kNoNode;
  --used_;
}

void ResidentRows::resize(std::size_t capacity) {
  capacity = std::min(capacity, node_count());
  for (std::size_t slot = capacity; slot < node_at_.size(); ++slot) forget(slot);
  node_at_.resize(capacity, kNoNode);
  stamps_.resize(capacity, 0);
  rows_.resize(capacity * row_bytes_);
  node_at_.shrink_to_fit();
  stamps_.shrink_to_fit();
  rows_.shrink_to_fit();
}

std::size_t ResidentRows::memory_bytes() const {
  return rows_.size() + sizeof(std::uint32_t) * (slot_of_.size() + 2 * node_at_.size());
}

}  // namespace gossamer
