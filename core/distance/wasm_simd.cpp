#if defined(__wasm_simd128__)

#include <wasm_simd128.h>

#include "distance/tables.h"
#include "distance/values.h"

namespace gossamer {
namespace {

// Four values as f32, or one for the tail.
struct F32 {
  using Value = float;
  static v128_t load(const float* from) { return wasm_v128_load(from); }
  static float load_one(const float* from) { return load_value<float>(from, 0); }
};

// Wasm has no instruction for halves. Moved to their places in a float, their bits mean 2^-112 of
// the value (subnormals too); infinity and NaN come out at 65536 or above and get their exponent.
struct F16 {
  using Value = std::uint16_t;
  static v128_t load(const std::uint16_t* from) {
    const v128_t bits = wasm_u32x4_load16x4(from);
    const v128_t sign = wasm_i32x4_shl(wasm_v128_and(bits, wasm_i32x4_const_splat(0x8000)), 16);
    const v128_t moved = wasm_i32x4_shl(wasm_v128_and(bits, wasm_i32x4_const_splat(0x7fff)), 13);
    const v128_t value = wasm_f32x4_mul(moved, wasm_f32x4_const_splat(0x1.0p112f));
    const v128_t is_special = wasm_f32x4_ge(value, wasm_f32x4_const_splat(65536.0f));
    const v128_t exponent = wasm_v128_and(is_special, wasm_i32x4_const_splat(0x7f800000));
    return wasm_v128_or(wasm_v128_or(value, exponent), sign);
  }
  // For the last of a row, if its length is none of fours: not worth a copy in each kernel.
  [[gnu::noinline]] static float load_one(const std::uint16_t* from) {
    return half_to_float(load_value<std::uint16_t>(from, 0));
  }
};

// Relaxed SIMD leaves to the machine whether the product is rounded by itself.
v128_t multiply_add(v128_t a, v128_t b, v128_t sum) {
#if defined(__wasm_relaxed_simd__)
  return wasm_f32x4_relaxed_madd(a, b, sum);
#else
  return wasm_f32x4_add(sum, wasm_f32x4_mul(a, b));
#endif
}

struct Product {
  static constexpr float kSign = -1.0f;
  static v128_t add(v128_t sum, v128_t a, v128_t b) { return multiply_add(a, b, sum); }
  static float of(float a, float b) { return a * b; }
};

struct SquaredDifference {
  static constexpr float kSign = 1.0f;
  static v128_t add(v128_t sum, v128_t a, v128_t b) {
    const v128_t difference = wasm_f32x4_sub(a, b);
    return multiply_add(difference, difference, sum);
  }
  static float of(float a, float b) { return (a - b) * (a - b); }
};

float sum_of_f32(v128_t values) {
  return (wasm_f32x4_extract_lane(values, 0) + wasm_f32x4_extract_lane(values, 1)) +
         (wasm_f32x4_extract_lane(values, 2) + wasm_f32x4_extract_lane(values, 3));
}

int sum_of_i32(v128_t values) {
  return wasm_i32x4_extract_lane(values, 0) + wasm_i32x4_extract_lane(values, 1) +
         wasm_i32x4_extract_lane(values, 2) + wasm_i32x4_extract_lane(values, 3);
}

// Four sums, because an addition waits longer for the one before it than for its turn.
template <class Term, class A, class B>
float distance(const void* a_row, const void* b_row, std::size_t dim) noexcept {
  const auto* a = static_cast<const typename A::Value*>(a_row);
  const auto* b = static_cast<const typename B::Value*>(b_row);
  v128_t sum0 = wasm_f32x4_const_splat(0.0f);
  v128_t sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (; dim >= 16; dim -= 16, a += 16, b += 16) {
    sum0 = Term::add(sum0, A::load(a), B::load(b));
    sum1 = Term::add(sum1, A::load(a + 4), B::load(b + 4));
    sum2 = Term::add(sum2, A::load(a + 8), B::load(b + 8));
    sum3 = Term::add(sum3, A::load(a + 12), B::load(b + 12));
  }
  for (; dim >= 4; dim -= 4, a += 4, b += 4) sum0 = Term::add(sum0, A::load(a), B::load(b));
  float total = sum_of_f32(wasm_f32x4_add(wasm_f32x4_add(sum0, sum1), wasm_f32x4_add(sum2, sum3)));
#pragma clang loop vectorize(disable) unroll(disable)
  for (; dim > 0; --dim, ++a, ++b) total += Term::of(A::load_one(a), B::load_one(b));
  return Term::kSign * total;
}

// Eight int8 values as i16: products of two pairs fit i32, so nothing saturates. (The dot product
// of bytes that relaxed SIMD has takes one side without sign; splitting it costs more than it
// saves.)
struct ProductI8 {
  static constexpr int kSign = -1;
  static v128_t add(v128_t sum, v128_t a, v128_t b) {
    return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(a, b));
  }
  static int of(int a, int b) { return a * b; }
};

struct SquaredDifferenceI8 {
  static constexpr int kSign = 1;
  static v128_t add(v128_t sum, v128_t a, v128_t b) {
    const v128_t difference = wasm_i16x8_sub(a, b);
    return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(difference, difference));
  }
  static int of(int a, int b) { return (a - b) * (a - b); }
};

template <class Term>
float distance_i8(const void* a_row, const void* b_row, std::size_t dim) noexcept {
  const auto* a = static_cast<const std::int8_t*>(a_row);
  const auto* b = static_cast<const std::int8_t*>(b_row);
  v128_t sum0 = wasm_i32x4_const_splat(0);
  v128_t sum1 = sum0;
  for (; dim >= 16; dim -= 16, a += 16, b += 16) {
    sum0 = Term::add(sum0, wasm_i16x8_load8x8(a), wasm_i16x8_load8x8(b));
    sum1 = Term::add(sum1, wasm_i16x8_load8x8(a + 8), wasm_i16x8_load8x8(b + 8));
  }
  int total = sum_of_i32(wasm_i32x4_add(sum0, sum1));
#pragma clang loop vectorize(disable) unroll(disable)
  for (; dim > 0; --dim, ++a, ++b) total += Term::of(*a, *b);
  return static_cast<float>(Term::kSign * total);
}

void from_f16(const std::uint16_t* from, float* to, std::size_t count) noexcept {
  for (; count >= 4; count -= 4, from += 4, to += 4) wasm_v128_store(to, F16::load(from));
  for (std::size_t i = 0; i < count; ++i) store_value(F16::load_one(from + i), to, i);
}

void to_f16(const float* from, std::uint16_t* to, std::size_t count) noexcept {
#pragma clang loop vectorize(disable) unroll(disable)
  for (std::size_t i = 0; i < count; ++i)
    store_value(float_to_half(load_value<float>(from, i)), to, i);
}

constexpr Kernels kTable{
    .name = "wasm",
    .inner_product_f32 = distance<Product, F32, F32>,
    .l2_f32 = distance<SquaredDifference, F32, F32>,
    .inner_product_f16 = distance<Product, F16, F16>,
    .l2_f16 = distance<SquaredDifference, F16, F16>,
    .inner_product_f32_f16 = distance<Product, F32, F16>,
    .l2_f32_f16 = distance<SquaredDifference, F32, F16>,
    .inner_product_i8 = distance_i8<ProductI8>,
    .l2_i8 = distance_i8<SquaredDifferenceI8>,
    .to_f16 = to_f16,
    .from_f16 = from_f16,
};

}  // namespace

const Kernels& wasm_kernels() { return kTable; }

}  // namespace gossamer

#endif
