#include "codes/kmeans.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "codes_fixture.h"
#include "distance/distance.h"

using namespace gossamer;
using gossamer::testing::random_vectors;

namespace {

std::size_t nearest_by_hand(const float* point, const std::vector<float>& centroids,
                            std::size_t dim, std::size_t except) {
  std::size_t best = except == 0 ? 1 : 0;
  for (std::size_t i = 0; i < centroids.size() / dim; ++i) {
    if (i == except) continue;
    if (scalar_kernels().l2_f32(point, centroids.data() + i * dim, dim) <
        scalar_kernels().l2_f32(point, centroids.data() + best * dim, dim))
      best = i;
  }
  return best;
}

}  // namespace

TEST_CASE("k-means finds the centers of well separated clusters") {
  std::vector<float> points;
  for (const float center : {-100.0f, 0.0f, 100.0f})
    for (const float offset : {-1.0f, 0.0f, 1.0f}) points.push_back(center + offset);

  std::vector<float> found = kmeans(points.data(), points.size(), 1, 3, 30, 4, 1);

  std::sort(found.begin(), found.end());
  CHECK(found[0] == doctest::Approx(-100.0f));
  CHECK(std::fabs(found[1]) < 1e-3f);
  CHECK(found[2] == doctest::Approx(100.0f));
}

TEST_CASE("k-means gives the same centroids for a seed whatever the number of threads") {
  const auto points = random_vectors(3000, 70, 1);

  const auto one = kmeans(points.data(), 3000, 70, 37, 4, 9, 1);
  const auto three = kmeans(points.data(), 3000, 70, 37, 4, 9, 3);
  const auto other_seed = kmeans(points.data(), 3000, 70, 37, 4, 10, 1);

  CHECK(one == three);
  CHECK(one != other_seed);
}

TEST_CASE("k-means repeats points when there are fewer than centroids") {
  const std::vector<float> points{1, 2, 3, 4};

  const auto found = kmeans(points.data(), 2, 2, 5, 3, 1, 1);

  REQUIRE(found.size() == 10);
  for (const float value : found) CHECK(std::isfinite(value));
}

TEST_CASE("k-means of equal points leaves finite centroids at that point") {
  const std::vector<float> points(100 * 3, 2.0f);

  const auto found = kmeans(points.data(), 100, 3, 8, 5, 1, 1);

  for (const float value : found) CHECK(value == doctest::Approx(2.0f).epsilon(0.01));
}

TEST_CASE("k-means refuses no vectors and no centroids") {
  const float point = 1.0f;

  CHECK_THROWS_AS(kmeans(&point, 0, 1, 1, 1, 1, 1), Error);
  CHECK_THROWS_AS(kmeans(&point, 1, 1, 0, 1, 1, 1), Error);
}

TEST_CASE("the nearest two centroids are those that a plain search finds") {
  constexpr std::size_t kDim = 13;
  for (const std::size_t k : {2u, 31u, 32u, 33u, 100u}) {
    const auto points = random_vectors(101, kDim, k);
    const auto centroids = random_vectors(k, kDim, 77);
    std::vector<std::uint32_t> one(101), two(202);

    assign_nearest(points.data(), 101, kDim, centroids.data(), k, one.data(), 2);
    assign_nearest_two(points.data(), 101, kDim, centroids.data(), k, two.data(), 2);

    for (std::size_t i = 0; i < 101; ++i) {
      const std::size_t first = nearest_by_hand(&points[i * kDim], centroids, kDim, k);
      CHECK(one[i] == first);
      CHECK(two[2 * i] == first);
      CHECK(two[2 * i + 1] == nearest_by_hand(&points[i * kDim], centroids, kDim, first));
    }
  }
}

TEST_CASE("a single centroid is both the nearest and the second") {
  const auto points = random_vectors(5, 3, 1);
  std::vector<std::uint32_t> found(10, 7);

  assign_nearest_two(points.data(), 5, 3, points.data(), 1, found.data(), 1);

  CHECK(found == std::vector<std::uint32_t>(10, 0));
}

TEST_CASE("product k-means lowers the error of codes and ignores the number of threads") {
  const auto points = random_vectors(2000, 7, 3);
  const std::vector<std::uint32_t> splits{0, 3, 5, 7};
  std::vector<float> none(256 * 7), few(256 * 7), threaded(256 * 7), quantized(points.size());
  const auto error_of = [&](const std::vector<float>& centroids) {
    quantize_product(points.data(), 2000, splits, centroids, 1, quantized.data());
    return scalar_kernels().l2_f32(points.data(), quantized.data(), points.size());
  };

  train_product(points.data(), 2000, splits, {0, 1, 1, false}, none);
  train_product(points.data(), 2000, splits, {5, 1, 1, false}, few);
  train_product(points.data(), 2000, splits, {5, 1, 3, false}, threaded);

  CHECK(few == threaded);
  CHECK(error_of(few) < 0.9f * error_of(none));
}
