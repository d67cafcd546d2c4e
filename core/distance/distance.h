#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gossamer {

enum class Metric : std::uint8_t { kInnerProduct = 0, kCosine = 1, kL2 = 2 };
enum class Scalar : std::uint8_t { kF32 = 0, kF16 = 1, kI8 = 2 };

// A distance between two rows of `dim` values, whatever their type. Smaller is nearer.
using RowDistance = float (*)(const void* a, const void* b, std::size_t dim);

// The distance kernels of one instruction set: inner_product_* is the negated dot product, l2_*
// the squared Euclidean distance. Pointers need no alignment, nothing is checked. Any length is
// fine, except that int8 rows have at most kMaxDimI8 values, so that 32-bit sums stay exact.
struct Kernels {
  const char* name;  // "scalar", "avx2", "avx512", "avx512vnni", "neon", "wasm"
  RowDistance inner_product_f32;
  RowDistance l2_f32;
  // Both rows in half precision (bits of IEEE binary16).
  RowDistance inner_product_f16;
  RowDistance l2_f16;
  // A single-precision query `a` against a half-precision row `b`.
  RowDistance inner_product_f32_f16;
  RowDistance l2_f32_f16;
  // Exact integer arithmetic, returned as float.
  RowDistance inner_product_i8;
  RowDistance l2_i8;
  // To half precision rounds to nearest, ties to even; back is exact.
  void (*to_f16)(const float* from, std::uint16_t* to, std::size_t count);
  void (*from_f16)(const std::uint16_t* from, float* to, std::size_t count);
};

inline constexpr std::size_t kMaxDimI8 = 32768;

// The reference that all others are tested against.
const Kernels& scalar_kernels();

// The fastest table this CPU can run, chosen once. The name of a supported table in the
// environment variable GOSSAMER_KERNELS overrides the choice; another name is kInvalidArgument.
const Kernels& kernels();

// The supported table of that name, the fastest if `name` is null or empty.
const Kernels& choose_kernels(const char* name);

// Every table this CPU can run, scalar first and fastest last: for tests and benchmarks.
std::span<const Kernels* const> supported_kernels();

}  // namespace gossamer
