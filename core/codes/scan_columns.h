#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "codes/scan_kernels.h"

namespace gossamer {

// Columns turned at a time: the bytes of a row that one lane of a register holds.
inline constexpr std::size_t kTurnedColumns = 16;

// Turns kTurnedColumns columns of 64 rows, as ScanKernels::to_columns() does.
using TurnGroup = void (*)(const std::uint8_t* rows, std::size_t stride, std::uint8_t* columns);

// ScanKernels::to_columns() for any number of pieces, out of `turn_group`.
template <TurnGroup turn_group>
void turn_by_groups(const std::uint8_t* rows, std::size_t stride, std::size_t pieces,
                    std::uint8_t* columns) {
  if (pieces < kTurnedColumns) {
    // Loads of 16 bytes would run past the last row.
    std::uint8_t padded[kScanBlock * kTurnedColumns] = {};
    std::uint8_t turned[kGroupCodes * kTurnedColumns];
    for (std::size_t row = 0; row < kScanBlock; ++row)
      std::memcpy(padded + row * kTurnedColumns, rows + row * stride, pieces);
    turn_group(padded, kTurnedColumns, turned);
    for (std::size_t piece = 0; piece < pieces; ++piece)
      std::memcpy(columns + piece * kGroupCodes, turned + piece * kGroupCodes, kScanBlock);
    return;
  }
  // The last group ends with the row, even if it turns some columns twice.
  for (std::size_t piece = 0; piece < pieces; piece += kTurnedColumns) {
    const std::size_t first = std::min(piece, pieces - kTurnedColumns);
    turn_group(rows + first, stride, columns + first * kGroupCodes);
  }
}

}  // namespace gossamer
