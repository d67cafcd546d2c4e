#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace gossamer {

static_assert(std::endian::native == std::endian::little,
              "Gossamer files are little-endian and read in place");

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

// Appends values to a growing buffer.
class ByteWriter {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes({reinterpret_cast<const std::uint8_t*>(&value), sizeof(T)});
  }
  template <class T>
  void put_array(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes({reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
  }
  void put_bytes(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void put_varint(std::uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<std::uint8_t>(value));
  }
  std::size_t size() const { return out_.size(); }
  void reserve(std::size_t bytes) { out_.reserve(bytes); }
  Bytes take() { return std::move(out_); }

 private:
  Bytes out_;
};

// Reads values from untrusted bytes; every read is bounds-checked and fails with kTruncated.
class ByteReader {
 public:
  ByteReader(ByteView bytes, const char* what) : bytes_(bytes), what_(what) {}

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <class T>
  std::vector<T> get_array(std::uint64_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count > remaining() / sizeof(T)) overrun();
    const ByteView from = take(static_cast<std::size_t>(count) * sizeof(T));
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0) std::memcpy(values.data(), from.data(), from.size());
    return values;
  }
  std::uint64_t get_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = get<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    fail(Reason::kDamaged, std::string(what_) + ": a number runs over 64 bits");
  }
  ByteView take(std::size_t count) {
    if (count > remaining()) overrun();
    const ByteView view = bytes_.subspan(position_, count);
    position_ += count;
    return view;
  }
  std::size_t remaining() const { return bytes_.size() - position_; }
  void expect_end() const {
    if (remaining() != 0)
      fail(Reason::kDamaged,
           std::string(what_) + ": " + std::to_string(remaining()) + " bytes more than expected");
  }

 private:
  [[noreturn]] void overrun() const {
    fail(Reason::kTruncated, std::string(what_) + ": ends after " + std::to_string(bytes_.size()) +
                                 " bytes, more were expected");
  }

  ByteView bytes_;
  const char* what_;
  std::size_t position_ = 0;
};

}  // namespace gossamer
