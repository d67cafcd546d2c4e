#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bitmap.h"
#include "base/types.h"
#include "codes/codebook.h"

namespace gossamer {

// One query against codes, by lookup tables. Estimates are raw distances in the units of Space.
class Estimator {
 public:
  Estimator(const Codebook& codebook, const float* query);

  float estimate(const std::uint8_t* code) const;
  // Standard deviation of (exact distance - estimate) for this query, from the residuals
  // seen in training: what decides when a search may stop.
  float error() const;
};

// The `best` codes with the smallest estimates, sorted; only nodes in `allowed` if it is given.
// Equal to sorting all float estimates.
std::vector<Candidate> scan(const Estimator& estimator, std::span<const std::uint8_t> codes,
                            std::size_t count, std::size_t best, const Bitmap* allowed);

}  // namespace gossamer
