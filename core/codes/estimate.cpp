#include "codes/estimate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "distance/space.h"

namespace gossamer {

namespace {

float dot(std::span<const float> a, std::span<const float> b) {
  return -kernels().inner_product_f32(a.data(), b.data(), a.size());
}

// The part of a query's squared length that the map to codes does not see.
float unseen_energy(float seen, float whole) { return std::max(0.0f, whole - seen); }

float weighted_energy(std::span<const float> values, std::span<const float> weights) {
  float total = 0.0f;
  for (std::size_t i = 0; i < values.size(); ++i) total += values[i] * values[i] * weights[i];
  return total;
}

// Calls fill(entry, centroid) for each centroid of each piece, in the order of the tables.
template <class Fill>
void for_each_centroid(const CodebookParts& parts, std::vector<float>& tables, Fill fill) {
  for (std::size_t piece = 0; piece + 1 < parts.splits.size(); ++piece) {
    const std::size_t first = parts.splits[piece];
    const std::size_t width = parts.splits[piece + 1] - first;
    const float* centroids = parts.centroids.data() + first * kSubspaceCentroids;
    for (std::size_t i = 0; i < kSubspaceCentroids; ++i)
      fill(tables[piece * kSubspaceCentroids + i], centroids + i * width, first, width);
  }
}

// The last table: what the correction byte is worth to this query.
void fill_correction(const CodebookParts& parts, float weight, std::vector<float>& tables) {
  float* entries = tables.data() + tables.size() - kSubspaceCentroids;
  for (std::size_t i = 0; i < kSubspaceCentroids; ++i)
    entries[i] = weight * (parts.correction_low + static_cast<float>(i) * parts.correction_step);
}

// Sums of infinities of both signs would not compare with anything.
void check_range(float base, std::span<const float> tables, std::span<const float> coarse) {
  double total = std::fabs(static_cast<double>(base));
  for (std::size_t piece = 0; piece < tables.size(); piece += kSubspaceCentroids) {
    double largest = 0.0;
    for (const float value : tables.subspan(piece, kSubspaceCentroids))
      largest = std::isfinite(value) ? std::max(largest, std::fabs(static_cast<double>(value)))
                                     : HUGE_VAL;
    total += largest;
  }
  for (const float value : coarse) total += std::isfinite(value) ? 0.0 : HUGE_VAL;
  expect(total < 1e38, Reason::kInvalidArgument,
         "the query's values are too large, or not finite: distances cannot be estimated");
}

constexpr float kMiddleByte = 127.5f;
// So many candidates tell how much codes miss around a query.
constexpr std::size_t kAsked = 64;
// Beyond this it is not the data that is odd but the codebook or a byte.
constexpr float kMostScale = 2.0f;

}  // namespace

Estimator::Estimator(const Codebook& codebook, const float* query)
    : pieces_(codebook.piece_count() + kCorrectionBytes), tables_(pieces_ * kSubspaceCentroids) {
  const CodebookParts& parts = codebook.parts();
  std::vector<float> own(query, query + parts.dim);
  if (parts.metric == Metric::kCosine) normalize(own.data(), parts.dim);
  std::vector<float> mapped(parts.rank());
  codebook.map_query(own.data(), mapped.data());
  if (parts.metric == Metric::kL2)
    fill_l2(parts, own, mapped);
  else
    fill_inner_product(codebook, own, mapped);
  check_range(base_, tables_, coarse_);
}

void Estimator::fill_inner_product(const Codebook& codebook, std::span<const float> query,
                                   std::span<const float> mapped) {
  const CodebookParts& parts = codebook.parts();
  const Kernels& table = kernels();
  base_ = -dot(query, parts.mean);
  for_each_centroid(parts, tables_,
                    [&](float& entry, const float* centroid, std::size_t first, std::size_t width) {
                      entry = table.inner_product_f32(mapped.data() + first, centroid, width);
                    });
  // A query near x is partly x itself: q.(x - x^) is not noise around zero but grows with
  // x.(x - x^), which the correction byte holds.
  fill_correction(parts, -parts.correlation * std::sqrt(dot(query, query)), tables_);
  if (!parts.coarse.empty()) {
    const std::size_t count = parts.coarse.size() / mapped.size();
    coarse_.resize(count + 1, 0.0f);
    for (std::size_t i = 0; i < count; ++i)
      coarse_[i] = table.inner_product_f32(mapped.data(), parts.coarse.data() + i * mapped.size(),
                                           mapped.size());
  }
  const float middle = parts.correction_low + kMiddleByte * parts.correction_step;
  if (middle > 0.0f) correction_step_ = parts.correction_step / middle;
  const float unseen = unseen_energy(codebook.seen_energy(query.data(), mapped), dot(query, query));
  error_ =
      std::sqrt(weighted_energy(mapped, parts.residual_variance) + parts.rest_variance * unseen);
}

float Estimator::error_among(std::span<const Candidate> candidates,
                             std::span<const std::uint8_t> codes) const {
  const std::size_t count = std::min(candidates.size(), kAsked);
  if (count == 0) return error_;
  float bytes = 0.0f;
  for (const Candidate& candidate : candidates.first(count)) {
    bytes += codes[(candidate.node + std::size_t{1}) * code_bytes() - 1];
  }
  // x.(x - x^) is about the squared length of what a code misses.
  const float energy = 1.0f + (bytes / static_cast<float>(count) - kMiddleByte) * correction_step_;
  return error_ * std::clamp(std::sqrt(std::max(energy, 0.0f)), 1.0f / kMostScale, kMostScale);
}

void Estimator::fill_l2(const CodebookParts& parts, std::span<const float> query,
                        std::span<const float> mapped) {
  const Kernels& table = kernels();
  std::vector<float> moved(query.begin(), query.end());
  for (std::size_t d = 0; d < moved.size(); ++d) moved[d] -= parts.mean[d];
  const float unseen = unseen_energy(dot(mapped, mapped), dot(moved, moved));
  base_ = unseen;
  fill_correction(parts, 1.0f, tables_);
  for_each_centroid(parts, tables_,
                    [&](float& entry, const float* centroid, std::size_t first, std::size_t width) {
                      entry = table.l2_f32(mapped.data() + first, centroid, width);
                    });
  error_ = std::sqrt(
      4.0f * (weighted_energy(mapped, parts.residual_variance) + parts.rest_variance * unseen) +
      parts.energy_variance);
}

}  // namespace gossamer
