#include <algorithm>

#include "codes/scan_kernels.h"

namespace gossamer {

namespace {

void to_columns(const std::uint8_t* rows, std::size_t stride, std::size_t pieces,
                std::uint8_t* columns) {
  for (std::size_t piece = 0; piece < pieces; ++piece)
    for (std::size_t row = 0; row < kScanBlock; ++row)
      columns[piece * kGroupCodes + row] = rows[row * stride + piece];
}

void find_below(const std::uint8_t* columns, std::size_t pieces, const std::uint8_t* entries,
                const std::uint16_t* start, std::uint16_t limit, std::uint64_t* masks) {
  std::fill_n(masks, kGroupBlocks, 0);
  for (std::size_t row = 0; row < kGroupCodes; ++row) {
    std::uint32_t sum = start[row];
    for (std::size_t piece = 0; piece < pieces; ++piece)
      sum += entries[piece * kSubspaceCentroids + columns[piece * kGroupCodes + row]];
    if (std::min(sum, std::uint32_t{0xffff}) <= limit)
      masks[row / kScanBlock] |= std::uint64_t{1} << (row % kScanBlock);
  }
}

}  // namespace

const ScanKernels& scalar_scan_kernels() {
  static constexpr ScanKernels kernels{"scalar", to_columns, find_below};
  return kernels;
}

}  // namespace gossamer
