#if defined(__x86_64__)

#include <immintrin.h>

#include "codes/scan_columns.h"

#define GOSSAMER_TARGET [[gnu::target("avx2")]]

namespace gossamer {

namespace {

constexpr std::size_t kLane = 16;                      // bytes that one shuffle can look up
constexpr std::size_t kRegister = 2 * kLane;           // codes in a register
constexpr std::size_t kHalf = kSubspaceCentroids / 2;  // entries for codes below, and from, 128
constexpr std::size_t kRegisters = kGroupCodes / kRegister;

GOSSAMER_TARGET inline __m256i load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

// One round of the perfect shuffle: interleaves the bytes of register i and i + 8.
GOSSAMER_TARGET inline void interleave(const __m256i (&from)[kTurnedColumns],
                                       __m256i (&to)[kTurnedColumns]) {
  for (std::size_t i = 0; i < kTurnedColumns / 2; ++i) {
    to[2 * i] = _mm256_unpacklo_epi8(from[i], from[i + kTurnedColumns / 2]);
    to[2 * i + 1] = _mm256_unpackhi_epi8(from[i], from[i + kTurnedColumns / 2]);
  }
}

// Lane l of register i holds bytes [0, 16) of row 16 * l + i, so that turning each lane's 16 x 16
// square, by four rounds, leaves every column in the order of its rows.
GOSSAMER_TARGET void turn_group(const std::uint8_t* rows, std::size_t stride,
                                std::uint8_t* columns) {
  __m256i even[kTurnedColumns], odd[kTurnedColumns];
  for (std::size_t first = 0; first < kScanBlock; first += kRegister) {
    for (std::size_t i = 0; i < kTurnedColumns; ++i) {
      const std::uint8_t* row = rows + (first + i) * stride;
      even[i] = _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(row + kLane * stride),
                                    reinterpret_cast<const __m128i*>(row));
    }
    interleave(even, odd);
    interleave(odd, even);
    interleave(even, odd);
    interleave(odd, even);
    for (std::size_t i = 0; i < kTurnedColumns; ++i)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(columns + i * kGroupCodes + first), even[i]);
  }
}

// Sums of codes at even and at odd places: bytes widen to words without crossing lanes.
struct Sums {
  __m256i even;
  __m256i odd;
};

GOSSAMER_TARGET inline Sums start_sums(const std::uint16_t* start) {
  const __m256i first = load(start);
  const __m256i second = load(start + kLane);
  const __m256i low_word = _mm256_set1_epi32(0xffff);
  // Packing goes lane by lane; the permutation puts the quarters back in order.
  const __m256i even =
      _mm256_packus_epi32(_mm256_and_si256(first, low_word), _mm256_and_si256(second, low_word));
  const __m256i odd =
      _mm256_packus_epi32(_mm256_srli_epi32(first, 16), _mm256_srli_epi32(second, 16));
  return {_mm256_permute4x64_epi64(even, _MM_SHUFFLE(3, 1, 2, 0)),
          _mm256_permute4x64_epi64(odd, _MM_SHUFFLE(3, 1, 2, 0))};
}

GOSSAMER_TARGET inline void add(__m256i found, Sums& sums) {
  sums.even = _mm256_adds_epu16(sums.even, _mm256_and_si256(found, _mm256_set1_epi16(0x00ff)));
  sums.odd = _mm256_adds_epu16(sums.odd, _mm256_srli_epi16(found, 8));
}

GOSSAMER_TARGET inline std::uint32_t mask_below(const Sums& sums, std::uint16_t limit) {
  const __m256i most = _mm256_set1_epi16(static_cast<short>(limit));
  const __m256i zero = _mm256_setzero_si256();
  const __m256i even = _mm256_cmpeq_epi16(_mm256_subs_epu16(sums.even, most), zero);
  const __m256i odd = _mm256_cmpeq_epi16(_mm256_subs_epu16(sums.odd, most), zero);
  // A byte of ones per hit, even codes low and odd codes high: the top bits are the codes in order.
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(
      _mm256_and_si256(even, _mm256_set1_epi16(0x00ff)), _mm256_slli_epi16(odd, 8))));
}

// Each half of a piece's table, in 16-entry steps: the first, then how each differs (by exclusive
// or) from the one before. A code's entry is then all steps up to its own, and a shuffle leaves
// out a step by itself where the index went below zero.
GOSSAMER_TARGET inline void to_steps(const std::uint8_t* entries, std::uint8_t* steps) {
  for (std::size_t half = 0; half < kSubspaceCentroids; half += kHalf)
    for (std::size_t i = 0; i < kHalf; i += kLane) {
      const auto* step = reinterpret_cast<const __m128i*>(entries + half + i);
      const __m128i before = i == 0 ? _mm_setzero_si128() : _mm_loadu_si128(step - 1);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(steps + half + i),
                       _mm_xor_si128(_mm_loadu_si128(step), before));
    }
}

GOSSAMER_TARGET inline __m256i broadcast(const std::uint8_t* step) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step)));
}

// Entries of the codes in `Count` registers, which share the loads of the steps.
template <std::size_t Count>
GOSSAMER_TARGET inline void look_up(const std::uint8_t* column, const std::uint8_t* steps,
                                    Sums* sums) {
  __m256i index[Count], low[Count], high[Count];
  for (std::size_t c = 0; c < Count; ++c) {
    index[c] = _mm256_and_si256(load(column + c * kRegister), _mm256_set1_epi8(0x7f));
    low[c] = high[c] = _mm256_setzero_si256();
  }
// Unrolled, GCC would collect all steps before it joins them, and run out of registers.
#pragma GCC unroll 1
  for (std::size_t i = 0; i < kHalf; i += kLane) {
    const __m256i low_step = broadcast(steps + i);
    const __m256i high_step = broadcast(steps + kHalf + i);
    for (std::size_t c = 0; c < Count; ++c) {
      low[c] = _mm256_xor_si256(low[c], _mm256_shuffle_epi8(low_step, index[c]));
      high[c] = _mm256_xor_si256(high[c], _mm256_shuffle_epi8(high_step, index[c]));
      index[c] = _mm256_sub_epi8(index[c], _mm256_set1_epi8(kLane));
    }
  }
  for (std::size_t c = 0; c < Count; ++c)
    add(_mm256_blendv_epi8(low[c], high[c], load(column + c * kRegister)), sums[c]);
}

GOSSAMER_TARGET void find_below(const std::uint8_t* columns, std::size_t pieces,
                                const std::uint8_t* entries, const std::uint16_t* start,
                                std::uint16_t limit, std::uint64_t* masks) {
  constexpr std::size_t kTogether = 4;  // three registers for each, two for steps, two constants
  std::uint8_t steps[kSubspaceCentroids];
  Sums sums[kRegisters];
  for (std::size_t r = 0; r < kRegisters; ++r) sums[r] = start_sums(start + r * kRegister);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    to_steps(entries + piece * kSubspaceCentroids, steps);
    const std::uint8_t* column = columns + piece * kGroupCodes;
    for (std::size_t r = 0; r < kRegisters; r += kTogether)
      look_up<kTogether>(column + r * kRegister, steps, sums + r);
  }
  for (std::size_t b = 0; b < kGroupBlocks; ++b)
    masks[b] = mask_below(sums[2 * b], limit) |
               static_cast<std::uint64_t>(mask_below(sums[2 * b + 1], limit)) << kRegister;
}

}  // namespace

const ScanKernels& avx2_scan_kernels() {
  static constexpr ScanKernels kernels{"avx2", turn_by_groups<turn_group>, find_below};
  return kernels;
}

}  // namespace gossamer

#endif
