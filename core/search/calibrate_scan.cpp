#include "search/calibrate_scan.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/top_k.h"
#include "codes/estimate.h"
#include "search/rerank.h"

namespace gossamer {

namespace {

constexpr std::array<float, 18> kMargins = {-1.0f, 0.0f, 0.5f, 1.0f, 1.5f,  2.0f,
                                            2.5f,  3.0f, 3.5f, 4.0f, 4.5f,  5.0f,
                                            5.5f,  6.0f, 7.0f, 8.0f, 10.0f, 12.0f};
// Longer than any margin worth trying looks at.
constexpr std::size_t kListed = 1024;

Trial try_margin(std::span<const ScanSample> samples, float margin, std::uint32_t k,
                 unsigned threads) {
  Effort effort;
  effort.margin = margin;
  std::vector<double> recalls(samples.size());
  std::vector<double> costs(samples.size());
  parallel_for(samples.size(), threads, 8, [&](std::size_t q, unsigned) {
    const ScanSample& sample = samples[q];
    TopK hits(k);
    Rerank rerank(sample.candidates, sample.error, k, effort, sample.unit, sample.exact);
    rerank.resume(nullptr, hits);
    recalls[q] = recall_of(hits.items(), sample.truth, k);
    costs[q] = static_cast<double>(rerank.looked_at());
  });
  Trial trial{effort, 0, 0};
  for (std::size_t q = 0; q < samples.size(); ++q) {
    trial.recall += recalls[q] / static_cast<double>(samples.size());
    trial.cost += costs[q] / static_cast<double>(samples.size());
  }
  return trial;
}

}  // namespace

ScanSample scan_sample(const Codebook& codebook, const float* query,
                       std::span<const std::uint8_t> codes, std::size_t count,
                       const Bitmap* allowed) {
  const Estimator estimator(codebook, query);
  ScanSample sample;
  sample.candidates = scan(estimator, codes, count, kListed, allowed);
  sample.error = estimator.error_among(sample.candidates, codes);
  sample.exact.resize(sample.candidates.size());
  return sample;
}

std::vector<Calibration::Table> calibrate_scan(std::span<const ScanSample> samples,
                                               std::size_t count, unsigned threads) {
  std::vector<Calibration::Table> tables;
  for (const std::uint32_t k : kHitCounts) {
    if (k > 1 && k * 2 > count) break;
    std::vector<Trial> curve;
    for (const float margin : kMargins) {
      curve.push_back(try_margin(samples, margin, k, threads));
      if (curve.back().recall >= kEnoughRecall) break;
    }
    tables.push_back({Strategy::kScan, k, choose_efforts({&curve, 1})});
  }
  return tables;
}

double recall_of(std::span<const Candidate> hits, std::span<const Candidate> truth, std::size_t k) {
  const std::size_t expected = std::min(k, truth.size());
  if (expected == 0) return 1.0;
  const float limit = truth[expected - 1].distance;
  std::size_t found = 0;
  for (std::size_t i = 0; i < std::min(k, hits.size()); ++i) found += hits[i].distance <= limit;
  return static_cast<double>(found) / static_cast<double>(expected);
}

}  // namespace gossamer
