#include "distance/distance.h"
#include "distance/values.h"

namespace gossamer {
namespace {

struct F32 {
  static double at(const void* row, std::size_t i) { return load_value<float>(row, i); }
};

struct F16 {
  static double at(const void* row, std::size_t i) {
    return half_to_float(load_value<std::uint16_t>(row, i));
  }
};

// Sums are double, so that what the other tables are tested against has no error to speak of.
template <class A, class B>
float inner_product(const void* a, const void* b, std::size_t dim) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < dim; ++i) sum += A::at(a, i) * B::at(b, i);
  return static_cast<float>(-sum);
}

template <class A, class B>
float l2(const void* a, const void* b, std::size_t dim) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < dim; ++i) {
    const double difference = A::at(a, i) - B::at(b, i);
    sum += difference * difference;
  }
  return static_cast<float>(sum);
}

float inner_product_i8(const void* a, const void* b, std::size_t dim) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < dim; ++i)
    sum += load_value<std::int8_t>(a, i) * load_value<std::int8_t>(b, i);
  return static_cast<float>(-sum);
}

float l2_i8(const void* a, const void* b, std::size_t dim) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < dim; ++i) {
    const std::int32_t difference = load_value<std::int8_t>(a, i) - load_value<std::int8_t>(b, i);
    sum += difference * difference;
  }
  return static_cast<float>(sum);
}

void to_f16(const float* from, std::uint16_t* to, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    store_value(float_to_half(load_value<float>(from, i)), to, i);
}

void from_f16(const std::uint16_t* from, float* to, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    store_value(half_to_float(load_value<std::uint16_t>(from, i)), to, i);
}

constexpr Kernels kScalar = {
    .name = "scalar",
    .inner_product_f32 = inner_product<F32, F32>,
    .l2_f32 = l2<F32, F32>,
    .inner_product_f16 = inner_product<F16, F16>,
    .l2_f16 = l2<F16, F16>,
    .inner_product_f32_f16 = inner_product<F32, F16>,
    .l2_f32_f16 = l2<F32, F16>,
    .inner_product_i8 = inner_product_i8,
    .l2_i8 = l2_i8,
    .to_f16 = to_f16,
    .from_f16 = from_f16,
};

}  // namespace

const Kernels& scalar_kernels() { return kScalar; }

}  // namespace gossamer
