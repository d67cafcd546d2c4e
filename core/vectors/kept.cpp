#include "vectors/kept.h"

#include <algorithm>

#include "base/error.h"

namespace gossamer {

Kept::Kept(Keep keep, const Space& space, std::size_t budget)
    : keep_(keep), budget_(keep == Keep::kHot ? budget : 0), rows_(space.row_bytes()) {}

Kept::Kept(const Space& space, Column rows)
    : keep_(Keep::kAll), budget_(0), rows_(std::move(rows)) {
  expect(rows_.row_bytes() == space.row_bytes(), Reason::kDamaged,
         "the kept vectors have another row length than their space");
}

Kept::Kept(Keep keep, std::shared_ptr<ResidentRows> resident)
    : keep_(keep), budget_(0), rows_(resident->row_bytes()), resident_(std::move(resident)) {}

Kept::Kept(const Space& space, std::size_t budget, std::span<const NodeId> nodes,
           std::size_t pinned, Column rows)
    : keep_(Keep::kHot),
      budget_(budget),
      rows_(std::move(rows)),
      nodes_(nodes.begin(), nodes.end()),
      pinned_(pinned) {
  expect(rows_.row_bytes() == space.row_bytes() && rows_.count() == nodes_.size() &&
             pinned_ <= nodes_.size(),
         Reason::kDamaged, "the kept vectors do not match the list of their nodes");
  slots_.reserve(nodes_.size());
  for (std::uint32_t slot = 0; slot < nodes_.size(); ++slot) {
    if (nodes_[slot] == kNoNode) continue;
    expect(slots_.insert(nodes_[slot], slot), Reason::kDamaged, "a node has two kept vectors");
  }
}

void Kept::set(const Space& space, NodeId node, const float* vector) {
  std::vector<std::uint8_t> row(space.row_bytes());
  space.encode_row(vector, row.data());
  rows_.set(node, row.data());
}

bool Kept::pin(const Space& space, NodeId node, const float* vector) {
  if (slots_.contains(node)) return true;
  if (pinned_ != nodes_.size() || nodes_.size() >= capacity()) return false;
  place(space, static_cast<std::uint32_t>(nodes_.size()), node, vector);
  ++pinned_;
  return true;
}

void Kept::remember(const Space& space, NodeId node, const float* vector) {
  if (keep_ != Keep::kHot || slots_.contains(node) || capacity() <= pinned_) return;
  if (nodes_.size() < capacity()) {
    place(space, static_cast<std::uint32_t>(nodes_.size()), node, vector);
    return;
  }
  const std::size_t room = capacity() - pinned_;
  const auto slot = static_cast<std::uint32_t>(pinned_ + oldest_ % room);
  oldest_ = (oldest_ + 1) % room;
  if (nodes_[slot] != kNoNode) slots_.erase(nodes_[slot]);
  place(space, slot, node, vector);
}

void Kept::forget(NodeId node) {
  const std::uint64_t* slot = slots_.find(node);
  if (slot == nullptr) return;
  nodes_[*slot] = kNoNode;
  slots_.erase(node);
}

void Kept::place(const Space& space, std::uint32_t slot, NodeId node, const float* vector) {
  if (slot == nodes_.size()) nodes_.push_back(kNoNode);
  set(space, slot, vector);
  nodes_[slot] = node;
  slots_.set(node, slot);
}

}  // namespace gossamer
