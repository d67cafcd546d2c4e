#if defined(__x86_64__)

#include <immintrin.h>

#include "distance/tables.h"
#include "distance/values.h"

// The file needs no compiler flags of its own: each function names what it needs.
#define GOSSAMER_TARGET __attribute__((target("avx2,fma,f16c")))
#define GOSSAMER_INLINE GOSSAMER_TARGET inline __attribute__((always_inline))

namespace gossamer {
namespace {

// Eight values as f32, or one for the tail.
struct F32 {
  using Value = float;
  GOSSAMER_INLINE static __m256 load(const float* from) { return _mm256_loadu_ps(from); }
  GOSSAMER_INLINE static float load_one(const float* from) { return load_value<float>(from, 0); }
};

struct F16 {
  using Value = std::uint16_t;
  GOSSAMER_INLINE static __m256 load(const std::uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  GOSSAMER_INLINE static float load_one(const std::uint16_t* from) {
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(load_value<std::uint16_t>(from, 0))));
  }
};

struct Product {
  static constexpr int kSign = -1;
  GOSSAMER_INLINE static __m256 add(__m256 sum, __m256 a, __m256 b) {
    return _mm256_fmadd_ps(a, b, sum);
  }
  GOSSAMER_INLINE static float of(float a, float b) { return a * b; }
  GOSSAMER_INLINE static __m256i add(__m256i sum, __m256i a, __m256i b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }
  GOSSAMER_INLINE static int of(int a, int b) { return a * b; }
};

struct SquaredDifference {
  static constexpr int kSign = 1;
  GOSSAMER_INLINE static __m256 add(__m256 sum, __m256 a, __m256 b) {
    const __m256 difference = _mm256_sub_ps(a, b);
    return _mm256_fmadd_ps(difference, difference, sum);
  }
  GOSSAMER_INLINE static float of(float a, float b) { return (a - b) * (a - b); }
  GOSSAMER_INLINE static __m256i add(__m256i sum, __m256i a, __m256i b) {
    const __m256i difference = _mm256_sub_epi16(a, b);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(difference, difference));
  }
  GOSSAMER_INLINE static int of(int a, int b) { return (a - b) * (a - b); }
};

GOSSAMER_INLINE float sum_of(__m256 values) {
  __m128 sum = _mm_add_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
  sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
  return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}

GOSSAMER_INLINE int sum_of(__m256i values) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(1, 0, 3, 2)));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(2, 3, 0, 1)));
  return _mm_cvtsi128_si32(sum);
}

// Four sums, because an addition waits longer for the one before it than for its turn.
template <class Term, class A, class B>
GOSSAMER_TARGET float distance(const void* a_row, const void* b_row, std::size_t dim) noexcept {
  const auto* a = static_cast<const typename A::Value*>(a_row);
  const auto* b = static_cast<const typename B::Value*>(b_row);
  __m256 sum0 = _mm256_setzero_ps();
  __m256 sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (; dim >= 32; dim -= 32, a += 32, b += 32) {
    sum0 = Term::add(sum0, A::load(a), B::load(b));
    sum1 = Term::add(sum1, A::load(a + 8), B::load(b + 8));
    sum2 = Term::add(sum2, A::load(a + 16), B::load(b + 16));
    sum3 = Term::add(sum3, A::load(a + 24), B::load(b + 24));
  }
  for (; dim >= 8; dim -= 8, a += 8, b += 8) sum0 = Term::add(sum0, A::load(a), B::load(b));
  float total = sum_of(_mm256_add_ps(_mm256_add_ps(sum0, sum1), _mm256_add_ps(sum2, sum3)));
  for (; dim > 0; --dim, ++a, ++b) total += Term::of(A::load_one(a), B::load_one(b));
  return Term::kSign * total;
}

// Sixteen int8 values as i16: products of two pairs fit i32, so nothing saturates.
GOSSAMER_INLINE __m256i widen(const std::int8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

template <class Term>
GOSSAMER_TARGET float distance_i8(const void* a_row, const void* b_row, std::size_t dim) noexcept {
  const auto* a = static_cast<const std::int8_t*>(a_row);
  const auto* b = static_cast<const std::int8_t*>(b_row);
  __m256i sum0 = _mm256_setzero_si256();
  __m256i sum1 = sum0;
  for (; dim >= 32; dim -= 32, a += 32, b += 32) {
    sum0 = Term::add(sum0, widen(a), widen(b));
    sum1 = Term::add(sum1, widen(a + 16), widen(b + 16));
  }
  if (dim >= 16) {
    sum0 = Term::add(sum0, widen(a), widen(b));
    dim -= 16, a += 16, b += 16;
  }
  int total = sum_of(_mm256_add_epi32(sum0, sum1));
  for (; dim > 0; --dim, ++a, ++b) total += Term::of(int{*a}, int{*b});
  return static_cast<float>(Term::kSign * total);
}

GOSSAMER_TARGET void to_f16(const float* from, std::uint16_t* to, std::size_t count) noexcept {
  for (; count >= 8; count -= 8, from += 8, to += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
  }
  for (std::size_t i = 0; i < count; ++i)
    store_value(float_to_half(load_value<float>(from, i)), to, i);
}

GOSSAMER_TARGET void from_f16(const std::uint16_t* from, float* to, std::size_t count) noexcept {
  for (; count >= 8; count -= 8, from += 8, to += 8) _mm256_storeu_ps(to, F16::load(from));
  for (std::size_t i = 0; i < count; ++i) store_value(F16::load_one(from + i), to, i);
}

constexpr Kernels kAvx2 = {
    .name = "avx2",
    .inner_product_f32 = distance<Product, F32, F32>,
    .l2_f32 = distance<SquaredDifference, F32, F32>,
    .inner_product_f16 = distance<Product, F16, F16>,
    .l2_f16 = distance<SquaredDifference, F16, F16>,
    .inner_product_f32_f16 = distance<Product, F32, F16>,
    .l2_f32_f16 = distance<SquaredDifference, F32, F16>,
    .inner_product_i8 = distance_i8<Product>,
    .l2_i8 = distance_i8<SquaredDifference>,
    .to_f16 = to_f16,
    .from_f16 = from_f16,
};

}  // namespace

const Kernels& avx2_kernels() { return kAvx2; }

}  // namespace gossamer

#endif
