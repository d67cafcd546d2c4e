#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "codes/nearest.h"
#include "codes/product.h"
#include "distance/distance.h"

namespace gossamer {

inline constexpr std::size_t kMaxCodeBytes = 64;
// What a coarse centroid's id takes at the start of a code.
inline constexpr std::size_t kCoarseBytes = 2;
inline constexpr std::size_t kCorrectionBytes = 1;

// What training finds. A vector x becomes y = encode * (x - mean); y, less its coarse centroid
// where there are any, is quantized piece by piece. A query q meets codes as query * q, so that
// q.x is about q.mean + (query * q).(quantized y). Matrices are row-major, rank rows of dim.
struct CodebookParts {
  Metric metric = Metric::kInnerProduct;
  std::uint32_t dim = 0;
  std::vector<std::uint32_t> splits;     // where pieces of y begin: 0, ..., rank
  std::vector<float> mean;               // dim
  std::vector<float> encode;             // rank * dim
  std::vector<float> query;              // rank * dim, or empty: the same as `encode`
  std::vector<float> centroids;          // 256 * rank, as train_product() lays them
  std::vector<float> coarse;             // count * rank, or empty
  std::vector<float> residual_variance;  // rank: of y less its quantized form
  float rest_variance = 0.0f;            // of x along each direction that `encode` drops
  float energy_variance = 0.0f;          // of the squared norm of what a code misses (L2)
  // The last byte of a code says how much of the vector itself the pieces miss, as low + byte *
  // step: a query near the vector misses it too, in proportion `correlation` (see estimate.cpp).
  float correction_low = 0.0f;
  float correction_step = 0.0f;
  float correlation = 0.0f;

  std::size_t rank() const { return splits.back(); }
};

// How a vector becomes a few bytes: a linear map, then one centroid of 256 for each subspace.
// Trained once for a model (or a corpus), immutable, shared by any number of indexes; a copy
// shares its tables.
class Codebook {
 public:
  // Rounds matrices and centroids to what to_bytes() keeps (half precision), so that codes do not
  // depend on whether a codebook was saved in between. Fails on parts that do not fit together.
  explicit Codebook(CodebookParts parts);
  static Codebook from_bytes(ByteView bytes);  // untrusted: kTruncated / kDamaged / kUnknownVersion
  Bytes to_bytes() const;
  // Identifies the codebook: an index records it and refuses another.
  std::uint64_t fingerprint() const { return state_->fingerprint; }

  std::size_t dim() const { return state_->parts.dim; }
  std::size_t code_bytes() const;
  Metric metric() const { return state_->parts.metric; }
  std::size_t coarse_count() const;
  std::size_t piece_count() const { return state_->parts.splits.size() - 1; }
  const CodebookParts& parts() const { return state_->parts; }

  // `codes` has room for count * code_bytes() bytes. Vectors must be finite.
  void encode(const float* vectors, std::size_t count, std::uint8_t* codes, unsigned threads) const;
  // How much of a vector its code's pieces miss, for each vector: what the last byte rounds.
  void corrections(const float* vectors, std::size_t count, const std::uint8_t* codes, float* out,
                   unsigned threads) const;
  // The vector that a code stands for.
  void decode(const std::uint8_t* code, float* vector) const;
  // A query as codes see it: rank floats. Cosine queries must be normalised, L2 queries are
  // taken from the mean.
  void map_query(const float* query, float* mapped) const;
  // The squared length of a query's part that codes can see, given map_query()'s result.
  float seen_energy(const float* query, std::span<const float> mapped) const;

 private:
  struct State {
    State(CodebookParts rounded, std::uint64_t print);
    CodebookParts parts;
    std::uint64_t fingerprint;
    CentroidTable encode_rows;
    CentroidTable query_rows;
    ProductEncoder encoder;
    std::vector<CentroidTable> coarse;  // one table, or none
  };

  explicit Codebook(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  void encode_block(const float* vectors, std::size_t count, std::uint8_t* codes) const;
  void subtract_coarse(std::size_t count, float* mapped, std::uint8_t* codes) const;
  void decode_mapped(const std::uint8_t* code, float* mapped) const;

  std::shared_ptr<const State> state_;
};

}  // namespace gossamer
