#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/types.h"
#include "distance/distance.h"

namespace gossamer {

using Row = const std::uint8_t*;

// How vectors are kept and compared: metric, scalar type, dimension. Cosine is the inner product
// of vectors that were normalised when they entered.
class Space {
 public:
  // `scale` is what one step of an int8 row is worth; 1 for the other scalar types. Fails with
  // kInvalidArgument if `dim` is 0 (or over kMaxDimI8 for int8) or the scale is not positive.
  Space(Metric metric, Scalar scalar, std::size_t dim, float scale = 1.0f);

  Metric metric() const { return metric_; }
  Scalar scalar() const { return scalar_; }
  std::size_t dim() const { return dim_; }
  float scale() const { return scale_; }
  std::size_t row_bytes() const { return row_bytes_; }

  // Distances are "raw": they order rightly, and public_distance() turns them into what users see.
  float between(Row a, Row b) const { return row_row_(a, b, dim_); }
  float from_query(const void* prepared_query, Row row) const {
    return query_row_(prepared_query, row, dim_);
  }
  // -dot for ip, 1 - cosine, squared L2.
  float public_distance(float raw) const;
  // What one of a raw distance is worth in those of the vectors themselves.
  float raw_unit() const { return scale_ * scale_; }

  // Vectors that enter must be finite (check_finite). A value beyond what the scalar type holds
  // becomes the largest it holds; the zero vector has no direction and stays zero.

  // A query in the form from_query() wants: f32 for f32 and f16 rows, int8 for int8 rows.
  void prepare_query(const float* query, RowBytes& prepared) const;
  // One f32 vector into a row, and back.
  void encode_row(const float* vector, std::uint8_t* row) const;
  void decode_row(Row row, float* vector) const;

 private:
  Metric metric_;
  Scalar scalar_;
  std::size_t dim_;
  float scale_;
  std::size_t row_bytes_;
  RowDistance row_row_;
  RowDistance query_row_;
};

// The largest finite half-precision number.
inline constexpr float kMaxF16 = 65504.0f;

// Fails with kNotFinite, naming row and column, at the first value that is NaN or infinite, or the
// first vector too long to compute with.
void check_finite(const float* vectors, std::size_t count, std::size_t dim);
// Scales a vector to length 1 in place; the zero vector stays zero.
void normalize(float* vector, std::size_t dim);
// The largest absolute value: what decides whether half precision can hold the vectors.
float largest_value(const float* vectors, std::size_t numbers);

// Rows of one space, end to end: the vectors that a build or a search can touch directly.
struct Rows {
  const Space* space = nullptr;
  Row data = nullptr;
  std::size_t count = 0;

  Row row(NodeId node) const { return data + static_cast<std::size_t>(node) * space->row_bytes(); }
  float between(NodeId a, NodeId b) const { return space->between(row(a), row(b)); }
  // Brings the first lines of a row near; the hardware prefetcher does the rest.
  void prefetch(NodeId node) const {
    const Row start = row(node);
    __builtin_prefetch(start);
    __builtin_prefetch(start + 64);
    __builtin_prefetch(start + 128);
    __builtin_prefetch(start + 192);
  }
};

}  // namespace gossamer
