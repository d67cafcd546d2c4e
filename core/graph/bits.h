#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/error.h"

namespace gossamer {

inline std::uint64_t load_u64(const std::uint8_t* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// One bit for each byte of `word` whose top bit is clear, that is, which ends a varint.
inline std::uint64_t varint_ends(std::uint64_t word) {
  constexpr std::uint64_t kTopBits = 0x8080808080808080ULL;
  return (((~word & kTopBits) >> 7) * 0x0102040810204080ULL) >> 56;
}

// The value of a varint of 1 to 5 bytes that starts at the low end of `word`.
inline std::uint64_t join_varint(std::uint64_t word, unsigned byte_count) {
  word &= ~std::uint64_t{0} >> (64 - 8 * byte_count);
  return (word & 0x7f) | ((word >> 1) & 0x3f80) | ((word >> 2) & 0x1fc000) |
         ((word >> 3) & 0xfe00000) | ((word >> 4) & 0x7f0000000ULL);
}

// The sum of the first `count` bytes of 32; all 32 must be readable.
inline std::size_t sum_of_bytes(const std::uint8_t* bytes, unsigned count) {
  constexpr std::uint64_t kEven = 0x00ff00ff00ff00ffULL;
  std::uint64_t lanes = 0;
  for (unsigned word = 0; word < 4; ++word) {
    const unsigned wanted = count > 8 * word ? count - 8 * word : 0;
    std::uint64_t value = load_u64(bytes + 8 * word);
    if (wanted < 8) value &= (std::uint64_t{1} << (8 * wanted)) - 1;
    lanes += (value & kEven) + ((value >> 8) & kEven);
  }
  return static_cast<std::size_t>((lanes * 0x0001000100010001ULL) >> 48);
}

inline std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

inline std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Appends bits to a growing buffer, lowest first.
class BitWriter {
 public:
  // `value` must fit `count` bits, and `count` be 56 at most.
  void put(std::uint64_t value, unsigned count) {
    pending_ |= value << pending_count_;
    pending_count_ += count;
    for (; pending_count_ >= 8; pending_count_ -= 8, pending_ >>= 8)
      out_.push_back(static_cast<std::uint8_t>(pending_));
  }
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) put((value & 0x7f) | 0x80, 8);
    put(value, 8);
  }
  // The last byte is filled up with zeros.
  Bytes take() {
    if (pending_count_ > 0) out_.push_back(static_cast<std::uint8_t>(pending_));
    pending_ = 0;
    pending_count_ = 0;
    return std::move(out_);
  }

 private:
  Bytes out_;
  std::uint64_t pending_ = 0;
  unsigned pending_count_ = 0;
};

// Reads bits from untrusted bytes: running over their end fails with kTruncated.
class BitReader {
 public:
  BitReader(ByteView bytes, const char* what)
      : bytes_(bytes), what_(what), end_(std::uint64_t{8} * bytes.size()) {}

  // The next 57 bits or more, zeros after the end; none are taken.
  std::uint64_t peek() const {
    const auto byte = static_cast<std::size_t>(position_ / 8);
    if (byte + 8 <= bytes_.size()) return load_u64(bytes_.data() + byte) >> (position_ % 8);
    std::uint64_t word = 0;
    for (std::size_t i = byte; i < bytes_.size(); ++i)
      word |= std::uint64_t{bytes_[i]} << (8 * (i - byte));
    return word >> (position_ % 8);
  }
  void skip(unsigned count) {
    position_ += count;
    if (position_ > end_) overrun();
  }
  std::uint64_t get(unsigned count) {  // 56 at most
    const std::uint64_t value = peek() & ((std::uint64_t{1} << count) - 1);
    skip(count);
    return value;
  }
  std::uint64_t get_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const std::uint64_t byte = get(8);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail(Reason::kDamaged, std::string(what_) + ": a number runs over 63 bits");
  }
  std::uint64_t remaining() const { return end_ - position_; }
  const char* what() const { return what_; }
  // Fails unless only the filling of the last byte is left.
  void expect_end() const {
    if (remaining() >= 8 || peek() != 0)
      fail(Reason::kDamaged, std::string(what_) + ": more bits than expected");
  }
  [[noreturn]] void overrun() const {
    fail(Reason::kTruncated, std::string(what_) + ": ends after " + std::to_string(bytes_.size()) +
                                 " bytes, more were expected");
  }

 private:
  ByteView bytes_;
  const char* what_;
  std::uint64_t end_;
  std::uint64_t position_ = 0;
};

}  // namespace gossamer
