#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codes/nearest.h"

namespace gossamer {

// Centroids of one subspace: as many as a byte can name.
inline constexpr std::size_t kSubspaceCentroids = 256;

// A product quantizer cuts a vector at `splits` (first 0, last the dimension, strictly rising) and
// names, for each piece, one of 256 centroids. Centroids lie subspace by subspace: those of the
// piece from a to b start at 256 * a and have b - a floats each.
struct ProductTraining {
  std::size_t iterations = 10;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  bool is_warm = false;  // go on from the centroids given instead of drawing new ones
};

// k-means in every subspace of `count` vectors, into `centroids` (256 * dimension floats). The
// same for a seed whatever the number of threads.
void train_product(const float* vectors, std::size_t count, std::span<const std::uint32_t> splits,
                   const ProductTraining& options, std::span<float> centroids);

// Assigns pieces to centroids; immutable once made.
class ProductEncoder {
 public:
  ProductEncoder(std::span<const std::uint32_t> splits, std::span<const float> centroids);

  // One byte a subspace for each vector; rows of `codes` stand `code_stride` bytes apart.
  void encode(const float* vectors, std::size_t count, std::uint8_t* codes,
              std::size_t code_stride) const;

 private:
  std::vector<std::uint32_t> splits_;
  std::vector<CentroidTable> tables_;
};

// What each vector's code stands for, into `quantized`: count vectors again.
void quantize_product(const float* vectors, std::size_t count,
                      std::span<const std::uint32_t> splits, std::span<const float> centroids,
                      unsigned threads, float* quantized);

}  // namespace gossamer
