#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/types.h"
#include "graph/delta.h"
#include "index/options.h"

namespace gossamer {

// What leads from one state of an index to a later one: every place that was filled since, every
// one that was emptied, and the changes of the graph.
struct IndexDelta {
  // What an index must be to take it.
  struct Shape {
    std::uint32_t dim = 0;
    Metric metric = Metric::kInnerProduct;
    Scalar scalar = Scalar::kF16;
    Keep keep = Keep::kNone;
    GraphKind graph = GraphKind::kNone;
    float scale = 1.0f;
    std::uint32_t code_bytes = 0;
    std::uint32_t row_bytes = 0;  // of kept vectors; 0 where none are kept
    std::uint64_t codebook = 0;   // fingerprint

    friend bool operator==(const Shape&, const Shape&) = default;
  };

  // A place that was filled. It may be empty again, but what it was filled with still stands
  // there: walks pass through a deleted node.
  struct Slot {
    NodeId node;
    std::uint64_t id;
    bool is_live;

    friend bool operator==(const Slot&, const Slot&) = default;
  };

  Shape shape;
  std::size_t base_count = 0;   // nodes before
  std::size_t node_count = 0;   // and after; every new one is among the slots
  std::vector<Slot> slots;      // sorted by node
  std::vector<NodeId> deleted;  // nodes that are not among the slots; sorted
  Bytes codes;                  // of the slots, end to end
  Bytes rows;
  GraphDelta graph;  // has all nodes, or none where there is no graph

  bool has_slot(NodeId node) const;
};

// Bytes that carry their own checksum.
Bytes pack_delta(const IndexDelta& delta);

// The delta that pack_delta() was given. Safe on any bytes: kDamaged for those that are no delta or
// were changed, kUnknownVersion for a later release's, kTruncated where only the checksum is right.
IndexDelta unpack_index_delta(ByteView bytes);

// Consecutive deltas as one: what would have been taken over all of them. kWrongState if one
// cannot follow the other, kEmpty if there are none.
Bytes join_packed_deltas(std::span<const ByteView> deltas);

// How many bytes of a packed delta say what.
struct DeltaBytes {
  std::size_t graph = 0;
  std::size_t nodes = 0;  // ids, deletions, and the delta's own header
  std::size_t codes = 0;
  std::size_t vectors = 0;
};
DeltaBytes measure_delta(ByteView bytes);

}  // namespace gossamer
