#include "search/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"
#include "base/random.h"
#include "search/calibrate_scan.h"
#include "search/exact.h"
#include "search/session.h"

namespace gossamer {

namespace {

// Share of the data's own spread that turns a chunk's vector into a question's.
constexpr double kQuestionNoise = 0.9;
// So many random vectors, summed with random weights, spread like the data.
constexpr std::size_t kNoiseTerms = 32;

// A walk that meets the vector a query was made from finds the rest too easily; one that does not
// see it lacks a node that its neighbors count on. Real questions lie between: two of three
// queries hide it.
constexpr std::size_t kHiddenOf = 3;

constexpr std::array<std::uint32_t, 13> kBeams = {10,  14,  20,  28,  40,  56, 80,
                                                  112, 160, 224, 320, 448, 640};
constexpr std::array<float, 3> kRatios = {0.04f, 0.1f, 0.2f};
constexpr std::array<float, 2> kWalkMargins = {3.5f, 5.5f};
// Strategies with more than one dial are tried on fewer queries: there are many trials.
constexpr std::size_t kFewQueries = 320;
// What an estimate costs, in vectors looked at.
constexpr double kCodeCost = 0.0005;

bool has_unit_length(const Rows& rows) {
  std::vector<float> vector(rows.space->dim());
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.count, 32); ++i) {
    rows.space->decode_row(rows.row(static_cast<NodeId>(i)), vector.data());
    double norm = 0;
    for (const float value : vector)
      norm += static_cast<double>(value) * static_cast<double>(value);
    if (std::abs(norm - 1.0) > 0.02) return false;
  }
  return true;
}

std::vector<double> mean_row(const Rows& rows, Random& random) {
  constexpr std::size_t kSample = 2048;
  std::vector<double> mean(rows.space->dim(), 0.0);
  std::vector<float> vector(rows.space->dim());
  const std::size_t sample = std::min(rows.count, kSample);
  for (std::size_t i = 0; i < sample; ++i) {
    rows.space->decode_row(rows.row(static_cast<NodeId>(random.below(rows.count))), vector.data());
    for (std::size_t d = 0; d < mean.size(); ++d) {
      mean[d] += static_cast<double>(vector[d]) / static_cast<double>(sample);
    }
  }
  return mean;
}

void add_noise(const Rows& rows, const std::vector<double>& mean, Random& random, float* query) {
  std::vector<float> other(mean.size());
  const double scale = kQuestionNoise / std::sqrt(static_cast<double>(kNoiseTerms));
  for (std::size_t term = 0; term < kNoiseTerms; ++term) {
    rows.space->decode_row(rows.row(static_cast<NodeId>(random.below(rows.count))), other.data());
    const double weight = random.normal() * scale;
    for (std::size_t d = 0; d < mean.size(); ++d) {
      query[d] += static_cast<float>(weight * (static_cast<double>(other[d]) - mean[d]));
    }
  }
}

// The sample queries with their truth, and what is needed to try efforts on them.
class Bench {
 public:
  Bench(const View& view, const SampleQueries& queries, unsigned threads, Progress* progress)
      : view_(view), queries_(queries), threads_(threads), progress_(progress) {
    const Rows rows{view.space, view.kept->column().data(), view.node_count};
    truth_ = exact_nearest(rows, queries.vectors.data(), queries.count(), kHitCounts.back(),
                           view.allowed, queries.made_from.data(), threads);
    scratch_.resize(threads);
  }

  std::size_t query_count() const { return queries_.count(); }
  std::size_t allowed_count() const { return view_.allowed_count; }

  // One trial for each k of kHitCounts, all from the same searches; only those k that the search
  // was wide enough for are meaningful.
  std::array<Trial, kHitCounts.size()> try_walk(Strategy strategy, const Effort& effort,
                                                std::uint32_t k, std::size_t query_count) {
    std::vector<std::vector<Candidate>> hits(query_count);
    std::vector<double> costs(query_count);
    parallel_for(query_count, threads_, 4, [&](std::size_t q, unsigned worker) {
      Bitmap allowed = allowed_for(q);
      View view = view_;
      view.allowed = &allowed;
      if (q % kHiddenOf != 0) view.hidden = queries_.made_from[q];
      view.allowed_count = view_.allowed_count - (queries_.made_from[q] == kNoNode ? 0 : 1);
      const SearchSession session(view, query(q), k, strategy, effort, scratch_[worker]);
      hits[q].assign(session.nearest().begin(), session.nearest().end());
      const SearchCounters counters = session.counters();
      costs[q] = static_cast<double>(counters.distances) +
                 kCodeCost * static_cast<double>(counters.codes_touched);
    });
    return summarize(effort, hits, costs);
  }

  // What a scan finds for each query, with the exact distances of all it finds.
  std::vector<ScanSample> scan_codes() {
    std::vector<ScanSample> samples(query_count());
    parallel_for(query_count(), threads_, 4, [&](std::size_t q, unsigned) {
      const Bitmap allowed = allowed_for(q);
      samples[q] =
          scan_sample(*view_.codebook, query(q), view_.codes->bytes(), view_.node_count, &allowed);
      const Lookup lookup(view_, query(q));
      for (std::size_t i = 0; i < samples[q].candidates.size(); ++i) {
        lookup.find(samples[q].candidates[i].node, samples[q].exact[i]);
      }
      samples[q].truth = truth_[q];
      samples[q].unit = view_.space->raw_unit();
    });
    return samples;
  }

  void step() const {
    if (progress_ == nullptr) return;
    progress_->throw_if_cancelled();
    progress_->advance();
  }

 private:
  const float* query(std::size_t q) const {
    return queries_.vectors.data() + q * view_.space->dim();
  }

