#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/number_map.h"
#include "base/types.h"
#include "distance/space.h"
#include "vectors/column.h"
#include "vectors/resident.h"

namespace gossamer {

enum class Keep : std::uint8_t {
  kNone = 0,  // no vectors: a search asks for the few it needs
  kHot = 1,   // as many as a byte budget holds
  kAll = 2,   // every vector
};

// The vectors an index keeps, by node. A kept vector is never asked for.
class Kept {
 public:
  // `budget` is the number of bytes that rows may take; it matters for kHot only.
  Kept(Keep keep, const Space& space, std::size_t budget = 0);
  // All rows at once (kAll): row i belongs to node i.
  Kept(const Space& space, Column rows);
  // All rows, but stored elsewhere: those that the host puts into slots are in memory.
  Kept(Keep keep, std::shared_ptr<ResidentRows> resident);
  // Hot rows as they were stored: row i belongs to nodes[i], the first `pinned` of them for good.
  Kept(const Space& space, std::size_t budget, std::span<const NodeId> nodes, std::size_t pinned,
       Column rows);

  Keep keep() const { return keep_; }
  std::size_t budget() const { return budget_; }
  std::size_t count() const { return rows_.count(); }
  // Whether every row is at hand.
  bool has_all() const { return keep_ == Keep::kAll && resident_ == nullptr; }
  // The rows at hand of vectors that are stored elsewhere; null if they are not.
  ResidentRows* resident() const { return resident_.get(); }
  const Column& column() const { return rows_; }
  // Hot mode: the node of each row, pinned ones first.
  std::span<const NodeId> nodes() const { return nodes_; }
  std::size_t pinned() const { return pinned_; }
  std::size_t capacity() const { return rows_.row_bytes() == 0 ? 0 : budget_ / rows_.row_bytes(); }

  // The row of a node, or null if it is not kept.
  Row find(NodeId node) const {
    if (resident_ != nullptr) return resident_->find(node);
    if (keep_ == Keep::kAll) return rows_.row(node);
    if (slots_.empty()) return nullptr;
    const std::uint64_t* slot = slots_.find(node);
    return slot == nullptr ? nullptr : rows_.row(static_cast<NodeId>(*slot));
  }

  // kAll: a new or changed vector of a node (the one after the last is appended).
  void set(const Space& space, NodeId node, const float* vector);
  // kAll: rows as another index keeps them, as Column::fill() takes them.
  void fill(std::span<const NodeId> nodes, const std::uint8_t* rows) { rows_.fill(nodes, rows); }
  // kHot: keeps a vector for good while the budget lasts (a hub). Says whether it is kept.
  bool pin(const Space& space, NodeId node, const float* vector);
  // kHot: keeps a vector that was just asked for; the oldest such vector makes room.
  void remember(const Space& space, NodeId node, const float* vector);
  // kHot: the node has another vector now, or none.
  void forget(NodeId node);

 private:
  void place(const Space& space, std::uint32_t slot, NodeId node, const float* vector);

  Keep keep_;
  std::size_t budget_;
  Column rows_;
  std::shared_ptr<ResidentRows> resident_;
  std::vector<NodeId> nodes_;  // of each row; kNoNode where a row was forgotten
  NumberMap slots_;            // of each node that has one
  std::size_t pinned_ = 0;
  std::size_t oldest_ = 0;  // which of the rows after the pinned ones makes room next
};

}  // namespace gossamer
