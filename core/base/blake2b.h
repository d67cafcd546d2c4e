#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace gossamer {

// BLAKE2b (RFC 7693) without a key, of 1 to 64 bytes.
class Blake2b {
 public:
  explicit Blake2b(std::size_t size);

  void update(ByteView bytes);
  template <class T>
  void update_value(T value) {
    update({reinterpret_cast<const std::uint8_t*>(&value), sizeof(T)});
  }
  // Ends it: nothing may follow.
  void finish(std::span<std::uint8_t> hash);

 private:
  static constexpr std::size_t kBlockBytes = 128;

  void compress(const std::uint8_t* block, bool is_last);

  std::array<std::uint64_t, 8> state_;
  std::array<std::uint8_t, kBlockBytes> block_{};  // what waits for more
  std::size_t waiting_ = 0;
  std::uint64_t length_ = 0;  // bytes compressed; no text has 2^64
};

// The hash of bytes as a whole.
template <std::size_t N>
std::array<std::uint8_t, N> blake2b(ByteView bytes) {
  std::array<std::uint8_t, N> hash;
  Blake2b blake(N);
  blake.update(bytes);
  blake.finish(hash);
  return hash;
}

}  // namespace gossamer
