#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bitmap.h"
#include "codes/estimate.h"

namespace gossamer {

// Codes are looked at 64 at a time: one bit each in a mask, one byte each in a register.
inline constexpr std::size_t kScanBlock = 64;

// A query's tables in eight bits: sums of these entries, in steps of `step` above `origin`, never
// differ from float estimates by more than `slack` steps.
struct ByteTables {
  explicit ByteTables(const Estimator& estimator);
  // The largest sum that a code with an estimate of at most `threshold` can have; -1 for none.
  std::int32_t limit(float threshold) const;

  std::vector<std::uint8_t> entries;  // 256 for each piece
  std::vector<std::uint16_t> coarse;  // one for each coarse id; empty without coarse centroids
  double origin = 0.0;
  double step = 1.0;
  double slack = 0.0;
};

// How many blocks are summed at once: what a table costs to load is shared by them.
inline constexpr std::size_t kGroupBlocks = 4;
inline constexpr std::size_t kGroupCodes = kGroupBlocks * kScanBlock;

// How one instruction set scans. Pieces of 64 rows are first turned into columns (a column has
// kGroupCodes bytes, 64 from each block), which then serve every query of a batch.
struct ScanKernels {
  const char* name;
  // Turns 64 rows into the 64 bytes that each column has for their block.
  void (*to_columns)(const std::uint8_t* rows, std::size_t stride, std::size_t pieces,
                     std::uint8_t* columns);
  // For each block a mask of the codes whose sum, begun at `start` (kGroupCodes values), is at
  // most `limit`.
  void (*find_below)(const std::uint8_t* columns, std::size_t pieces, const std::uint8_t* entries,
                     const std::uint16_t* start, std::uint16_t limit, std::uint64_t* masks);
};

// The kernels that scans use, or null: then float estimates are as fast as it gets. Sums in bytes
// only pay with lookups in registers. Follows the choice of kernels(): its override, and null where
// that is scalar.
const ScanKernels* scan_kernels();
// Every table this CPU can run, scalar first and fastest last: for tests and benchmarks.
std::span<const ScanKernels* const> supported_scan_kernels();
// The reference for find_below(), on any CPU.
const ScanKernels& scalar_scan_kernels();
#if defined(__x86_64__)
const ScanKernels& avx2_scan_kernels();
const ScanKernels& avx512_scan_kernels();
#elif defined(__aarch64__)
const ScanKernels& neon_scan_kernels();
#endif

// scan_batch() with the kernels given; null sums floats.
std::vector<std::vector<Candidate>> scan_with(const ScanKernels* chosen,
                                              std::span<const Estimator> estimators,
                                              std::span<const std::uint8_t> codes,
                                              std::size_t count, std::size_t best,
                                              const Bitmap* allowed);

}  // namespace gossamer
