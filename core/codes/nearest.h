#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gossamer {

// Centroids laid out so that one pass over a point meets 32 of them at a time.
class CentroidTable {
 public:
  // `centroids` holds count * dim floats; count must be positive.
  CentroidTable(const float* centroids, std::size_t count, std::size_t dim);

  std::size_t count() const { return count_; }
  std::size_t dim() const { return dim_; }

  // The nearest centroid (squared L2; the lower index of two as near) of each of `count` points
  // that stand `stride` floats apart.
  void nearest(const float* points, std::size_t stride, std::size_t count,
               std::uint32_t* found) const;
  // The nearest two, one pair for each point; a table of one centroid gives it twice.
  void nearest_two(const float* points, std::size_t stride, std::size_t count,
                   std::uint32_t* found) const;
  // The dot product of each point with each centroid, count() floats a point: a matrix product.
  void products(const float* points, std::size_t stride, std::size_t count, float* out) const;

 private:
  std::size_t count_;
  std::size_t dim_;
  std::size_t tiles_;
  std::vector<float> values_;      // tile by tile, dimension by dimension, 32 centroids
  std::vector<float> half_norms_;  // half the squared norm; huge where padding stands
};

}  // namespace gossamer
