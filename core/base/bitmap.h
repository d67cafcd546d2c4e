#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace gossamer {

// A set of nodes, one bit each: tombstones, allow-filters.
class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(std::size_t size) : words_((size + 63) / 64, 0), size_(size) {}

  std::size_t size() const { return size_; }
  void resize(std::size_t size) {
    words_.resize((size + 63) / 64, 0);
    size_ = size;
  }
  bool contains(NodeId node) const { return (words_[node / 64] >> (node % 64)) & 1; }
  void insert(NodeId node) { words_[node / 64] |= std::uint64_t{1} << (node % 64); }
  void erase(NodeId node) { words_[node / 64] &= ~(std::uint64_t{1} << (node % 64)); }
  // Every node of size() is in the set.
  void fill() {
    for (std::uint64_t& word : words_) word = ~std::uint64_t{0};
    if (size_ % 64 != 0) words_.back() = (std::uint64_t{1} << (size_ % 64)) - 1;
  }
  // Takes the nodes of another set, of the same size, out of this one.
  void subtract(const Bitmap& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  }
  std::size_t count() const {
    std::size_t total = 0;
    for (const std::uint64_t word : words_) total += static_cast<std::size_t>(std::popcount(word));
    return total;
  }
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace gossamer
