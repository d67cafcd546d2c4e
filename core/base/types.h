#pragma once

#include <cstdint>
#include <limits>

namespace gossamer {

// A chunk's place in the index: its row among codes, vectors and neighbor lists.
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

// A node and how far it is from the query (smaller is nearer, whatever the metric).
// Equal distances are ordered by node, so that every ordering is total and repeatable.
struct Candidate {
  float distance;
  NodeId node;

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.node < b.node);
  }
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

}  // namespace gossamer
