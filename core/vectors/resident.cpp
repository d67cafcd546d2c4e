#include "vectors/resident.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"

namespace gossamer {

namespace {

// Large enough to be worth a block of its own, small enough to be copied without being noticed.
constexpr std::size_t kBlockBytes = std::size_t{512} << 10;

unsigned shift_for(std::size_t row_bytes) {
  const std::size_t rows = kBlockBytes / std::max<std::size_t>(row_bytes, 1);
  return static_cast<unsigned>(std::countr_zero(std::bit_ceil(std::max<std::size_t>(rows, 1))));
}

// The first of some values, and fillers behind them, in no more memory than that takes.
std::vector<std::uint32_t> fitted(const std::vector<std::uint32_t>& values, std::size_t count,
                                  std::uint32_t filler) {
  std::vector<std::uint32_t> made(count, filler);
  std::copy_n(values.begin(), std::min(count, values.size()), made.begin());
  return made;
}

}  // namespace

ResidentRows::ResidentRows(std::size_t row_bytes, std::size_t node_count, std::size_t capacity)
    : row_bytes_(row_bytes), shift_(shift_for(row_bytes)), slot_of_(node_count, kNoSlot) {
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
  // What may lack memory comes first and changes nothing that others see: where there are no
  // exceptions a failure leaves from the middle of this, and all slots are as they were.
  grow_blocks(capacity);
  std::vector<NodeId> nodes = fitted(node_at_, capacity, kNoNode);
  std::vector<std::uint32_t> stamps = fitted(stamps_, capacity, 0);
  for (std::size_t slot = capacity; slot < node_at_.size(); ++slot) forget(slot);
  node_at_ = std::move(nodes);
  stamps_ = std::move(stamps);
  trim_blocks();
}

// Rows for so many slots. Full blocks stay where they are; one that grows is replaced by a copy.
void ResidentRows::grow_blocks(std::size_t capacity) {
  blocks_.reserve(block_count(capacity));
  for (std::size_t i = 0; i < block_count(capacity); ++i) {
    const std::size_t bytes = bytes_of_block(i, capacity);
    if (i == blocks_.size()) blocks_.emplace_back();
    if (blocks_[i].size() < bytes) replace_block(i, bytes);
  }
}

// No more rows than there are slots.
void ResidentRows::trim_blocks() {
  blocks_.resize(block_count(capacity()));
  if (blocks_.empty()) return;
  const std::size_t last = blocks_.size() - 1;
  const std::size_t bytes = bytes_of_block(last, capacity());
  if (blocks_[last].size() > bytes) replace_block(last, bytes);
}

void ResidentRows::replace_block(std::size_t i, std::size_t bytes) {
  RowBytes block(bytes);
  std::copy_n(blocks_[i].data(), std::min(bytes, blocks_[i].size()), block.data());
  blocks_[i] = std::move(block);
}

std::size_t ResidentRows::bytes_of_block(std::size_t i, std::size_t capacity) const {
  const std::size_t rows = std::size_t{1} << shift_;
  return std::min(rows, capacity - i * rows) * row_bytes_;
}

std::size_t ResidentRows::memory_bytes() const {
  return capacity() * row_bytes_ + sizeof(std::uint32_t) * (slot_of_.size() + 2 * node_at_.size());
}

}  // namespace gossamer
