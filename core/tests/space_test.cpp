#include "distance/space.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "distance/values.h"

using namespace gossamer;

namespace {

constexpr Metric kMetrics[] = {Metric::kInnerProduct, Metric::kCosine, Metric::kL2};
constexpr Scalar kScalars[] = {Scalar::kF32, Scalar::kF16, Scalar::kI8};
constexpr float kScale = 1.0f / 64.0f;

float scale_of(Scalar scalar) { return scalar == Scalar::kI8 ? kScale : 1.0f; }

// How far a value in [-1, 1] may be from what a row of that type gives back.
double error_of(Scalar scalar) {
  if (scalar == Scalar::kI8) return 0.5 * kScale + 1e-6;
  return scalar == Scalar::kF16 ? 0x1.0p-12 + 1e-6 : 1e-6;
}

std::vector<float> random_vector(Random& random, std::size_t dim) {
  std::vector<float> vector(dim);
  for (float& value : vector) value = static_cast<float>(2.0 * random.unit() - 1.0);
  return vector;
}

std::vector<float> normalized(std::vector<float> vector) {
  normalize(vector.data(), vector.size());
  return vector;
}

std::vector<std::uint8_t> encoded(const Space& space, const std::vector<float>& vector) {
  std::vector<std::uint8_t> row(space.row_bytes());
  space.encode_row(vector.data(), row.data());
  return row;
}

std::vector<float> decoded(const Space& space, const std::vector<std::uint8_t>& row) {
  std::vector<float> vector(space.dim());
  space.decode_row(row.data(), vector.data());
  return vector;
}

std::vector<std::uint8_t> prepared(const Space& space, const std::vector<float>& query) {
  RowBytes form;
  space.prepare_query(query.data(), form);
  return {form.begin(), form.end()};
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

double distance_by_hand(Metric metric, const std::vector<float>& a, const std::vector<float>& b) {
  if (metric == Metric::kInnerProduct) return -dot(a, b);
  if (metric == Metric::kCosine) return 1.0 - dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
  return dot(a, a) - 2 * dot(a, b) + dot(b, b);
}

Reason reason_of_making(Metric metric, Scalar scalar, std::size_t dim, float scale) {
  try {
    const Space space(metric, scalar, dim, scale);
  } catch (const Error& error) {
    return error.reason();
  }
  return Reason::kEmpty;
}

std::string message_of_checking(const std::vector<float>& vectors, std::size_t dim) {
  try {
    check_finite(vectors.data(), vectors.size() / dim, dim);
  } catch (const Error& error) {
    CHECK(error.reason() == Reason::kNotFinite);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a row is as long as its scalars") {
  CHECK(Space(Metric::kL2, Scalar::kF32, 10).row_bytes() == 40);
  CHECK(Space(Metric::kL2, Scalar::kF16, 10).row_bytes() == 20);
  CHECK(Space(Metric::kL2, Scalar::kI8, 10, kScale).row_bytes() == 10);
}

TEST_CASE("a row gives back the vector it was made from, normalised for cosine") {
  Random random(1);
  for (const std::size_t dim : {1, 7, 100, 384, 600}) {
    for (const Metric metric : kMetrics) {
      for (const Scalar scalar : kScalars) {
        const Space space(metric, scalar, dim, scale_of(scalar));
        const auto vector = random_vector(random, dim);
        const auto expected = metric == Metric::kCosine ? normalized(vector) : vector;

        const auto found = decoded(space, encoded(space, vector));

        double worst = 0;
        for (std::size_t i = 0; i < dim; ++i)
          worst = std::max(worst, std::abs(double{found[i]} - double{expected[i]}));
        CHECK(worst <= error_of(scalar));
      }
    }
  }
}

TEST_CASE("public distances are what the metric says, within what the scalar type loses") {
  Random random(2);
  for (const std::size_t dim : {3, 100, 384}) {
    for (const Metric metric : kMetrics) {
      for (const Scalar scalar : kScalars) {
        const Space space(metric, scalar, dim, scale_of(scalar));
        const auto a = random_vector(random, dim);
        const auto b = random_vector(random, dim);
        const double expected = distance_by_hand(metric, a, b);
        const double allowed = 6 * error_of(scalar) * std::sqrt(static_cast<double>(dim)) + 1e-4;

        const auto row_a = encoded(space, a);
        const auto row_b = encoded(space, b);
        const float between = space.between(row_a.data(), row_b.data());
        const float from_query = space.from_query(prepared(space, a).data(), row_b.data());

        CHECK(std::abs(space.public_distance(between) - expected) <= allowed);
        CHECK(std::abs(space.public_distance(from_query) - expected) <= allowed);
      }
    }
  }
}

TEST_CASE("queries are single precision for float rows and int8 for int8 rows") {
  const std::vector<float> query = {0.5f, -0.25f};

  for (const Scalar scalar : {Scalar::kF32, Scalar::kF16}) {
    const auto form = prepared(Space(Metric::kL2, scalar, 2), query);
    REQUIRE(form.size() == 8);
    CHECK(load_value<float>(form.data(), 0) == 0.5f);
    CHECK(load_value<float>(form.data(), 1) == -0.25f);
  }
  const Space space(Metric::kL2, Scalar::kI8, 2, kScale);
  CHECK(prepared(space, query) == encoded(space, query));
}

TEST_CASE("int8 rows round to the nearest step and stop at the ends") {
  const Space space(Metric::kInnerProduct, Scalar::kI8, 6, 0.5f);

  const auto row = encoded(space, {0.7f, 0.8f, -0.8f, 1000.0f, -1000.0f, 3e38f});

  CHECK(decoded(space, row) == std::vector<float>{0.5f, 1.0f, -1.0f, 63.5f, -64.0f, 63.5f});
}

TEST_CASE("half precision rows stop at the largest half instead of becoming infinite") {
  const Space space(Metric::kInnerProduct, Scalar::kF16, 3);

  const auto row = encoded(space, {1e9f, -3e38f, 65519.0f});

  CHECK(decoded(space, row) == std::vector<float>{65504.0f, -65504.0f, 65504.0f});
}

TEST_CASE("a zero vector stays zero and is at cosine distance one from everything") {
  for (const Scalar scalar : kScalars) {
    const Space space(Metric::kCosine, scalar, 3, scale_of(scalar));
    const auto zero = encoded(space, {0, 0, 0});
    const auto other = encoded(space, {1, 2, 3});

    CHECK(decoded(space, zero) == std::vector<float>{0, 0, 0});
    CHECK(space.public_distance(space.between(zero.data(), other.data())) == 1.0f);
    const float raw = space.from_query(prepared(space, {0, 0, 0}).data(), other.data());
    CHECK(space.public_distance(raw) == 1.0f);
  }
}

TEST_CASE("vectors too long or too short to square in single precision are normalised") {
  CHECK(normalized({3e30f, 4e30f})[0] == doctest::Approx(0.6));
  CHECK(normalized({3e-40f, 4e-40f})[1] == doctest::Approx(0.8));
  CHECK(normalized({0, 0}) == std::vector<float>{0, 0});
}

TEST_CASE("rows are found and compared by node") {
  const Space space(Metric::kL2, Scalar::kF16, 2);
  std::vector<std::uint8_t> data(3 * space.row_bytes());
  const std::vector<float> vectors = {0, 0, 3, 4, 6, 8};
  for (std::size_t i = 0; i < 3; ++i)
    space.encode_row(vectors.data() + 2 * i, data.data() + i * space.row_bytes());

  const Rows rows{&space, data.data(), 3};

  CHECK(rows.between(0, 1) == 25.0f);
  CHECK(rows.between(0, 2) == 100.0f);
}

TEST_CASE("a space without dimension or with a wrong scale is refused") {
  const float infinity = std::numeric_limits<float>::infinity();

  CHECK(reason_of_making(Metric::kL2, Scalar::kF32, 0, 1) == Reason::kInvalidArgument);
  CHECK(reason_of_making(Metric::kL2, Scalar::kF32, 3, 2) == Reason::kInvalidArgument);
  CHECK(reason_of_making(Metric::kL2, Scalar::kI8, 3, 0) == Reason::kInvalidArgument);
  CHECK(reason_of_making(Metric::kL2, Scalar::kI8, 3, infinity) == Reason::kInvalidArgument);
  CHECK(reason_of_making(Metric::kL2, Scalar::kI8, 3, NAN) == Reason::kInvalidArgument);
  CHECK(reason_of_making(Metric::kL2, Scalar::kI8, 32769, 1) == Reason::kInvalidArgument);
  CHECK(reason_of_making(static_cast<Metric>(9), Scalar::kF32, 3, 1) == Reason::kInvalidArgument);
  CHECK(reason_of_making(Metric::kL2, static_cast<Scalar>(9), 3, 1) == Reason::kInvalidArgument);
}

TEST_CASE("finite vectors pass the check") {
  CHECK(message_of_checking({1, -9e17f, 0, 1e-45f}, 2) == "");
  CHECK(message_of_checking({}, 2) == "");
}

TEST_CASE("a vector whose squares overflow is refused by its row") {
  CHECK(message_of_checking({1, 2, 3, -3.4e38f}, 2).starts_with("vector 1 is too long"));
}

TEST_CASE("a value that is not finite is named by its row and column") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {NAN, infinity, -infinity}) {
    std::vector<float> vectors(100 * 37, 0.5f);
    vectors[41 * 37 + 36] = bad;
    vectors[90 * 37] = bad;

    const std::string message = message_of_checking(vectors, 37);

    CHECK(message.find("vector 41 ") != std::string::npos);
    CHECK(message.find("position 36;") != std::string::npos);
  }
}
