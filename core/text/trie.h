#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gossamer {

// A set of strings with a number each, walked byte by byte: a double array, where the child of a
// node is found with one addition and one comparison.
class Trie {
 public:
  using Entry = std::pair<std::string_view, std::uint32_t>;
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Of equal strings the last counts.
  explicit Trie(std::span<const Entry> entries);

  // The node behind `node` and a byte; kNone when no string goes on like this.
  std::uint32_t step(std::uint32_t node, std::uint8_t byte) const {
    const std::uint32_t child = nodes_[node].base + byte;
    return nodes_[child].parent == node ? child : kNone;
  }
  // The number of the string that ends at a node; kNone when none does.
  std::uint32_t value(std::uint32_t node) const { return nodes_[node].value; }
  // The node at the end of a string; kNone when no string begins with it.
  std::uint32_t find(std::string_view string) const;

 private:
  struct Node {
    std::uint32_t base = 0;        // where its children are, each at its byte
    std::uint32_t parent = kNone;  // kNone: a free place
    std::uint32_t value = kNone;
  };
  std::uint32_t place(std::span<const std::uint8_t> bytes);
  void grow(std::size_t least);

  std::vector<Node> nodes_;
  std::uint32_t first_free_ = 1;  // no place before it is worth trying
};

}  // namespace gossamer
