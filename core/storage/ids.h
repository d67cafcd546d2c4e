#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bitmap.h"
#include "base/bytes.h"
#include "base/number_map.h"
#include "base/types.h"

namespace gossamer {

// Ids are what a signed 64-bit number can hold from 0 up: hosts count with those.
inline constexpr std::uint64_t kMaxId = ~std::uint64_t{0} >> 1;

// The public id of each node. Ids 0, 1, 2, ... in the order of nodes take no space.
class IdMap {
 public:
  IdMap() = default;
  // Ids 0 to count - 1.
  static IdMap identity(std::size_t count);
  // kInvalidArgument for an id above kMaxId.
  explicit IdMap(std::span<const std::uint64_t> ids);

  std::size_t size() const { return size_; }
  bool is_identity() const { return wide_.empty() && narrow_.empty(); }
  // Each node's id is its number, whether or not that is how ids are held: they are not stored
  // then.
  bool counts_up() const;
  std::uint64_t id(NodeId node) const {
    if (!narrow_.empty()) return narrow_[node];
    return wide_.empty() ? node : wide_[node];
  }
  // The node of an id; nothing if no node has it. Needs prepare_lookup().
  std::optional<NodeId> find(std::uint64_t id) const;

  // Fails with kDuplicateId unless every node has an id of its own.
  void check_unique() const;
  // Gives a node an id that no other node has; the node after the last is appended.
  void set(NodeId node, std::uint64_t id);
  // The node has no id any more: the id can be used again.
  void release(NodeId node);

  // Builds the way from ids to nodes unless it stands already: few searches need it, so an opened
  // index does not pay for it. Deleted nodes have no id. kDuplicateId if two nodes share one.
  void prepare_lookup(const Bitmap& deleted);

  std::size_t memory_bytes() const;
  // As runs, or packed in as few bits as the largest id needs: whichever is shorter.
  Bytes to_bytes() const;
  static IdMap from_bytes(ByteView bytes, std::size_t count);

 private:
  Bytes write_runs() const;
  Bytes write_packed() const;
  static IdMap read_runs(ByteView bytes, std::size_t count);
  void store(NodeId node, std::uint64_t id);
  // Writes out what was implied, before an id breaks the pattern.
  void spell_out();

  std::size_t size_ = 0;
  std::vector<std::uint32_t> narrow_;
  std::vector<std::uint64_t> wide_;
  NumberMap node_of_;
  bool has_lookup_ = false;
};

}  // namespace gossamer
