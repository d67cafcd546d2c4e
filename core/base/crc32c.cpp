#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gossamer {

namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78u;  // reversed
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// Eight kilobytes that do not compress: WebAssembly makes them when they are first needed.
#if defined(__wasm__)
#define GOSSAMER_CONSTEXPR inline
#else
#define GOSSAMER_CONSTEXPR constexpr
#endif

GOSSAMER_CONSTEXPR Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

#if defined(__wasm__)
const Tables& tables() {
  static const Tables tables = make_tables();
  return tables;
}
#else
constexpr Tables kTables = make_tables();
const Tables& tables() { return kTables; }
#endif
#undef GOSSAMER_CONSTEXPR

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(ByteView bytes,
                                                                      std::uint32_t before) {
  std::uint64_t crc = ~before;
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto tail = static_cast<std::uint32_t>(crc);
  for (; left > 0; ++at, --left) tail = _mm_crc32_u8(tail, *at);
  return ~tail;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(ByteView bytes, std::uint32_t before) {
  const Tables& table = tables();
  std::uint32_t crc = ~before;
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kSlices; at += kSlices, left -= kSlices) {
    std::uint32_t low = 0;
    std::memcpy(&low, at, 4);
    low ^= crc;
    crc = table[7][low & 0xff] ^ table[6][(low >> 8) & 0xff] ^ table[5][(low >> 16) & 0xff] ^
          table[4][low >> 24] ^ table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^
          table[0][at[7]];
  }
  for (; left > 0; ++at, --left) crc = (crc >> 8) ^ table[0][(crc ^ *at) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(ByteView bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return crc32c_by_instruction(bytes, before);
#endif
  return crc32c_by_table(bytes, before);
}

}  // namespace gossamer
