#if defined(__x86_64__)

// GCC 12's own headers trip over these two warnings when they are inlined.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include "distance/tables.h"

// The file needs no compiler flags of its own: each function names what it needs.
#define GOSSAMER_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,fma,f16c")))
#define GOSSAMER_INLINE GOSSAMER_TARGET inline __attribute__((always_inline))
#define GOSSAMER_TARGET_VNNI \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define GOSSAMER_INLINE_VNNI GOSSAMER_TARGET_VNNI inline __attribute__((always_inline))

namespace gossamer {
namespace {

// Sixteen values as f32. A masked load reads nothing beyond the mask and gives zeros there, which
// add nothing to a sum: so tails need no loop.
struct F32 {
  using Value = float;
  GOSSAMER_INLINE static __m512 load(const float* from) { return _mm512_loadu_ps(from); }
  GOSSAMER_INLINE static __m512 load(const float* from, __mmask16 mask) {
    return _mm512_maskz_loadu_ps(mask, from);
  }
};

struct F16 {
  using Value = std::uint16_t;
  GOSSAMER_INLINE static __m512 load(const std::uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  GOSSAMER_INLINE static __m512 load(const std::uint16_t* from, __mmask16 mask) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, from));
  }
};

struct Product {
  static constexpr float kSign = -1.0f;
  GOSSAMER_INLINE static __m512 add(__m512 sum, __m512 a, __m512 b) {
    return _mm512_fmadd_ps(a, b, sum);
  }
};

struct SquaredDifference {
  static constexpr float kSign = 1.0f;
  GOSSAMER_INLINE static __m512 add(__m512 sum, __m512 a, __m512 b) {
    const __m512 difference = _mm512_sub_ps(a, b);
    return _mm512_fmadd_ps(difference, difference, sum);
  }
};

// Four sums, because an addition waits longer for the one before it than for its turn.
template <class Term, class A, class B>
GOSSAMER_TARGET float distance(const void* a_row, const void* b_row, std::size_t dim) noexcept {
  const auto* a = static_cast<const typename A::Value*>(a_row);
  const auto* b = static_cast<const typename B::Value*>(b_row);
  __m512 sum0 = _mm512_setzero_ps();
  __m512 sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (; dim >= 64; dim -= 64, a += 64, b += 64) {
    sum0 = Term::add(sum0, A::load(a), B::load(b));
    sum1 = Term::add(sum1, A::load(a + 16), B::load(b + 16));
    sum2 = Term::add(sum2, A::load(a + 32), B::load(b + 32));
    sum3 = Term::add(sum3, A::load(a + 48), B::load(b + 48));
  }
  for (; dim >= 16; dim -= 16, a += 16, b += 16) {
    sum0 = Term::add(sum0, A::load(a), B::load(b));
  }
  if (dim > 0) {
    const auto mask = static_cast<__mmask16>((1u << dim) - 1);
    sum1 = Term::add(sum1, A::load(a, mask), B::load(b, mask));
  }
  const __m512 sum = _mm512_add_ps(_mm512_add_ps(sum0, sum1), _mm512_add_ps(sum2, sum3));
  return Term::kSign * _mm512_reduce_add_ps(sum);
}

// Thirty-two int8 values as i16: products of two pairs fit i32, so nothing saturates.
GOSSAMER_INLINE __m512i widen(const std::int8_t* from) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

GOSSAMER_INLINE __m512i widen(const std::int8_t* from, __mmask32 mask) {
  return _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(mask, from));
}

struct ProductI8 {
  static constexpr int kSign = -1;
  GOSSAMER_INLINE static __m512i add(__m512i sum, __m512i a, __m512i b) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
  }
};

struct SquaredDifferenceI8 {
  static constexpr int kSign = 1;
  GOSSAMER_INLINE static __m512i add(__m512i sum, __m512i a, __m512i b) {
    const __m512i difference = _mm512_sub_epi16(a, b);
    return _mm512_add_epi32(sum, _mm512_madd_epi16(difference, difference));
  }
};

template <class Term>
GOSSAMER_TARGET float distance_i8(const void* a_row, const void* b_row, std::size_t dim) noexcept {
  const auto* a = static_cast<const std::int8_t*>(a_row);
  const auto* b = static_cast<const std::int8_t*>(b_row);
  __m512i sum0 = _mm512_setzero_si512();
  __m512i sum1 = sum0;
  for (; dim >= 64; dim -= 64, a += 64, b += 64) {
    sum0 = Term::add(sum0, widen(a), widen(b));
    sum1 = Term::add(sum1, widen(a + 32), widen(b + 32));
  }
  if (dim >= 32) {
    sum0 = Term::add(sum0, widen(a), widen(b));
    dim -= 32, a += 32, b += 32;
  }
  if (dim > 0) {
    const auto mask = static_cast<__mmask32>((1u << dim) - 1);
    sum1 = Term::add(sum1, widen(a, mask), widen(b, mask));
  }
  return static_cast<float>(Term::kSign * _mm512_reduce_add_epi32(_mm512_add_epi32(sum0, sum1)));
}

