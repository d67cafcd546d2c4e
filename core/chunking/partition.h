#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gossamer {

// A place where a text may be cut, or its begin or end.
struct Place {
  std::size_t offset;
  std::size_t tokens;   // that stand before it
  double cost;          // of cutting there
  std::int64_t budget;  // how many tokens a piece that begins there may hold
};

// Chooses places so that the pieces between them cost the least, and gives their numbers, the first
// and the last among them. A gap that is too wide for any budget becomes a piece of its own.
std::vector<std::size_t> cheapest_partition(std::span<const Place> places, std::size_t max_bytes);

}  // namespace gossamer
