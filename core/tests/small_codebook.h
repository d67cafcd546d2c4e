#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "codes/codebook.h"
#include "codes/product.h"

namespace gossamer::testing {

// A codebook with the identity for a matrix and k-means centroids, two dimensions a piece: quick to
// train, and its errors are measured on the vectors it is trained with.
inline std::shared_ptr<const Codebook> small_codebook(const std::vector<float>& vectors,
                                                      std::size_t dim, Metric metric) {
  const std::size_t count = vectors.size() / dim;
  CodebookParts parts;
  parts.metric = metric;
  parts.dim = static_cast<std::uint32_t>(dim);
  for (std::uint32_t d = 0; d < dim; d += 2) parts.splits.push_back(d);
  parts.splits.push_back(parts.dim);
  parts.mean.assign(dim, 0.0f);
  parts.encode.assign(dim * dim, 0.0f);
  for (std::size_t d = 0; d < dim; ++d) parts.encode[d * dim + d] = 1.0f;
  parts.centroids.resize(kSubspaceCentroids * dim);
  train_product(vectors.data(), count, parts.splits, {4, 1, 1, false}, parts.centroids);
  std::vector<float> quantized(vectors.size());
  quantize_product(vectors.data(), count, parts.splits, parts.centroids, 1, quantized.data());
  parts.residual_variance.assign(dim, 0.0f);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const float missed = vectors[i] - quantized[i];
    parts.residual_variance[i % dim] += missed * missed / static_cast<float>(count);
  }
  for (const float variance : parts.residual_variance) parts.energy_variance += variance * variance;
  return std::make_shared<const Codebook>(std::move(parts));
}

}  // namespace gossamer::testing
