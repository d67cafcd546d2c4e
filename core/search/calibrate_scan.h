#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bitmap.h"
#include "base/types.h"
#include "codes/codebook.h"
#include "search/calibration.h"

namespace gossamer {

// The numbers of hits that efforts are calibrated for; others are interpolated.
inline constexpr std::array<std::uint32_t, 5> kHitCounts = {1, 3, 10, 30, 100};
// From here on more effort is not worth trying.
inline constexpr double kEnoughRecall = 0.9992;

// What a scan finds for one sample query.
struct ScanSample {
  std::vector<Candidate> candidates;  // by estimate
  std::vector<float> exact;           // their exact distances
  float error = 0;                    // standard deviation of the estimates
  float unit = 1;                     // what one of `exact` is worth in estimates
  std::vector<Candidate> truth;       // the nearest by exact search
};

// Scans codes for a query; exact distances (all 0) and truth are left to the caller.
ScanSample scan_sample(const Codebook& codebook, const float* query,
                       std::span<const std::uint8_t> codes, std::size_t count,
                       const Bitmap* allowed);

// What each recall costs when codes are scanned, for each of kHitCounts that makes sense among
// `count` vectors.
std::vector<Calibration::Table> calibrate_scan(std::span<const ScanSample> samples,
                                               std::size_t count, unsigned threads);

// The share of the k nearest that was found. Equal distances count as found, whichever of the
// equals was returned.
double recall_of(std::span<const Candidate> hits, std::span<const Candidate> truth, std::size_t k);

}  // namespace gossamer
