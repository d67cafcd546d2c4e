#include "codes/product.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "codes/kmeans.h"

namespace gossamer {

namespace {

constexpr std::size_t kBlock = 256;

void train_subspace(const PointView& points, const ProductTraining& options, std::size_t subspace,
                    float* centroids) {
  if (!options.is_warm)
    seed_centroids(points, kSubspaceCentroids, options.seed + subspace, centroids);
  std::vector<std::uint32_t> assigned(points.count);
  for (std::size_t round = 0; round < options.iterations; ++round) {
    const CentroidTable table(centroids, kSubspaceCentroids, points.dim);
    table.nearest(points.data, points.stride, points.count, assigned.data());
    const auto sizes = cluster_sizes(assigned, kSubspaceCentroids);
    move_centroids(points, assigned, 0, points.dim, sizes, centroids);
    split_largest(sizes, points.dim, centroids);
  }
}

}  // namespace

void train_product(const float* vectors, std::size_t count, std::span<const std::uint32_t> splits,
                   const ProductTraining& options, std::span<float> centroids) {
  expect(count > 0, Reason::kEmpty, "a codebook needs at least one vector to train on");
  const std::size_t dim = splits.back();
  parallel_for(splits.size() - 1, options.threads, 1, [&](std::size_t subspace, unsigned) {
    const std::size_t first = splits[subspace];
    const std::size_t width = splits[subspace + 1] - first;
    // Gathered once: the rounds then read memory in order.
    std::vector<float> pieces(count * width);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(vectors + i * dim + first, width, pieces.data() + i * width);
    train_subspace({pieces.data(), count, width, width}, options, subspace,
                   centroids.data() + first * kSubspaceCentroids);
  });
}

ProductEncoder::ProductEncoder(std::span<const std::uint32_t> splits,
                               std::span<const float> centroids)
    : splits_(splits.begin(), splits.end()) {
  tables_.reserve(splits.size() - 1);
  for (std::size_t subspace = 0; subspace + 1 < splits.size(); ++subspace)
    tables_.emplace_back(centroids.data() + splits[subspace] * kSubspaceCentroids,
                         kSubspaceCentroids, splits[subspace + 1] - splits[subspace]);
}

void ProductEncoder::encode(const float* vectors, std::size_t count, std::uint8_t* codes,
                            std::size_t code_stride) const {
  const std::size_t dim = splits_.back();
  std::vector<std::uint32_t> found(count);
  for (std::size_t subspace = 0; subspace < tables_.size(); ++subspace) {
    tables_[subspace].nearest(vectors + splits_[subspace], dim, count, found.data());
    for (std::size_t i = 0; i < count; ++i)
      codes[i * code_stride + subspace] = static_cast<std::uint8_t>(found[i]);
  }
}

void quantize_product(const float* vectors, std::size_t count,
                      std::span<const std::uint32_t> splits, std::span<const float> centroids,
                      unsigned threads, float* quantized) {
  const std::size_t dim = splits.back();
  const std::size_t pieces = splits.size() - 1;
  const ProductEncoder encoder(splits, centroids);
  parallel_for((count + kBlock - 1) / kBlock, threads, 1, [&](std::size_t block, unsigned) {
    const std::size_t first = block * kBlock;
    const std::size_t size = std::min(kBlock, count - first);
    std::vector<std::uint8_t> codes(size * pieces);
    encoder.encode(vectors + first * dim, size, codes.data(), pieces);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t piece = 0; piece < pieces; ++piece) {
        const std::size_t start = splits[piece];
        const std::size_t width = splits[piece + 1] - start;
        std::copy_n(
            centroids.data() + start * kSubspaceCentroids + codes[i * pieces + piece] * width,
            width, quantized + (first + i) * dim + start);
      }
  });
}

}  // namespace gossamer
