#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gossamer {

enum class Metric : std::uint8_t { kInnerProduct = 0, kCosine = 1, kL2 = 2 };
enum class Scalar : std::uint8_t { kF32 = 0, kF16 = 1, kI8 = 2 };

// The distance kernels of one instruction set. Smaller is nearer: inner_product_* is the negated
// dot product, l2_* the squared Euclidean distance. Lengths may be any number, pointers need no
// alignment, nothing is checked.
struct Kernels {
  const char* name;  // "scalar", "avx2", "avx512", "neon", "wasm"
  float (*inner_product_f32)(const float* a, const float* b, std::size_t dim);
  float (*l2_f32)(const float* a, const float* b, std::size_t dim);
  // Both rows in half precision (bits of IEEE binary16).
  float (*inner_product_f16)(const std::uint16_t* a, const std::uint16_t* b, std::size_t dim);
  float (*l2_f16)(const std::uint16_t* a, const std::uint16_t* b, std::size_t dim);
  // A single-precision query against a half-precision row.
  float (*inner_product_f32_f16)(const float* a, const std::uint16_t* b, std::size_t dim);
  float (*l2_f32_f16)(const float* a, const std::uint16_t* b, std::size_t dim);
  // Exact integer arithmetic, returned as float.
  float (*inner_product_i8)(const std::int8_t* a, const std::int8_t* b, std::size_t dim);
  float (*l2_i8)(const std::int8_t* a, const std::int8_t* b, std::size_t dim);
  void (*to_f16)(const float* from, std::uint16_t* to, std::size_t count);
  void (*from_f16)(const std::uint16_t* from, float* to, std::size_t count);
};

// The reference that all others are tested against.
const Kernels& scalar_kernels();

// The fastest table this CPU can run, chosen once. GOSSAMER_KERNELS=scalar|avx2|avx512|neon
// in the environment overrides the choice (an unknown or unsupported name is an error).
const Kernels& kernels();

// Every table this CPU can run, scalar first: for tests and benchmarks.
std::span<const Kernels* const> supported_kernels();

}  // namespace gossamer
