#if defined(__x86_64__)

#include <immintrin.h>

#include "codes/scan_columns.h"

#define GOSSAMER_TARGET [[gnu::target("avx512f,avx512bw,avx512vl,avx512vbmi")]]

namespace gossamer {

namespace {

// Lane l of register i holds bytes [0, 16) of row 16 * l + i, so that turning each lane's 16 x 16
// square leaves every column in the order of its rows.
GOSSAMER_TARGET inline void load_squares(const std::uint8_t* rows, std::size_t stride,
                                         __m512i (&squares)[kTurnedColumns]) {
  for (std::size_t i = 0; i < kTurnedColumns; ++i) {
    const std::uint8_t* row = rows + i * stride;
    __m512i square = _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
    square = _mm512_inserti32x4(
        square, _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 16 * stride)), 1);
    square = _mm512_inserti32x4(
        square, _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 32 * stride)), 2);
    squares[i] = _mm512_inserti32x4(
        square, _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 48 * stride)), 3);
  }
}

// One round of the perfect shuffle: interleaves the bytes of register i and i + 8. Four rounds
// turn the squares.
GOSSAMER_TARGET inline void interleave(const __m512i (&from)[kTurnedColumns],
                                       __m512i (&to)[kTurnedColumns]) {
  for (std::size_t i = 0; i < kTurnedColumns / 2; ++i) {
    to[2 * i] = _mm512_unpacklo_epi8(from[i], from[i + kTurnedColumns / 2]);
    to[2 * i + 1] = _mm512_unpackhi_epi8(from[i], from[i + kTurnedColumns / 2]);
  }
}

GOSSAMER_TARGET void turn_group(const std::uint8_t* rows, std::size_t stride,
                                std::uint8_t* columns) {
  __m512i even[kTurnedColumns], odd[kTurnedColumns];
  load_squares(rows, stride, even);
  interleave(even, odd);
  interleave(odd, even);
  interleave(even, odd);
  interleave(odd, even);
  for (std::size_t i = 0; i < kTurnedColumns; ++i)
    _mm512_storeu_si512(columns + i * kGroupCodes, even[i]);
}

// Sums of codes at even and at odd places: bytes widen to words without crossing lanes.
struct Sums {
  __m512i even;
  __m512i odd;
};

GOSSAMER_TARGET inline void start_sums(const std::uint16_t* start, Sums& sums) {
  // Words 0, 2, 4, ... of 64: the low halves of 32 double words.
  const __m512i first = _mm512_loadu_si512(start);
  const __m512i second = _mm512_loadu_si512(start + 32);
  const __m512i every_other =
      _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26,
                       24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  sums.even = _mm512_permutex2var_epi16(first, every_other, second);
  sums.odd =
      _mm512_permutex2var_epi16(first, _mm512_add_epi16(every_other, _mm512_set1_epi16(1)), second);
}

GOSSAMER_TARGET inline std::uint64_t mask_below(const Sums& sums, std::uint16_t limit) {
  const __m512i most = _mm512_set1_epi16(static_cast<short>(limit));
  const __m512i even = _mm512_movm_epi16(_mm512_cmple_epu16_mask(sums.even, most));
  const __m512i odd = _mm512_movm_epi16(_mm512_cmple_epu16_mask(sums.odd, most));
  // A byte of ones per hit, even codes low and odd codes high: the top bits are the codes in order.
  return _mm512_movepi8_mask(_mm512_or_si512(_mm512_and_si512(even, _mm512_set1_epi16(0x00ff)),
                                             _mm512_slli_epi16(odd, 8)));
}

GOSSAMER_TARGET void find_below(const std::uint8_t* columns, std::size_t pieces,
                                const std::uint8_t* entries, const std::uint16_t* start,
                                std::uint16_t limit, std::uint64_t* masks) {
  const __m512i low_byte = _mm512_set1_epi16(0x00ff);
  Sums sums[kGroupBlocks];
  for (std::size_t b = 0; b < kGroupBlocks; ++b) start_sums(start + b * kScanBlock, sums[b]);
  for (std::size_t piece = 0; piece < pieces; ++piece, entries += kSubspaceCentroids) {
    const __m512i table[4] = {_mm512_loadu_si512(entries), _mm512_loadu_si512(entries + 64),
                              _mm512_loadu_si512(entries + 128), _mm512_loadu_si512(entries + 192)};
    const std::uint8_t* column = columns + piece * kGroupCodes;
    for (std::size_t b = 0; b < kGroupBlocks; ++b) {
      const __m512i code = _mm512_loadu_si512(column + b * kScanBlock);
      const __m512i low = _mm512_permutex2var_epi8(table[0], code, table[1]);
      const __m512i high = _mm512_permutex2var_epi8(table[2], code, table[3]);
      const __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(code), low, high);
      sums[b].even = _mm512_adds_epu16(sums[b].even, _mm512_and_si512(found, low_byte));
      sums[b].odd = _mm512_adds_epu16(sums[b].odd, _mm512_srli_epi16(found, 8));
    }
  }
  for (std::size_t b = 0; b < kGroupBlocks; ++b) masks[b] = mask_below(sums[b], limit);
}

}  // namespace

const ScanKernels& avx512_scan_kernels() {
  static constexpr ScanKernels kernels{"avx512vbmi", turn_by_groups<turn_group>, find_below};
  return kernels;
}

}  // namespace gossamer

#endif
