#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gossamer {

// A chunk with its place in each ranking that holds it, from 1; 0 where one does not.
struct FusedChunk {
  std::uint64_t id;
  double score;
  std::uint32_t by_meaning;
  std::uint32_t by_words;

  // Whether it comes before another one.
  bool operator<(const FusedChunk& other) const;
};

// Orders the chunks of two rankings by the sum of their reciprocal ranks, best first. Equal sums go
// by the better single place and then by the smaller id, so that the order is always the same.
std::vector<FusedChunk> fuse(std::span<const std::uint64_t> by_meaning,
                             std::span<const std::uint64_t> by_words);

}  // namespace gossamer
