#if defined(__aarch64__)

#include <arm_neon.h>

#include "distance/tables.h"
#include "distance/values.h"

namespace gossamer {
namespace {

// Four values as f32, or one for the tail.
struct F32 {
  using Value = float;
  static float32x4_t load(const float* from) { return vld1q_f32(from); }
  static float load_one(const float* from) { return load_value<float>(from, 0); }
};

struct F16 {
  using Value = std::uint16_t;
  static float32x4_t load(const std::uint16_t* from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
  }
  static float load_one(const std::uint16_t* from) {
    return half_to_float(load_value<std::uint16_t>(from, 0));
  }
};

struct Product {
  static constexpr float kSign = -1.0f;
  static float32x4_t add(float32x4_t sum, float32x4_t a, float32x4_t b) {
    return vfmaq_f32(sum, a, b);
  }
  static float of(float a, float b) { return a * b; }
};

struct SquaredDifference {
  static constexpr float kSign = 1.0f;
  static float32x4_t add(float32x4_t sum, float32x4_t a, float32x4_t b) {
    const float32x4_t difference = vsubq_f32(a, b);
    return vfmaq_f32(sum, difference, difference);
  }
  static float of(float a, float b) { return (a - b) * (a - b); }
};

// Four sums, because an addition waits longer for the one before it than for its turn.
template <class Term, class A, class B>
float distance(const void* a_row, const void* b_row, std::size_t dim) noexcept {
  const auto* a = static_cast<const typename A::Value*>(a_row);
  const auto* b = static_cast<const typename B::Value*>(b_row);
  float32x4_t sum0 = vdupq_n_f32(0.0f);
  float32x4_t sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (; dim >= 16; dim -= 16, a += 16, b += 16) {
    sum0 = Term::add(sum0, A::load(a), B::load(b));
    sum1 = Term::add(sum1, A::load(a + 4), B::load(b + 4));
    sum2 = Term::add(sum2, A::load(a + 8), B::load(b + 8));
    sum3 = Term::add(sum3, A::load(a + 12), B::load(b + 12));
  }
  for (; dim >= 4; dim -= 4, a += 4, b += 4) sum0 = Term::add(sum0, A::load(a), B::load(b));
  float total = vaddvq_f32(vaddq_f32(vaddq_f32(sum0, sum1), vaddq_f32(sum2, sum3)));
  for (; dim > 0; --dim, ++a, ++b) total += Term::of(A::load_one(a), B::load_one(b));
  return Term::kSign * total;
}

// Each product is added up at 32 bits: two of -128 * -128 do not fit 16.
struct ProductI8 {
  using Sum = int32x4_t;
  static constexpr int kSign = -1;
  static Sum zero() { return vdupq_n_s32(0); }
  static Sum add(Sum sum, int8x16_t a, int8x16_t b) {
#if defined(__ARM_FEATURE_DOTPROD)
    return vdotq_s32(sum, a, b);
#else
    sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    return vpadalq_s16(sum, vmull_high_s8(a, b));
#endif
  }
  static int total(Sum sum0, Sum sum1) { return vaddvq_s32(vaddq_s32(sum0, sum1)); }
  static int of(int a, int b) { return a * b; }
};

// The distance of two int8 values fits an unsigned byte, its square 16 bits.
struct SquaredDifferenceI8 {
  using Sum = uint32x4_t;
  static constexpr int kSign = 1;
  static Sum zero() { return vdupq_n_u32(0); }
  static Sum add(Sum sum, int8x16_t a, int8x16_t b) {
    const uint8x16_t apart = vreinterpretq_u8_s8(vabdq_s8(a, b));
#if defined(__ARM_FEATURE_DOTPROD)
    return vdotq_u32(sum, apart, apart);
#else
    sum = vpadalq_u16(sum, vmull_u8(vget_low_u8(apart), vget_low_u8(apart)));
    return vpadalq_u16(sum, vmull_high_u8(apart, apart));
#endif
  }
  static int total(Sum sum0, Sum sum1) {
    return static_cast<int>(vaddvq_u32(vaddq_u32(sum0, sum1)));
  }
  static int of(int a, int b) { return (a - b) * (a - b); }
};

template <class Term>
float distance_i8(const void* a_row, const void* b_row, std::size_t dim) noexcept {
  const auto* a = static_cast<const std::int8_t*>(a_row);
  const auto* b = static_cast<const std::int8_t*>(b_row);
  typename Term::Sum sum0 = Term::zero();
  typename Term::Sum sum1 = Term::zero();
  for (; dim >= 32; dim -= 32, a += 32, b += 32) {
    sum0 = Term::add(sum0, vld1q_s8(a), vld1q_s8(b));
    sum1 = Term::add(sum1, vld1q_s8(a + 16), vld1q_s8(b + 16));
  }
  if (dim >= 16) {
    sum0 = Term::add(sum0, vld1q_s8(a), vld1q_s8(b));
    dim -= 16, a += 16, b += 16;
  }
  int total = Term::total(sum0, sum1);
  for (; dim > 0; --dim, ++a, ++b) total += Term::of(*a, *b);
  return static_cast<float>(Term::kSign * total);
}

void to_f16(const float* from, std::uint16_t* to, std::size_t count) noexcept {
  for (; count >= 4; count -= 4, from += 4, to += 4)
    vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(from))));
  for (std::size_t i = 0; i < count; ++i)
    store_value(float_to_half(load_value<float>(from, i)), to, i);
}

void from_f16(const std::uint16_t* from, float* to, std::size_t count) noexcept {
  for (; count >= 4; count -= 4, from += 4, to += 4) vst1q_f32(to, F16::load(from));
  for (std::size_t i = 0; i < count; ++i) store_value(F16::load_one(from + i), to, i);
}

constexpr Kernels kNeon = {
    .name = "neon",
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

const Kernels& neon_kernels() { return kNeon; }

}  // namespace gossamer

#endif
