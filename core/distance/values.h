#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gossamer {

// Value number `i` of an array that may be unaligned.
template <class T>
inline T load_value(const void* values, std::size_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::uint8_t*>(values) + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
inline void store_value(T value, void* values, std::size_t i) {
  std::memcpy(static_cast<std::uint8_t*>(values) + i * sizeof(T), &value, sizeof(T));
}

// Bits of IEEE binary16 to float, exactly; a signalling NaN becomes quiet, as in hardware.
inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1.0p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  if (exponent == 0x1f) {
    const std::uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | mantissa << 13);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

// Float to the bits of IEEE binary16: rounds to nearest, ties to even, overflows to infinity.
inline std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t exponent = magnitude >> 23;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (exponent >= 143) {  // 65536 and above
    half = 0x7c00u;
  } else if (exponent >= 113) {  // normal; a carry out of the mantissa raises the exponent rightly
    half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  } else if (exponent >= 102) {  // subnormal: steps of 2^-24
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t shift = 126 - exponent;
    half = (mantissa + (1u << (shift - 1)) - 1 + ((mantissa >> shift) & 1u)) >> shift;
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace gossamer