// The VNNI instruction multiplies unsigned with signed. `x ^ 0x80` is x + 128 as unsigned, so the
// dot product is the sum of (a + 128) * b less 128 times the sum of b. Sums may wrap on the way;
// the difference does not.
struct ProductVnni {
  static constexpr int kSign = -1;
  GOSSAMER_INLINE_VNNI static void add(__m512i& plus, __m512i& minus, __m512i a, __m512i b) {
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
    plus = _mm512_dpbusd_epi32(plus, _mm512_xor_si512(a, offset), b);
    minus = _mm512_dpbusd_epi32(minus, offset, b);
  }
};

// The distance d of two values fits an unsigned byte, d - 128 a signed one: the sum of d^2 is the
// sum of d * (d - 128) less that of d * -128.
struct SquaredDifferenceVnni {
  static constexpr int kSign = 1;
  GOSSAMER_INLINE_VNNI static void add(__m512i& plus, __m512i& minus, __m512i a, __m512i b) {
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
    const __m512i apart = _mm512_sub_epi8(_mm512_max_epi8(a, b), _mm512_min_epi8(a, b));
    plus = _mm512_dpbusd_epi32(plus, apart, _mm512_xor_si512(apart, offset));
    minus = _mm512_dpbusd_epi32(minus, apart, offset);
  }
};

template <class Term>
GOSSAMER_TARGET_VNNI float distance_vnni(const void* a_row, const void* b_row,
                                         std::size_t dim) noexcept {
  const auto* a = static_cast<const std::int8_t*>(a_row);
  const auto* b = static_cast<const std::int8_t*>(b_row);
  __m512i plus0 = _mm512_setzero_si512();
  __m512i plus1 = plus0, minus0 = plus0, minus1 = plus0;
  for (; dim >= 128; dim -= 128, a += 128, b += 128) {
    Term::add(plus0, minus0, _mm512_loadu_si512(a), _mm512_loadu_si512(b));
    Term::add(plus1, minus1, _mm512_loadu_si512(a + 64), _mm512_loadu_si512(b + 64));
  }
  if (dim >= 64) {
    Term::add(plus0, minus0, _mm512_loadu_si512(a), _mm512_loadu_si512(b));
    dim -= 64, a += 64, b += 64;
  }
  if (dim > 0) {
    const __mmask64 mask = (__mmask64{1} << dim) - 1;
    Term::add(plus1, minus1, _mm512_maskz_loadu_epi8(mask, a), _mm512_maskz_loadu_epi8(mask, b));
  }
  const __m512i sum =
      _mm512_sub_epi32(_mm512_add_epi32(plus0, plus1), _mm512_add_epi32(minus0, minus1));
  return static_cast<float>(Term::kSign * _mm512_reduce_add_epi32(sum));
}

GOSSAMER_TARGET void to_f16(const float* from, std::uint16_t* to, std::size_t count) noexcept {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  for (; count >= 16; count -= 16, from += 16, to += 16) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(_mm512_loadu_ps(from), kNearest));
  }
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  _mm256_mask_storeu_epi16(to, mask, _mm512_cvtps_ph(F32::load(from, mask), kNearest));
}

GOSSAMER_TARGET void from_f16(const std::uint16_t* from, float* to, std::size_t count) noexcept {
  for (; count >= 16; count -= 16, from += 16, to += 16) _mm512_storeu_ps(to, F16::load(from));
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  _mm512_mask_storeu_ps(to, mask, F16::load(from, mask));
}

constexpr Kernels kAvx512 = {
    .name = "avx512",
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

constexpr Kernels with_vnni(Kernels table) {
  table.name = "avx512vnni";
  table.inner_product_i8 = distance_vnni<ProductVnni>;
  table.l2_i8 = distance_vnni<SquaredDifferenceVnni>;
  return table;
}

constexpr Kernels kAvx512Vnni = with_vnni(kAvx512);

}  // namespace

const Kernels& avx512_kernels() { return kAvx512; }

const Kernels& avx512vnni_kernels() { return kAvx512Vnni; }

}  // namespace gossamer

#endif
