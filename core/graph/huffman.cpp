#include "graph/huffman.h"

#include <algorithm>
#include <array>
#include <queue>
#include <string>
#include <utility>

#include "base/error.h"

namespace gossamer {

namespace {

// The depth of each symbol in the Huffman tree of `counts`; 0 for those that never occur.
std::vector<unsigned> tree_depths(const std::vector<std::uint64_t>& counts) {
  using Item = std::pair<std::uint64_t, std::size_t>;  // weight, tree node
  std::priority_queue<Item, std::vector<Item>, std::greater<>> heap;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol)
    if (counts[symbol] > 0) heap.emplace(counts[symbol], symbol);
  std::vector<std::size_t> parents(counts.size(), 0);
  while (heap.size() > 1) {
    const Item low = heap.top();
    heap.pop();
    const Item high = heap.top();
    heap.pop();
    parents[low.second] = parents[high.second] = parents.size();
    heap.emplace(low.first + high.first, parents.size());
    parents.push_back(0);
  }
  std::vector<unsigned> depths(parents.size(), 0);
  for (std::size_t node = parents.size(); node-- > 0;)
    if (parents[node] != 0) depths[node] = depths[parents[node]] + 1;
  depths.resize(counts.size());
  return depths;
}

std::uint16_t reversed(std::uint32_t word, unsigned length) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < length; ++i) result |= ((word >> i) & 1) << (length - 1 - i);
  return static_cast<std::uint16_t>(result);
}

}  // namespace

HuffmanCode::HuffmanCode(std::span<const std::uint64_t> counts) {
  std::vector<std::uint64_t> weights(counts.begin(), counts.end());
  while (!weights.empty() && weights.back() == 0) weights.pop_back();
  std::vector<unsigned> depths = tree_depths(weights);
  if (depths.empty()) return;
  // Flatter weights make a flatter tree: at worst all are 1 and the tree is nine deep.
  while (*std::max_element(depths.begin(), depths.end()) > kMaxBits) {
    for (std::uint64_t& weight : weights) weight = (weight + 1) / 2;
    depths = tree_depths(weights);
  }
  // A single symbol is the whole tree; it is the last, since no zeros follow it.
  depths.back() = std::max(depths.back(), 1u);
  lengths_.assign(depths.begin(), depths.end());
  assign_words();
}

HuffmanCode::HuffmanCode(BitReader& reader) {
  const std::uint64_t count = reader.get(9);
  for (std::uint64_t i = 0; i < count; ++i) {
    lengths_.push_back(static_cast<std::uint8_t>(reader.get(4)));
    if (lengths_.back() > kMaxBits) refuse(reader);
  }
  std::uint32_t space = 0;
  for (const std::uint8_t length : lengths_)
    if (length > 0) space += std::uint32_t{1} << (kMaxBits - length);
  if (space > std::uint32_t{1} << kMaxBits) refuse(reader);
  if (space > 0) assign_words();
}

void HuffmanCode::store(BitWriter& writer) const {
  writer.put(lengths_.size(), 9);
  for (const std::uint8_t length : lengths_) writer.put(length, 4);
}

void HuffmanCode::assign_words() {
  words_.assign(lengths_.size(), 0);
  table_.assign(std::size_t{1} << kMaxBits, Entry{});
  std::uint32_t next = 0;
  for (unsigned length = 1; length <= kMaxBits; ++length, next <<= 1) {
    for (std::size_t symbol = 0; symbol < lengths_.size(); ++symbol) {
      if (lengths_[symbol] != length) continue;
      words_[symbol] = reversed(next++, length);
      for (std::size_t i = words_[symbol]; i < table_.size(); i += std::size_t{1} << length)
        table_[i] = {static_cast<std::uint16_t>(symbol), static_cast<std::uint16_t>(length)};
    }
  }
}

void HuffmanCode::refuse(const BitReader& reader) {
  fail(Reason::kDamaged, std::string(reader.what()) + ": a code word that is not in its table");
}

}  // namespace gossamer
