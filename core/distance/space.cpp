#include "distance/space.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "base/error.h"
#include "distance/values.h"

namespace gossamer {
namespace {

constexpr double kMaxSquaredLength = 1e36;

// What values are converted through on their way to another type, so that nothing is allocated.
constexpr std::size_t kBlock = 256;

std::size_t scalar_bytes(Scalar scalar) {
  switch (scalar) {
    case Scalar::kF32:
      return sizeof(float);
    case Scalar::kF16:
      return sizeof(std::uint16_t);
    case Scalar::kI8:
      return sizeof(std::int8_t);
  }
  fail(Reason::kInvalidArgument, "unknown scalar type; use f32, f16 or int8");
}

RowDistance row_kernel(Metric metric, Scalar scalar) {
  const Kernels& table = kernels();
  const bool is_l2 = metric == Metric::kL2;
  if (scalar == Scalar::kF32) return is_l2 ? table.l2_f32 : table.inner_product_f32;
  if (scalar == Scalar::kF16) return is_l2 ? table.l2_f16 : table.inner_product_f16;
  return is_l2 ? table.l2_i8 : table.inner_product_i8;
}

RowDistance query_kernel(Metric metric, Scalar scalar) {
  if (scalar != Scalar::kF16) return row_kernel(metric, scalar);
  return metric == Metric::kL2 ? kernels().l2_f32_f16 : kernels().inner_product_f32_f16;
}

// What a vector is multiplied with to have length 1. Double, so that neither the squares nor the
// inverse of a tiny length leave the range.
double inverse_length(const float* vector, std::size_t dim) {
  double squares = 0;
  for (std::size_t i = 0; i < dim; ++i) squares += double{vector[i]} * double{vector[i]};
  return squares > 0 ? 1.0 / std::sqrt(squares) : 1.0;
}

void encode_f32(const float* vector, std::size_t dim, double factor, std::uint8_t* row) {
  for (std::size_t i = 0; i < dim; ++i) store_value(static_cast<float>(vector[i] * factor), row, i);
}

void encode_f16(const float* vector, std::size_t dim, double factor, std::uint8_t* row) {
  std::array<float, kBlock> scaled;
  std::array<std::uint16_t, kBlock> halves;
  for (std::size_t start = 0; start < dim; start += kBlock) {
    const std::size_t count = std::min(kBlock, dim - start);
    for (std::size_t i = 0; i < count; ++i)
      scaled[i] = std::clamp(static_cast<float>(vector[start + i] * factor), -kMaxF16, kMaxF16);
    kernels().to_f16(scaled.data(), halves.data(), count);
    std::memcpy(row + start * sizeof(std::uint16_t), halves.data(), count * sizeof(std::uint16_t));
  }
}

void encode_i8(const float* vector, std::size_t dim, double factor, std::uint8_t* row) {
  for (std::size_t i = 0; i < dim; ++i) {
    const double steps = std::clamp(std::round(vector[i] * factor), -128.0, 127.0);
    store_value(static_cast<std::int8_t>(steps), row, i);
  }
}

void decode_f16(Row row, std::size_t dim, float* vector) {
  std::array<std::uint16_t, kBlock> halves;
  for (std::size_t start = 0; start < dim; start += kBlock) {
    const std::size_t count = std::min(kBlock, dim - start);
    std::memcpy(halves.data(), row + start * sizeof(std::uint16_t), count * sizeof(std::uint16_t));
    kernels().from_f16(halves.data(), vector + start, count);
  }
}

// NaN and infinity are the values whose exponent is all ones. Bits instead of std::isfinite and
// no early end, so that the compiler makes vector code of it.
bool is_finite(const float* vector, std::size_t dim) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < dim; ++i) {
    const std::uint32_t exponent = std::bit_cast<std::uint32_t>(vector[i]) & 0x7f800000u;
    bad |= exponent == 0x7f800000u ? 1u : 0u;
  }
  return bad == 0;
}

}  // namespace

