#include "codes/estimate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "codes/scan_kernels.h"
#include "codes_fixture.h"
#include "distance/space.h"

using namespace gossamer;
using gossamer::testing::random_vectors;
using gossamer::testing::small_parts;

namespace {

constexpr std::size_t kDim = 7;

struct Case {
  Metric metric;
  std::size_t coarse;
};
constexpr Case kCases[] = {{Metric::kInnerProduct, 0},
                           {Metric::kInnerProduct, 300},
                           {Metric::kCosine, 0},
                           {Metric::kL2, 0}};

std::vector<const ScanKernels*> every_kernel() {
  const auto tables = supported_scan_kernels();
  std::vector<const ScanKernels*> all(tables.begin(), tables.end());
  all.push_back(nullptr);
  return all;
}

std::vector<std::uint8_t> random_codes(std::size_t bytes, std::uint64_t seed, unsigned values) {
  Random random(seed);
  std::vector<std::uint8_t> codes(bytes);
  for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(random.below(values));
  return codes;
}

std::vector<Candidate> sorted_by_hand(const Estimator& estimator,
                                      const std::vector<std::uint8_t>& codes, std::size_t count,
                                      std::size_t best, const Bitmap* allowed) {
  std::vector<Candidate> all;
  for (NodeId node = 0; node < count; ++node)
    if (allowed == nullptr || allowed->contains(node))
      all.push_back({estimator.estimate(&codes[node * estimator.code_bytes()]), node});
  std::sort(all.begin(), all.end());
  all.resize(std::min(best, all.size()));
  return all;
}

// A codebook of any number of pieces, one dimension each.
Codebook flat_codebook(std::uint32_t pieces) {
  CodebookParts parts;
  parts.dim = pieces;
  for (std::uint32_t i = 0; i <= pieces; ++i) parts.splits.push_back(i);
  parts.mean.assign(pieces, 0.0f);
  parts.encode.assign(pieces * pieces, 0.0f);
  for (std::size_t d = 0; d < pieces; ++d) parts.encode[d * pieces + d] = 1.0f;
  parts.centroids = random_vectors(kSubspaceCentroids, pieces, 4);
  parts.residual_variance.assign(pieces, 0.0f);
  parts.correction_step = 0.01f;
  parts.correlation = 0.3f;
  return Codebook(std::move(parts));
}

std::vector<std::uint64_t> masks_below(const ScanKernels& kernels,
                                       const std::vector<std::uint8_t>& rows, std::size_t stride,
                                       std::size_t pieces, const std::vector<std::uint8_t>& entries,
                                       const std::vector<std::uint16_t>& start,
                                       std::uint16_t limit) {
  std::vector<std::uint8_t> columns(pieces * kGroupCodes);
  for (std::size_t block = 0; block < kGroupBlocks; ++block)
    kernels.to_columns(&rows[block * kScanBlock * stride], stride, pieces,
                       &columns[block * kScanBlock]);
  std::vector<std::uint64_t> masks(kGroupBlocks);
  kernels.find_below(columns.data(), pieces, entries.data(), start.data(), limit, masks.data());
  return masks;
}

void check_scan(const Codebook& codebook, std::size_t count, std::size_t best, unsigned values,
                const Bitmap* allowed) {
  const auto codes = random_codes(count * codebook.code_bytes(), count, values);
  const auto queries = random_vectors(3, codebook.dim(), 12);
  std::vector<Estimator> estimators;
  for (std::size_t i = 0; i < 3; ++i)
    estimators.emplace_back(codebook, &queries[i * codebook.dim()]);

  for (const ScanKernels* kernels : every_kernel()) {
    const auto found = scan_with(kernels, estimators, codes, count, best, allowed);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(found[i] == sorted_by_hand(estimators[i], codes, count, best, allowed));
  }
}

}  // namespace

TEST_CASE("an estimate is the distance to the decoded vector, plus the correction") {
  for (const auto& [metric, coarse] : kCases) {
    CodebookParts parts = small_parts(metric, coarse);
    parts.correction_low = parts.correction_step = 0.0f;
    const Codebook codebook(std::move(parts));
    auto query = random_vectors(1, kDim, 3);
    const Estimator estimator(codebook, query.data());
    const auto codes = random_codes(50 * codebook.code_bytes(), 2, 256);
    if (metric == Metric::kCosine) normalize(query.data(), kDim);
    std::vector<float> decoded(kDim);

    for (std::size_t i = 0; i < 50; ++i) {
      const std::uint8_t* code = &codes[i * codebook.code_bytes()];
      codebook.decode(code, decoded.data());
      const auto exact =
          metric == Metric::kL2 ? scalar_kernels().l2_f32 : scalar_kernels().inner_product_f32;
      CHECK(estimator.estimate(code) ==
            doctest::Approx(exact(query.data(), decoded.data(), kDim)).epsilon(1e-3));
    }
  }
}

TEST_CASE("the last byte moves an estimate in proportion to the query's length") {
  const Codebook codebook(small_parts(Metric::kInnerProduct));
  std::vector<float> query(kDim, 0.0f);
  query[2] = 2.0f;
  const Estimator estimator(codebook, query.data());
  const std::uint8_t none[] = {1, 2, 3, 0}, some[] = {1, 2, 3, 100};

  const float moved = estimator.estimate(some) - estimator.estimate(none);

  CHECK(moved == doctest::Approx(-0.3f * 2.0f * 100 * 0.02f));
}

TEST_CASE("the error is the query's share of the residual variances") {
  const Codebook codebook(small_parts(Metric::kInnerProduct));
  std::vector<float> query(kDim, 0.0f);
  query[1] = 3.0f;
  query[4] = 4.0f;

  CHECK(Estimator(codebook, query.data()).error() == doctest::Approx(0.5f));
}

