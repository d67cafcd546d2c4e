#pragma once

#include <span>

#include "base/types.h"

namespace gossamer {

// Calls `removed` and `added` for what differs between two sorted lists, in the order of nodes.
template <class Removed, class Added>
void diff_lists(std::span<const NodeId> before, std::span<const NodeId> after,
                const Removed& removed, const Added& added) {
  auto a = before.begin();
  auto b = after.begin();
  while (a != before.end() || b != after.end()) {
    if (b == after.end() || (a != before.end() && *a < *b)) {
      removed(*a++);
    } else if (a == before.end() || *b < *a) {
      added(*b++);
    } else {
      ++a;
      ++b;
    }
  }
}

}  // namespace gossamer
