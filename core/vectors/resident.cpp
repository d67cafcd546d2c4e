#include "vectors/resident.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"

namespace gossamer {

namespace {

// Large enough to be worth a block of its own, small enough to be copied without being noticed.
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

unsigned block_shift(std::size_t row_bytes) {
  const std::size_t rows = std::max<std::size_t>(kBlockBytes / std::max<std::size_t>(row_bytes, 1), 1);
  return static_cast<unsigned>(std::bit_width(std::bit_ceil(rows)) - 1);
}

}  // namespace

ResidentRows::ResidentRows(std::size_t row_bytes, std::size_t node_count, std::size_t capacity)
    : row_bytes_(row_bytes), shift_(block_shift(row_bytes)), slot_of_(node_count, kNoSlot) {
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
  // Whatever may lack memory comes first and changes nothing that others see: where there are no
  // exceptions, a failure leaves in the middle of this, and the slots are as they were.
  const std::size_t blocks = (capacity + rows_per_block() - 1) >> shift_;
  blocks_.reserve(blocks);
  fit_blocks(capacity);
  std::vector<NodeId> nodes = fitted(node_at_, capacity, kNoNode);
  std::vector<std::uint32_t> stamps = fitted(stamps_, capacity, std::uint32_t{0});
  for (std::size_t slot = capacity; slot < node_at_.size(); ++slot) forget(slot);
  node_at_ = std::move(nodes);
  stamps_ = std::move(stamps);
  blocks_.resize(blocks);
}

std::vector<std::uint32_t> ResidentRows::fitted(const std::vector<std::uint32_t>& values,
                                                std::size_t count, std::uint32_t filler) {
  std::vector<std::uint32_t> made;
  made.reserve(count);
  made.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(
                                                   std::min(count, values.size())));
  made.resize(count, filler);
  return made;
}

// Blocks for so many slots, the last of them no longer than needed. Those behind it stay until the
// slots are gone; a last one that has to change is replaced by a copy.
void ResidentRows::fit_blocks(std::size_t capacity) {
  for (std::size_t first = 0, i = 0; first < capacity; first += rows_per_block(), ++i) {
    const std::size_t bytes = std::min(rows_per_block(), capacity - first) * row_bytes_;
    if (i == blocks_.size()) {
      blocks_.emplace_back(bytes);
    } else if (blocks_[i].size() != bytes) {
      RowBytes block(bytes);
      std::copy_n(blocks_[i].data(), std::min(bytes, blocks_[i].size()), block.data());
      blocks_[i] = std::move(block);
    }
  }
}

std::size_t ResidentRows::memory_bytes() const {
  return capacity() * row_bytes_ + sizeof(std::uint32_t) * (slot_of_.size() + 2 * node_at_.size());
}

}  // namespace gossamer