TEST_CASE("codes that say they miss more than usual make the error larger, within bounds") {
  const Codebook codebook(small_parts(Metric::kInnerProduct));
  const std::vector<float> query(kDim, 1.0f);
  const Estimator estimator(codebook, query.data());
  std::vector<Candidate> candidates;
  for (NodeId node = 0; node < 100; ++node) candidates.push_back({0.0f, node});
  // The middle of the byte stands for 1.55, its end for 4.1.
  const auto scale = [&](unsigned first, unsigned later) {
    std::vector<std::uint8_t> codes(100 * codebook.code_bytes());
    for (std::size_t i = 0; i < 100; ++i) {
      codes[(i + 1) * codebook.code_bytes() - 1] =
          static_cast<std::uint8_t>(i < 64 ? first : later);
    }
    return estimator.error_among(candidates, codes) / estimator.error();
  };

  CHECK(scale(127, 127) == doctest::Approx(1.0f).epsilon(0.01));
  CHECK(scale(255, 0) == doctest::Approx(std::sqrt(4.1f / 1.55f)).epsilon(0.01));
  CHECK(scale(0, 255) == 0.5f);
  CHECK(estimator.error_among({}, {}) == estimator.error());
}

TEST_CASE("the error of L2 estimates is that of training") {
  const Codebook codebook(small_parts(Metric::kL2));
  const std::vector<float> query(kDim, 1.0f);
  const Estimator estimator(codebook, query.data());
  const std::vector<std::uint8_t> codes(codebook.code_bytes(), 255);
  const Candidate candidate{0.0f, 0};

  CHECK(estimator.error_among({&candidate, 1}, codes) == estimator.error());
}

TEST_CASE("a query too large to compute with is refused") {
  const Codebook codebook(small_parts(Metric::kInnerProduct));
  const std::vector<float> query(kDim, std::numeric_limits<float>::max());

  CHECK_THROWS_AS(Estimator(codebook, query.data()), Error);
}

TEST_CASE("a scan equals sorting all estimates, for every kernel, metric and count") {
  for (const auto& [metric, coarse] : kCases) {
    const Codebook codebook(small_parts(metric, coarse));
    for (const std::size_t count : {1u, 63u, 64u, 65u, 1000u, 5000u})
      for (const std::size_t best : {1u, 10u, 100u})
        check_scan(codebook, count, best, 256, nullptr);
  }
}

TEST_CASE("every kernel turns and sums as the scalar one does, to the last step") {
  constexpr std::size_t kStride = kMaxCodeBytes + 1;
  const std::uint16_t limits[] = {0, 5000, 32767, 32768, 40000, 65534, 65535};
  const auto rows = random_codes(kGroupCodes * kStride, 1, 256);
  const auto entries = random_codes(kMaxCodeBytes * kSubspaceCentroids, 2, 256);
  std::vector<std::uint16_t> start(kGroupCodes);
  for (std::size_t i = 0; i < kGroupCodes; ++i) start[i] = static_cast<std::uint16_t>(i * 257);

  for (const ScanKernels* kernels : supported_scan_kernels())
    for (const std::size_t pieces : {1u, 15u, 16u, 33u, 64u})
      for (const std::uint16_t limit : limits)
        CHECK(masks_below(*kernels, rows, kStride, pieces, entries, start, limit) ==
              masks_below(scalar_scan_kernels(), rows, kStride, pieces, entries, start, limit));
}

TEST_CASE("a scan is right for every number of pieces") {
  for (const std::uint32_t pieces : {1u, 7u, 15u, 16u, 17u, 31u, 40u, 63u})
    check_scan(flat_codebook(pieces), 1003, 20, 256, nullptr);
}

TEST_CASE("a scan for more than there is gives everything, sorted") {
  check_scan(Codebook(small_parts(Metric::kInnerProduct)), 130, 1000, 256, nullptr);
}

TEST_CASE("equal estimates come in the order of their nodes") {
  check_scan(Codebook(small_parts(Metric::kInnerProduct)), 3000, 50, 2, nullptr);
}

TEST_CASE("a scan keeps to the allowed nodes, even where none is left") {
  const Codebook codebook(small_parts(Metric::kL2));
  Bitmap some(1000), none(1000);
  for (NodeId node = 3; node < 1000; node += 7) some.insert(node);

  check_scan(codebook, 1000, 20, 256, &some);
  check_scan(codebook, 1000, 500, 256, &some);
  check_scan(codebook, 1000, 20, 256, &none);
}

TEST_CASE("a scan survives coarse ids that no centroid has") {
  const Codebook codebook(small_parts(Metric::kInnerProduct, 2));

  check_scan(codebook, 700, 30, 256, nullptr);
}

TEST_CASE("a scan stays exact where the tables' spread drowns in a constant") {
  CodebookParts parts = small_parts(Metric::kInnerProduct);
  parts.mean.assign(kDim, 10000.0f);

  check_scan(Codebook(std::move(parts)), 3000, 25, 256, nullptr);
}

TEST_CASE("scans of no codes, of none wanted and of too few bytes") {
  const Codebook codebook(small_parts(Metric::kInnerProduct));
  const std::vector<float> query(kDim, 1.0f);
  const Estimator estimator(codebook, query.data());
  const std::vector<std::uint8_t> codes(40);

  CHECK(scan(estimator, {}, 0, 5, nullptr).empty());
  CHECK(scan(estimator, codes, 10, 0, nullptr).empty());
  CHECK(scan_batch({}, codes, 10, 5, nullptr).empty());
  CHECK_THROWS_AS(scan(estimator, codes, 11, 5, nullptr), Error);
}
