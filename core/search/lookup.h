#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/number_map.h"
#include "base/types.h"
#include "distance/space.h"
#include "search/view.h"

namespace gossamer {

// Exact distances from one query, as far as they can be had without asking: the vector is kept,
// or the host has supplied it. What cannot is put on the list of wanted nodes, except for deleted
// nodes, which the host does not know any more, and those whose vectors it said it cannot give.
class Lookup {
 public:
  // `query` has the dimension of the space and is finite.
  Lookup(const View& view, const float* query);

  // Finds the exact distance of a node if its vector is at hand.
  bool find(NodeId node, float& distance) const {
    if (const Row row = view_.kept->find(node); row != nullptr) {
      distance = view_.space->from_query(prepared_.data(), row);
      ++measured_;
      return true;
    }
    if (const std::uint64_t* known = known_.find(node); known != nullptr) {
      distance = std::bit_cast<float>(static_cast<std::uint32_t>(*known));
      return true;
    }
    const bool is_deleted = view_.deleted != nullptr && view_.deleted->contains(node);
    if (!is_deleted && !is_missing(node)) return false;
    distance = measure_code(node);
    return true;
  }
  // Whether the host said that a node's vector is not to be had: it may be walked through, with
  // the distance of what its code stands for, and is never a hit.
  bool is_missing(NodeId node) const { return !missing_.empty() && missing_.contains(node); }
  void prefetch(NodeId node) const {
    if (const Row row = view_.kept->find(node); row != nullptr) {
      for (std::size_t at = 0; at < prefetched_; at += 64) bring_near(row + at);
    }
  }

  // Puts a node whose distance is not at hand on the list; each node is asked for once.
  void want(NodeId node) { wanted_.push_back(node); }
  std::span<const NodeId> wanted() const { return wanted_; }
  // The vector of each of wanted(), in that order, null where it is not to be had; the list is
  // empty afterwards.
  void supply(std::span<const float* const> vectors);

  // The same with rows as the index keeps them, which need to stay only for what follows at once.
  void supply_rows(std::span<const Row> rows);

  std::size_t asked() const { return asked_; }
  std::size_t measured() const { return measured_; }

 private:
  static void bring_near(Row line) {
#if defined(__wasm__)
    // There is no instruction for it; a load that nobody waits for does the same.
    static_cast<void>(*static_cast<const volatile std::uint8_t*>(line));
#else
    __builtin_prefetch(line);
#endif
  }
  void remember(NodeId node, float distance) {
    known_.insert(node, std::bit_cast<std::uint32_t>(distance));
    ++measured_;
  }
  float measure(const float* vector, std::uint8_t* row) const;
  // How far what a node's code stands for is: all that is left of a deleted or missing node, and
  // enough to walk through it.
  float measure_code(NodeId node) const;

  View view_;
  Space single_;  // what supplied vectors are measured in: the space, but for f16 rows in f32
  RowBytes prepared_;
  NumberMap known_;  // the bits of each distance
  NumberMap missing_;
  std::vector<NodeId> wanted_;
  std::size_t prefetched_;
  std::size_t asked_ = 0;
  mutable std::size_t measured_ = 0;
};

}  // namespace gossamer
