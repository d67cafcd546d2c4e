#if defined(__aarch64__)

#include <arm_neon.h>

#include "codes/scan_columns.h"

namespace gossamer {

namespace {

constexpr std::size_t kRegister = 16;                     // codes in a register
constexpr std::size_t kQuarter = kSubspaceCentroids / 4;  // entries that one lookup can see
constexpr std::size_t kRegisters = kGroupCodes / kRegister;

// One round of the perfect shuffle: interleaves the bytes of register i and i + 8.
inline void interleave(const uint8x16_t (&from)[kTurnedColumns], uint8x16_t (&to)[kTurnedColumns]) {
  for (std::size_t i = 0; i < kTurnedColumns / 2; ++i) {
    to[2 * i] = vzip1q_u8(from[i], from[i + kTurnedColumns / 2]);
    to[2 * i + 1] = vzip2q_u8(from[i], from[i + kTurnedColumns / 2]);
  }
}

// Turns four squares of 16 x 16, each by four rounds.
void turn_group(const std::uint8_t* rows, std::size_t stride, std::uint8_t* columns) {
  uint8x16_t even[kTurnedColumns], odd[kTurnedColumns];
  for (std::size_t first = 0; first < kScanBlock; first += kRegister) {
    for (std::size_t i = 0; i < kTurnedColumns; ++i)
      even[i] = vld1q_u8(rows + (first + i) * stride);
    interleave(even, odd);
    interleave(odd, even);
    interleave(even, odd);
    interleave(odd, even);
    for (std::size_t i = 0; i < kTurnedColumns; ++i)
      vst1q_u8(columns + i * kGroupCodes + first, even[i]);
  }
}

// Sums of the first and of the last eight codes of a register.
struct Sums {
  uint16x8_t low;
  uint16x8_t high;
};

// Adds a piece's entries. Entries alone cannot overflow a sum, so that they need not saturate.
inline void add_piece(const std::uint8_t* column, const std::uint8_t* entries, Sums* sums) {
  static_assert(kMaxCodeBytes * 0xff <= 0xffff);
  const uint8x16x4_t first = vld1q_u8_x4(entries);
  const uint8x16x4_t second = vld1q_u8_x4(entries + kQuarter);
  const uint8x16x4_t third = vld1q_u8_x4(entries + 2 * kQuarter);
  const uint8x16x4_t fourth = vld1q_u8_x4(entries + 3 * kQuarter);
  const uint8x16_t quarter = vdupq_n_u8(kQuarter);
  for (std::size_t r = 0; r < kRegisters; ++r) {
    // An index below its quarter wraps to one above it; both leave what was found elsewhere.
    uint8x16_t index = vld1q_u8(column + r * kRegister);
    uint8x16_t found = vqtbl4q_u8(first, index);
    index = vsubq_u8(index, quarter);
    found = vqtbx4q_u8(found, second, index);
    index = vsubq_u8(index, quarter);
    found = vqtbx4q_u8(found, third, index);
    index = vsubq_u8(index, quarter);
    found = vqtbx4q_u8(found, fourth, index);
    sums[r].low = vaddw_u8(sums[r].low, vget_low_u8(found));
    sums[r].high = vaddw_high_u8(sums[r].high, found);
  }
}

// One bit for each of 16 codes.
inline std::uint64_t mask_below(const Sums& sums, const std::uint16_t* start, std::uint16_t limit) {
  const uint16x8_t most = vdupq_n_u16(limit);
  const uint8x8_t bits = vcreate_u8(0x8040201008040201);
  const uint16x8_t low = vcleq_u16(vqaddq_u16(sums.low, vld1q_u16(start)), most);
  const uint16x8_t high = vcleq_u16(vqaddq_u16(sums.high, vld1q_u16(start + 8)), most);
  return vaddv_u8(vand_u8(vmovn_u16(low), bits)) |
         static_cast<std::uint64_t>(vaddv_u8(vand_u8(vmovn_u16(high), bits))) << 8;
}

void find_below(const std::uint8_t* columns, std::size_t pieces, const std::uint8_t* entries,
                const std::uint16_t* start, std::uint16_t limit, std::uint64_t* masks) {
  Sums sums[kRegisters];
  for (Sums& sum : sums) sum.low = sum.high = vdupq_n_u16(0);
  for (std::size_t piece = 0; piece < pieces; ++piece)
    add_piece(columns + piece * kGroupCodes, entries + piece * kSubspaceCentroids, sums);
  for (std::size_t b = 0; b < kGroupBlocks; ++b) masks[b] = 0;
  for (std::size_t r = 0; r < kRegisters; ++r) {
    const std::size_t first = r * kRegister;
    masks[first / kScanBlock] |= mask_below(sums[r], start + first, limit) << (first % kScanBlock);
  }
}

}  // namespace

const ScanKernels& neon_scan_kernels() {
  static constexpr ScanKernels kernels{"neon", turn_by_groups<turn_group>, find_below};
  return kernels;
}

}  // namespace gossamer

#endif