  Bitmap allowed_for(std::size_t q) const {
    Bitmap allowed(view_.node_count);
    if (view_.allowed != nullptr) {
      allowed = *view_.allowed;
    } else {
      allowed.fill();
    }
    if (queries_.made_from[q] != kNoNode) allowed.erase(queries_.made_from[q]);
    return allowed;
  }

  std::array<Trial, kHitCounts.size()> summarize(const Effort& effort,
                                                 const std::vector<std::vector<Candidate>>& hits,
                                                 const std::vector<double>& costs) const {
    std::array<Trial, kHitCounts.size()> trials;
    double cost = 0;
    for (const double value : costs) cost += value / static_cast<double>(costs.size());
    for (std::size_t c = 0; c < kHitCounts.size(); ++c) {
      double recall = 0;
      for (std::size_t q = 0; q < hits.size(); ++q)
        recall += recall_of(hits[q], truth_[q], kHitCounts[c]);
      trials[c] = {effort, recall / static_cast<double>(hits.size()), cost};
    }
    return trials;
  }

  View view_;
  const SampleQueries& queries_;
  unsigned threads_;
  Progress* progress_;
  std::vector<std::vector<Candidate>> truth_;
  std::vector<WalkScratch> scratch_;
};

// Curves over the beam, one for each variation of the other fields, for every k at once.
void calibrate_walk(Bench& bench, Strategy strategy, std::span<const Effort> variations,
                    Calibration& calibration) {
  std::array<std::vector<std::vector<Trial>>, kHitCounts.size()> curves;
  const std::size_t query_count =
      variations.size() > 1 ? std::min(bench.query_count(), kFewQueries) : bench.query_count();
  for (const Effort& variation : variations) {
    for (auto& by_count : curves) by_count.emplace_back();
    for (const std::uint32_t beam : kBeams) {
      Effort effort = variation;
      effort.beam = beam;
      const std::uint32_t k = std::min(beam, kHitCounts.back());
      const auto trials = bench.try_walk(strategy, effort, k, query_count);
      bench.step();
      for (std::size_t c = 0; c < kHitCounts.size() && kHitCounts[c] <= beam; ++c) {
        curves[c].back().push_back(trials[c]);
      }
      if (beam >= kHitCounts.back() && trials.back().recall >= kEnoughRecall) break;
    }
  }
  for (std::size_t c = 0; c < kHitCounts.size(); ++c) {
    if (c > 0 && kHitCounts[c] * 2 > bench.allowed_count()) break;
    calibration.add({strategy, kHitCounts[c], choose_efforts(curves[c])});
  }
}

// A walk by estimates stops by its margin, which depends on k: each k is searched on its own.
void calibrate_code_walk(Bench& bench, Calibration& calibration) {
  const std::size_t query_count = std::min(bench.query_count(), kFewQueries);
  for (std::size_t c = 1; c < 3; ++c) {
    if (kHitCounts[c] * 2 > bench.allowed_count()) break;
    std::vector<std::vector<Trial>> curves;
    for (const float margin : kWalkMargins) {
      std::vector<Trial>& curve = curves.emplace_back();
      for (const std::uint32_t beam : kBeams) {
        if (beam < 2 * kHitCounts[c]) continue;
        Effort effort;
        effort.margin = margin;
        effort.beam = beam;
        curve.push_back(bench.try_walk(Strategy::kWalk, effort, kHitCounts[c], query_count)[c]);
        bench.step();
      }
    }
    calibration.add({Strategy::kWalk, kHitCounts[c], choose_efforts(curves)});
  }
}

}  // namespace

SampleQueries make_queries(const Rows& rows, const Bitmap* allowed, std::size_t count,
                           std::uint64_t seed) {
  SampleQueries queries;
  if (rows.count == 0) return queries;
  Random random(seed);
  const std::size_t dim = rows.space->dim();
  const bool are_texts = rows.space->metric() != Metric::kL2 || has_unit_length(rows);
  const std::vector<double> mean = mean_row(rows, random);
  for (std::size_t tries = 0; queries.count() < count && tries < 4 * count; ++tries) {
    const auto node = static_cast<NodeId>(random.below(rows.count));
    if (allowed != nullptr && !allowed->contains(node)) continue;
    queries.made_from.push_back(node);
    queries.vectors.resize(queries.vectors.size() + dim);
    float* query = queries.vectors.data() + queries.vectors.size() - dim;
    rows.space->decode_row(rows.row(node), query);
    if (are_texts) add_noise(rows, mean, random, query);
  }
  return queries;
}

Calibration calibrate(const View& view, const SampleQueries& queries,
                      std::span<const Strategy> strategies, unsigned threads, Progress* progress) {
  Calibration calibration;
  if (queries.count() == 0 || view.allowed_count < 2) return calibration;
  Bench bench(view, queries, threads, progress);
  for (const Strategy strategy : strategies) {
    if (strategy == Strategy::kScan) {
      for (auto& table : calibrate_scan(bench.scan_codes(), view.allowed_count, threads)) {
        calibration.add(std::move(table));
      }
    }
    if (strategy == Strategy::kWalk) calibrate_code_walk(bench, calibration);
    if (strategy == Strategy::kBestFirst) {
      const Effort effort;
      calibrate_walk(bench, strategy, {&effort, 1}, calibration);
    }
    if (strategy == Strategy::kTwoLevel) {
      std::array<Effort, kRatios.size()> variations;
      for (std::size_t i = 0; i < kRatios.size(); ++i) variations[i].ratio = kRatios[i];
      calibrate_walk(bench, strategy, variations, calibration);
    }
  }
  return calibration;
}

}  // namespace gossamer
