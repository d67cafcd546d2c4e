#include "codes/nearest.h"

#include <cstring>
#include <limits>

#include "distance/distance.h"

namespace gossamer {

namespace {

constexpr std::size_t kTile = 32;
constexpr std::size_t kLanes = 16;
constexpr std::size_t kPoints = 4;

// The compiler turns these into one, two or four registers, as the target has them.
typedef float Floats __attribute__((vector_size(64)));
typedef std::int32_t Ints __attribute__((vector_size(64)));

struct TableView {
  const float* values;
  const float* half_norms;
  std::size_t dim;
  std::size_t tiles;
};

struct Points {
  const float* data;
  std::size_t stride;
  std::size_t count;
};

using Search = void (*)(const TableView&, const Points&, std::uint32_t*);
using Project = void (*)(const TableView&, const Points&, std::size_t, float*);

namespace portable {
#define GOSSAMER_TARGET
#include "codes/nearest_kernel.inc"
#undef GOSSAMER_TARGET
}  // namespace portable

#if defined(__x86_64__)
namespace avx2 {
#define GOSSAMER_TARGET [[gnu::target("avx2,fma")]]
#include "codes/nearest_kernel.inc"
#undef GOSSAMER_TARGET
}  // namespace avx2

namespace avx512 {
#define GOSSAMER_TARGET [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,fma")]]
#include "codes/nearest_kernel.inc"
#undef GOSSAMER_TARGET
}  // namespace avx512
#endif

struct Chosen {
  Search nearest;
  Search nearest_two;
  Project project;
};

#if defined(__x86_64__)
Chosen choose() {
  // The name follows GOSSAMER_KERNELS, so that one setting governs every kernel; what comes after
  // "avx512" says which extensions the distances use besides.
  if (std::strncmp(kernels().name, "avx512", 6) == 0)
    return {avx512::search<1>, avx512::search<2>, avx512::project};
  if (std::strcmp(kernels().name, "avx2") == 0)
    return {avx2::search<1>, avx2::search<2>, avx2::project};
  return {portable::search<1>, portable::search<2>, portable::project};
}

const Chosen& chosen() {
  static const Chosen functions = choose();
  return functions;
}
#else
constexpr Chosen kPortable{portable::search<1>, portable::search<2>, portable::project};
constexpr const Chosen& chosen() { return kPortable; }
#endif

}  // namespace

CentroidTable::CentroidTable(const float* centroids, std::size_t count, std::size_t dim)
    : count_(count),
      dim_(dim),
      tiles_((count + kTile - 1) / kTile),
      values_(tiles_ * kTile * dim, 0.0f),
      half_norms_(tiles_ * kTile, std::numeric_limits<float>::max()) {
  for (std::size_t i = 0; i < count; ++i) {
    float norm = 0.0f;
    for (std::size_t d = 0; d < dim; ++d) {
      const float value = centroids[i * dim + d];
      values_[(i / kTile * dim + d) * kTile + i % kTile] = value;
      norm += value * value;
    }
    half_norms_[i] = 0.5f * norm;
  }
}

void CentroidTable::nearest(const float* points, std::size_t stride, std::size_t count,
                            std::uint32_t* found) const {
  chosen().nearest({values_.data(), half_norms_.data(), dim_, tiles_}, {points, stride, count},
                   found);
}

void CentroidTable::nearest_two(const float* points, std::size_t stride, std::size_t count,
                                std::uint32_t* found) const {
  chosen().nearest_two({values_.data(), half_norms_.data(), dim_, tiles_}, {points, stride, count},
                       found);
  if (count_ == 1)
    for (std::size_t i = 0; i < count; ++i) found[2 * i + 1] = 0;
}

void CentroidTable::products(const float* points, std::size_t stride, std::size_t count,
                             float* out) const {
  const std::vector<float> zeros(half_norms_.size(), 0.0f);
  chosen().project({values_.data(), zeros.data(), dim_, tiles_}, {points, stride, count}, count_,
                   out);
}

}  // namespace gossamer
