#include "codes/kmeans.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "codes/nearest.h"

namespace gossamer {

namespace {

constexpr std::size_t kPointBlock = 256;
constexpr std::size_t kColumnBlock = 32;

std::size_t block_count(std::size_t items, std::size_t block) {
  return (items + block - 1) / block;
}

template <std::size_t kFound>
void assign(const PointView& points, const CentroidTable& table, std::uint32_t* found,
            unsigned threads) {
  const auto work = [&](std::size_t block, unsigned) {
    const std::size_t first = block * kPointBlock;
    const std::size_t size = std::min(kPointBlock, points.count - first);
    const float* data = points.data + first * points.stride;
    if constexpr (kFound == 1)
      table.nearest(data, points.stride, size, found + first);
    else
      table.nearest_two(data, points.stride, size, found + 2 * first);
  };
  parallel_for(block_count(points.count, kPointBlock), threads, 1, work);
}

}  // namespace

std::vector<float> kmeans(const float* vectors, std::size_t count, std::size_t dim, std::size_t k,
                          std::size_t iterations, std::uint64_t seed, unsigned threads) {
  expect(count > 0, Reason::kEmpty, "k-means needs at least one vector");
  expect(k > 0 && dim > 0, Reason::kInvalidArgument,
         "k-means needs at least one centroid and one dimension");
  const PointView points{vectors, count, dim, dim};
  std::vector<float> centroids(k * dim);
  seed_centroids(points, k, seed, centroids.data());
  std::vector<std::uint32_t> assigned(count);
  for (std::size_t round = 0; round < iterations; ++round) {
    assign<1>(points, CentroidTable(centroids.data(), k, dim), assigned.data(), threads);
    const std::vector<std::uint32_t> sizes = cluster_sizes(assigned, k);
    // By columns, so that the sums do not depend on how many threads there are.
    parallel_for(block_count(dim, kColumnBlock), threads, 1, [&](std::size_t block, unsigned) {
      const std::size_t first = block * kColumnBlock;
      move_centroids(points, assigned, first, std::min(dim, first + kColumnBlock), sizes,
                     centroids.data());
    });
    split_largest(sizes, dim, centroids.data());
  }
  return centroids;
}

void assign_nearest(const float* vectors, std::size_t count, std::size_t dim,
                    const float* centroids, std::size_t k, std::uint32_t* found, unsigned threads) {
  expect(k > 0 && dim > 0, Reason::kInvalidArgument, "there is no centroid to assign to");
  assign<1>({vectors, count, dim, dim}, CentroidTable(centroids, k, dim), found, threads);
}

void assign_nearest_two(const float* vectors, std::size_t count, std::size_t dim,
                        const float* centroids, std::size_t k, std::uint32_t* found,
                        unsigned threads) {
  expect(k > 0 && dim > 0, Reason::kInvalidArgument, "there is no centroid to assign to");
  assign<2>({vectors, count, dim, dim}, CentroidTable(centroids, k, dim), found, threads);
}

void seed_centroids(const PointView& points, std::size_t k, std::uint64_t seed, float* centroids) {
  std::vector<std::uint32_t> order(points.count);
  std::iota(order.begin(), order.end(), 0u);
  Random random(seed);
  const std::size_t drawn = std::min(k, points.count);
  for (std::size_t i = 0; i < drawn; ++i)
    std::swap(order[i], order[i + random.below(points.count - i)]);
  for (std::size_t i = 0; i < k; ++i) {
    const float* point = points.data + order[i % drawn] * points.stride;
    std::copy(point, point + points.dim, centroids + i * points.dim);
  }
}

void move_centroids(const PointView& points, std::span<const std::uint32_t> assigned,
                    std::size_t first_column, std::size_t last_column,
                    std::span<const std::uint32_t> sizes, float* centroids) {
  const std::size_t width = last_column - first_column;
  std::vector<double> sums(sizes.size() * width, 0.0);
  for (std::size_t i = 0; i < points.count; ++i) {
    const float* point = points.data + i * points.stride + first_column;
    double* sum = sums.data() + assigned[i] * width;
    for (std::size_t d = 0; d < width; ++d) sum[d] += static_cast<double>(point[d]);
  }
  for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster) {
    if (sizes[cluster] == 0) continue;
    const double scale = 1.0 / sizes[cluster];
    float* centroid = centroids + cluster * points.dim + first_column;
    for (std::size_t d = 0; d < width; ++d)
      centroid[d] = static_cast<float>(sums[cluster * width + d] * scale);
  }
}

std::vector<std::uint32_t> cluster_sizes(std::span<const std::uint32_t> assigned, std::size_t k) {
  std::vector<std::uint32_t> sizes(k, 0);
  for (const std::uint32_t cluster : assigned) ++sizes[cluster];
  return sizes;
}

void split_largest(std::vector<std::uint32_t> sizes, std::size_t dim, float* centroids) {
  constexpr float kStep = 1.0f / 1024.0f;
  for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster) {
    if (sizes[cluster] != 0) continue;
    const auto largest = std::max_element(sizes.begin(), sizes.end());
    if (*largest < 2) return;
    float* from = centroids + static_cast<std::size_t>(largest - sizes.begin()) * dim;
    float* to = centroids + cluster * dim;
    for (std::size_t d = 0; d < dim; ++d) {
      to[d] = from[d] * (1.0f + kStep);
      from[d] *= 1.0f - kStep;
    }
    sizes[cluster] = *largest / 2;
    *largest -= sizes[cluster];
  }
}

}  // namespace gossamer
