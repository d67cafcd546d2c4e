#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "codes/codebook.h"
#include "codes/product.h"

namespace gossamer::testing {

inline std::vector<float> random_vectors(std::size_t count, std::size_t dim, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> vectors(count * dim);
  for (float& value : vectors) value = static_cast<float>(random.normal());
  return vectors;
}

// A codebook over random vectors whose map is the identity, so that truth is easy to compute.
// Seven dimensions in three uneven pieces.
inline CodebookParts small_parts(Metric metric, std::size_t coarse_count = 0) {
  constexpr std::uint32_t kDim = 7;
  CodebookParts parts;
  parts.metric = metric;
  parts.dim = kDim;
  parts.splits = {0, 3, 5, kDim};
  parts.mean.assign(kDim, 0.25f);
  parts.encode.assign(kDim * kDim, 0.0f);
  for (std::size_t d = 0; d < kDim; ++d) parts.encode[d * kDim + d] = 1.0f;
  parts.centroids.resize(kSubspaceCentroids * kDim);
  const std::vector<float> sample = random_vectors(500, kDim, 5);
  train_product(sample.data(), 500, parts.splits, {4, 1, 1, false}, parts.centroids);
  if (coarse_count > 0) parts.coarse = random_vectors(coarse_count, kDim, 6);
  parts.residual_variance.assign(kDim, 0.01f);
  parts.correction_low = -1.0f;
  parts.correction_step = 0.02f;
  parts.correlation = 0.3f;
  return parts;
}

}  // namespace gossamer::testing