Space::Space(Metric metric, Scalar scalar, std::size_t dim, float scale)
    : metric_(metric),
      scalar_(scalar),
      dim_(dim),
      scale_(scale),
      row_bytes_(dim * scalar_bytes(scalar)),
      row_row_(row_kernel(metric, scalar)),
      query_row_(query_kernel(metric, scalar)) {
  expect(metric <= Metric::kL2, Reason::kInvalidArgument,
         "unknown metric; use inner product, cosine or l2");
  expect(dim > 0, Reason::kInvalidArgument, "vectors have no dimension; it must be at least 1");
  expect(scalar != Scalar::kI8 || dim <= kMaxDimI8, Reason::kInvalidArgument,
         "int8 vectors have at most 32768 values; use f16 for longer ones");
  expect(scalar == Scalar::kI8 || scale == 1.0f, Reason::kInvalidArgument,
         "only int8 vectors have a scale; leave it 1 for f32 and f16");
  expect(std::isfinite(scale) && scale > 0, Reason::kInvalidArgument,
         "the scale of int8 vectors must be a positive, finite number");
}

float Space::public_distance(float raw) const {
  const float distance = raw * scale_ * scale_;
  return metric_ == Metric::kCosine ? 1.0f + distance : distance;
}

void Space::prepare_query(const float* query, RowBytes& prepared) const {
  if (scalar_ == Scalar::kI8) {
    prepared.resize(row_bytes_);
    encode_row(query, prepared.data());
    return;
  }
  const double factor = metric_ == Metric::kCosine ? inverse_length(query, dim_) : 1.0;
  prepared.resize(dim_ * sizeof(float));
  encode_f32(query, dim_, factor, prepared.data());
}

void Space::encode_row(const float* vector, std::uint8_t* row) const {
  const double factor = metric_ == Metric::kCosine ? inverse_length(vector, dim_) : 1.0;
  switch (scalar_) {
    case Scalar::kF32:
      return encode_f32(vector, dim_, factor, row);
    case Scalar::kF16:
      return encode_f16(vector, dim_, factor, row);
    case Scalar::kI8:
      return encode_i8(vector, dim_, factor / scale_, row);
  }
}

void Space::decode_row(Row row, float* vector) const {
  switch (scalar_) {
    case Scalar::kF32:
      std::memcpy(vector, row, row_bytes_);
      return;
    case Scalar::kF16:
      return decode_f16(row, dim_, vector);
    case Scalar::kI8:
      for (std::size_t i = 0; i < dim_; ++i)
        vector[i] = static_cast<float>(load_value<std::int8_t>(row, i)) * scale_;
  }
}

namespace {

// Formatting a number takes many kilobytes in WebAssembly; these are the only ones to be named.
const char* name_of(float not_finite) {
  return std::isnan(not_finite) ? "nan" : not_finite > 0 ? "inf" : "-inf";
}

// Squares of longer vectors, or differences of two of them, would not be finite.
void check_length(const float* vector, std::size_t dim, std::size_t row) {
  double squared = 0;
  for (std::size_t i = 0; i < dim; ++i) {
    squared += static_cast<double>(vector[i]) * static_cast<double>(vector[i]);
  }
  if (squared > kMaxSquaredLength) {
    fail(Reason::kNotFinite, "vector " + std::to_string(row) +
                                 " is too long to compute with: its length must be 1e18 at most");
  }
}

}  // namespace

void check_finite(const float* vectors, std::size_t count, std::size_t dim) {
  for (std::size_t row = 0; row < count; ++row) {
    const float* vector = vectors + row * dim;
    if (is_finite(vector, dim)) {
      check_length(vector, dim, row);
      continue;
    }
    std::size_t column = 0;
    while (std::isfinite(vector[column])) ++column;
    fail(Reason::kNotFinite, "vector " + std::to_string(row) + " has " + name_of(vector[column]) +
                                 " at position " + std::to_string(column) +
                                 "; every value must be a finite number");
  }
}

void normalize(float* vector, std::size_t dim) {
  const double factor = inverse_length(vector, dim);
  for (std::size_t i = 0; i < dim; ++i) vector[i] = static_cast<float>(vector[i] * factor);
}

float largest_value(const float* vectors, std::size_t numbers) {
  float largest = 0;
  for (std::size_t i = 0; i < numbers; ++i) largest = std::max(largest, std::abs(vectors[i]));
  return largest;
}

}  // namespace gossamer
