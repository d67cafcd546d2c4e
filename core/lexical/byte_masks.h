#pragma once

#include <cstddef>
#include <cstdint>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

namespace gossamer {

inline constexpr std::size_t kMaskBytes = 64;

// What 64 bytes are, a bit for each, the first the lowest.
struct ByteMasks {
  std::uint64_t word = 0;   // letters and digits, and bytes beyond ASCII
  std::uint64_t digit = 0;  // 0-9
  std::uint64_t upper = 0;  // A-Z
  std::uint64_t high = 0;   // bytes beyond ASCII
};

inline ByteMasks masks_by_byte(const char* bytes) {
  ByteMasks masks;
  for (std::size_t i = 0; i < kMaskBytes; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    const std::uint64_t bit = std::uint64_t{1} << i;
    const bool is_high = byte >= 0x80;
    const bool is_letter = static_cast<std::uint8_t>((byte | 0x20) - 'a') < 26;
    const bool is_digit = static_cast<std::uint8_t>(byte - '0') < 10;
    masks.word |= is_high || is_letter || is_digit ? bit : 0;
    masks.digit |= is_digit ? bit : 0;
    masks.upper |= static_cast<std::uint8_t>(byte - 'A') < 26 ? bit : 0;
    masks.high |= is_high ? bit : 0;
  }
  return masks;
}

#if defined(__SSE2__)
inline ByteMasks masks_of(const char* bytes) {
  // Signed comparisons: bytes beyond ASCII are negative and fall below every range.
  const auto is_within = [](__m128i v, char low, char high) {
    return _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8(static_cast<char>(low - 1))),
                         _mm_cmplt_epi8(v, _mm_set1_epi8(static_cast<char>(high + 1))));
  };
  ByteMasks masks;
  for (std::size_t i = 0; i < kMaskBytes; i += 16) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    const __m128i lowered = _mm_or_si128(v, _mm_set1_epi8(0x20));
    const __m128i digit = is_within(v, '0', '9');
    const __m128i word = _mm_or_si128(is_within(lowered, 'a', 'z'), digit);
    const auto bits = [i](__m128i mask) {
      return static_cast<std::uint64_t>(static_cast<std::uint16_t>(_mm_movemask_epi8(mask))) << i;
    };
    masks.word |= bits(_mm_or_si128(word, v));
    masks.digit |= bits(digit);
    masks.upper |= bits(is_within(v, 'A', 'Z'));
    masks.high |= bits(v);
  }
  return masks;
}
#elif defined(__wasm_simd128__)
inline ByteMasks masks_of(const char* bytes) {
  const auto is_within = [](v128_t v, char low, char high) {
    return wasm_v128_and(wasm_i8x16_ge(v, wasm_i8x16_splat(low)),
                         wasm_i8x16_le(v, wasm_i8x16_splat(high)));
  };
  ByteMasks masks;
  for (std::size_t i = 0; i < kMaskBytes; i += 16) {
    const v128_t v = wasm_v128_load(bytes + i);
    const v128_t lowered = wasm_v128_or(v, wasm_i8x16_const_splat(0x20));
    const v128_t digit = is_within(v, '0', '9');
    const v128_t word = wasm_v128_or(is_within(lowered, 'a', 'z'), digit);
    const auto bits = [i](v128_t mask) {
      return static_cast<std::uint64_t>(wasm_i8x16_bitmask(mask)) << i;
    };
    masks.word |= bits(wasm_v128_or(word, v));
    masks.digit |= bits(digit);
    masks.upper |= bits(is_within(v, 'A', 'Z'));
    masks.high |= bits(v);
  }
  return masks;
}
#else
inline ByteMasks masks_of(const char* bytes) { return masks_by_byte(bytes); }
#endif

}  // namespace gossamer
