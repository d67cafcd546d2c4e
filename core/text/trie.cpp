#include "text/trie.h"

#include <algorithm>

#include "base/sort.h"

namespace gossamer {
namespace {

constexpr std::size_t kBytes = 256;
constexpr std::uint32_t kMostTried = 8;

// A node whose children are still to be placed: the entries below it.
struct Pending {
  std::uint32_t node;
  std::size_t depth;
  std::span<const Trie::Entry> entries;
};

}  // namespace

Trie::Trie(std::span<const Entry> entries) {
  std::vector<Entry> sorted(entries.begin(), entries.end());
  sort_values(sorted.begin(), sorted.end());
  grow(1);
  std::vector<Pending> stack = {{kRoot, 0, sorted}};
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> begins;
  while (!stack.empty()) {
    auto [node, depth, below] = stack.back();
    stack.pop_back();
    for (; !below.empty() && below.front().first.size() == depth; below = below.subspan(1))
      nodes_[node].value = below.front().second;
    if (below.empty()) continue;
    bytes.clear();
    begins.clear();
    for (std::size_t i = 0; i < below.size(); ++i) {
      const auto byte = static_cast<std::uint8_t>(below[i].first[depth]);
      if (!bytes.empty() && bytes.back() == byte) continue;
      bytes.push_back(byte);
      begins.push_back(i);
    }
    begins.push_back(below.size());
    const std::uint32_t base = place(bytes);
    nodes_[node].base = base;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      nodes_[base + bytes[i]].parent = node;
      stack.push_back(
          {base + bytes[i], depth + 1, below.subspan(begins[i], begins[i + 1] - begins[i])});
    }
  }
}

std::uint32_t Trie::find(std::string_view string) const {
  std::uint32_t node = kRoot;
  for (const char byte : string) {
    node = step(node, static_cast<std::uint8_t>(byte));
    if (node == kNone) break;
  }
  return node;
}

// Where children at these bytes meet free places only. Place 0 is the root's.
std::uint32_t Trie::place(std::span<const std::uint8_t> bytes) {
  std::uint32_t tried = 0;
  for (std::uint32_t at = std::max<std::uint32_t>(first_free_, bytes.front() + 1u);; ++at) {
    const std::uint32_t base = at - bytes.front();
    grow(base + 1);
    const bool fits = std::all_of(bytes.begin(), bytes.end(), [&](std::uint8_t byte) {
      return nodes_[base + byte].parent == kNone;
    });
    ++tried;
    if (!fits) continue;
    // Where most places were taken, the few gaps are not looked at again.
    if (tried > kMostTried) first_free_ = at;
    return base;
  }
}

void Trie::grow(std::size_t least) {
  if (nodes_.size() >= least + kBytes) return;
  nodes_.resize(std::max(least + kBytes, nodes_.size() + nodes_.size() / 2));
}

}  // namespace gossamer
