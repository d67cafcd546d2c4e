#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/types.h"
#include "graph/bits.h"
#include "graph/huffman.h"

namespace gossamer {

// Numbers as packed graphs and deltas hold them: the bit length of each is Huffman-coded, and the
// bits below its highest follow as they are. What is distributed otherwise has a table of its own.
// Whoever writes does so twice, through the same template: into a SymbolCounter, which makes the
// tables, and then into a SymbolCoder.
inline constexpr std::size_t kCodedSymbols = 264;  // degrees to 256; bit lengths to 63

template <std::size_t kTables>
using SymbolCodes = std::array<HuffmanCode, kTables>;

inline unsigned bit_class(std::uint64_t value) {
  return static_cast<unsigned>(std::bit_width(value + 1)) - 1;
}

template <std::size_t kTables>
class SymbolCounter {
 public:
  void symbol(std::size_t table, std::size_t symbol) { ++counts_[table][symbol]; }
  // Less than 2^64 - 1.
  void value(std::size_t table, std::uint64_t value) { symbol(table, bit_class(value)); }
  void count(std::size_t) {}
  SymbolCodes<kTables> codes() const {
    SymbolCodes<kTables> codes;
    for (std::size_t table = 0; table < kTables; ++table) {
      codes[table] = HuffmanCode(counts_[table]);
    }
    return codes;
  }

 private:
  std::array<std::array<std::uint64_t, kCodedSymbols>, kTables> counts_{};
};

template <std::size_t kTables>
class SymbolCoder {
 public:
  // Stores the tables first.
  SymbolCoder(BitWriter& writer, const SymbolCodes<kTables>& codes)
      : writer_(writer), codes_(codes) {
    for (const HuffmanCode& code : codes_) code.store(writer_);
  }
  void symbol(std::size_t table, std::size_t symbol) { codes_[table].put(writer_, symbol); }
  void value(std::size_t table, std::uint64_t value) {
    const unsigned bits = bit_class(value);
    symbol(table, bits);
    const std::uint64_t rest = value + 1 - (std::uint64_t{1} << bits);
    if (bits > 32) {
      writer_.put(rest & 0xffffffff, 32);
      writer_.put(rest >> 32, bits - 32);
    } else {
      writer_.put(rest, bits);
    }
  }
  // A number of things to come.
  void count(std::size_t count) { writer_.put_varint(count); }

 private:
  BitWriter& writer_;
  const SymbolCodes<kTables>& codes_;
};

// Reads what a SymbolCoder wrote. Safe on any bytes: fails with kDamaged or kTruncated.
template <std::size_t kTables>
class SymbolDecoder {
 public:
  // Values of nodes and gaps between them are within this; ids need more.
  static constexpr unsigned kNodeBits = 34;

  explicit SymbolDecoder(BitReader& reader) : reader_(reader) {
    for (HuffmanCode& code : codes_) code = HuffmanCode(reader);
  }
  std::size_t symbol(std::size_t table) { return codes_[table].get(reader_); }
  std::uint64_t value(std::size_t table, unsigned most_bits = kNodeBits) {
    const auto bits = static_cast<unsigned>(symbol(table));
    if (bits > most_bits) refuse("a gap is out of range");
    std::uint64_t rest = reader_.get(bits > 32 ? 32 : bits);
    if (bits > 32) rest |= reader_.get(bits - 32) << 32;
    return (std::uint64_t{1} << bits) - 1 + rest;
  }
  // The node that lies a gap after `from`, which must be below `end`.
  NodeId node_after(std::uint64_t from, std::size_t table, std::size_t end) {
    const std::uint64_t node = from + value(table);
    if (node >= end) refuse("an edge leads to a node that does not exist");
    return static_cast<NodeId>(node);
  }
  // A number of things to come, each of which takes one bit at least.
  std::size_t count() {
    const std::uint64_t count = reader_.get_varint();
    if (count > reader_.remaining()) reader_.overrun();
    return static_cast<std::size_t>(count);
  }
  // Nodes that rise, each by its gap from the one before.
  std::vector<NodeId> nodes(std::size_t table, std::size_t end) {
    std::vector<NodeId> nodes;
    std::uint64_t next = 0;
    for (std::size_t left = count(); left > 0; --left) {
      nodes.push_back(node_after(next, table, end));
      next = nodes.back() + std::uint64_t{1};
    }
    return nodes;
  }
  [[noreturn]] void refuse(const char* why) const {
    fail(Reason::kDamaged, std::string(reader_.what()) + ": " + why);
  }

 private:
  BitReader& reader_;
  SymbolCodes<kTables> codes_;
};

}  // namespace gossamer
