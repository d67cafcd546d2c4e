#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gossamer {

// Lloyd's k-means from k distinct random points. Gives k * dim floats; the same for a seed
// whatever the number of threads. A cluster that runs empty takes half of the largest one; with
// fewer points than k, centroids repeat. Fails on no points, k = 0 or dim = 0.
std::vector<float> kmeans(const float* vectors, std::size_t count, std::size_t dim, std::size_t k,
                          std::size_t iterations, std::uint64_t seed, unsigned threads);

// The nearest centroid of each vector (squared L2; the lower index of two as near).
void assign_nearest(const float* vectors, std::size_t count, std::size_t dim,
                    const float* centroids, std::size_t k, std::uint32_t* found, unsigned threads);
// The nearest two, one pair for each vector; where k is 1, the same one twice.
void assign_nearest_two(const float* vectors, std::size_t count, std::size_t dim,
                        const float* centroids, std::size_t k, std::uint32_t* found,
                        unsigned threads);

// Points in a matrix: `dim` of its columns, rows `stride` floats apart.
struct PointView {
  const float* data;
  std::size_t count;
  std::size_t stride;
  std::size_t dim;
};

// Copies k points drawn without repetition (or all of them, over and over) into `centroids`.
void seed_centroids(const PointView& points, std::size_t k, std::uint64_t seed, float* centroids);
// Moves each centroid to the mean of its points in the given columns; one without points stays.
void move_centroids(const PointView& points, std::span<const std::uint32_t> assigned,
                    std::size_t first_column, std::size_t last_column,
                    std::span<const std::uint32_t> sizes, float* centroids);
std::vector<std::uint32_t> cluster_sizes(std::span<const std::uint32_t> assigned, std::size_t k);
// Gives every empty cluster half of the largest one.
void split_largest(std::vector<std::uint32_t> sizes, std::size_t dim, float* centroids);

}  // namespace gossamer
