#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace gossamer {

// For tables of words: eight bytes at a time, good in its upper and lower bits. Not for files (it
// depends on the order of bytes) and not against an enemy: its tables are bounded.
inline std::uint64_t hash_of(std::string_view bytes) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = bytes.size();
  const auto take = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * kMix;
    hash ^= hash >> 32;
  };
  while (bytes.size() > 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    take(word);
    bytes.remove_prefix(8);
  }
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    last = last << 8 | static_cast<std::uint8_t>(bytes[i]);
  take(last);
  return hash;
}

}  // namespace gossamer
