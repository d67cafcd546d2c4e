#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace gossamer {

// BLAKE2b (RFC 7693) without a key, of bytes that come in pieces.
class Blake2b {
 public:
  // Starts a digest of so many bytes, 64 at most. A shorter one is not the beginning of a longer.
  explicit Blake2b(std::size_t digest_bytes);

  void update(ByteView bytes);
  // The digest, which lives as long as this does; nothing may be added afterwards.
  ByteView finish();

 private:
  void compress(bool is_last);

  std::array<std::uint64_t, 8> state_;
  std::array<std::uint64_t, 16> block_{};
  std::size_t filled_ = 0;   // bytes of the block
  std::uint64_t total_ = 0;  // bytes up to the end of the block
  std::size_t digest_bytes_;
};

// The 32 bits that a chunk keeps of its embedded text: it is only shown if they match.
std::uint32_t check_of(std::string_view embedded);

}  // namespace gossamer
