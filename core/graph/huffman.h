#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/bits.h"

namespace gossamer {

// A canonical Huffman code: only the lengths of its code words are stored. Every symbol takes one
// bit at least, also when it is the only one, so that no count of symbols can exceed the bits.
class HuffmanCode {
 public:
  static constexpr unsigned kMaxBits = 12;
  static constexpr std::size_t kMaxSymbols = 511;

  HuffmanCode() = default;
  // The best code for these counts; symbols that never occur get no code word.
  explicit HuffmanCode(std::span<const std::uint64_t> counts);
  // Fails with kDamaged when the lengths stored do not make a code.
  explicit HuffmanCode(BitReader& reader);

  void store(BitWriter& writer) const;
  void put(BitWriter& writer, std::size_t symbol) const {
    writer.put(words_[symbol], lengths_[symbol]);
  }
  std::size_t get(BitReader& reader) const {
    const Entry entry = table_[reader.peek() & (table_.size() - 1)];
    if (entry.length == 0) refuse(reader);
    reader.skip(entry.length);
    return entry.symbol;
  }

 private:
  struct Entry {
    std::uint16_t symbol = 0;
    std::uint16_t length = 0;
  };

  void assign_words();
  [[noreturn]] static void refuse(const BitReader& reader);

  std::vector<std::uint8_t> lengths_;
  std::vector<std::uint16_t> words_;  // lowest bit first
  std::vector<Entry> table_ = std::vector<Entry>(1);
};

}  // namespace gossamer
