#include "query/strength.h"

#include <algorithm>
#include <cmath>

namespace gossamer {
namespace {

// Of few chunks the mean and the spread say little: what they say counts half at so many.
constexpr double kFewChunks = 16;

// How much each of the grounds counts where others are known. `benchmarks/fit_strength.py` chose
// them and what follows, and benchmarks/results/strength.json says how well they do.
struct Weights {
  double base, nearness, tokens, coverage, covered_terms, exact, lead, chunks;
};
// WEIGHTS BEGIN
constexpr Weights kByAll{-3.14, 0.35, 1.07, 0.966, 2.49, 3.53, 0.315, -0.351};
constexpr Weights kWithoutTokens{-2.81, 0.378, 0, 1.4, 2.47, 3.57, 0.324, -0.348};
constexpr Weights kByWords{-3.04, 0, 0, 2.22, 2.36, 3.67, 0.429, -0.204};
constexpr Weights kByNearness{-0.75, 1.22, 0, 0, 0, 0, 0, -0.841};
constexpr double kStrong = 0.91, kFair = 0.15;
// WEIGHTS END

// More of these tells no more.
constexpr std::size_t kManyTerms = 12;
constexpr double kLongLead = 3, kMostExact = 3;

const Weights* weights_for(const Grounds& grounds) {
  if (grounds.nearness && grounds.coverage) return grounds.tokens ? &kByAll : &kWithoutTokens;
  if (grounds.nearness) return &kByNearness;
  return grounds.coverage ? &kByWords : nullptr;
}

}  // namespace

std::optional<double> probability_of(const Grounds& grounds) {
  const Weights* weights = weights_for(grounds);
  if (weights == nullptr) return std::nullopt;
  const auto value = [](std::optional<float> known) {
    return static_cast<double>(known.value_or(0));
  };
  const double coverage = value(grounds.coverage);
  const auto terms = static_cast<double>(std::clamp<std::size_t>(grounds.terms, 1, kManyTerms));
  const double sum = weights->base + weights->nearness * value(grounds.nearness) +
                     weights->tokens * value(grounds.tokens) + weights->coverage * coverage +
                     weights->covered_terms * coverage * std::log(terms) +
                     weights->exact * std::min(static_cast<double>(grounds.exact), kMostExact) +
                     weights->lead * std::clamp(grounds.lead, -kLongLead, kLongLead) +
                     weights->chunks * std::log1p(static_cast<double>(grounds.chunks));
  return std::round(1e4 / (1 + std::exp(-sum))) / 1e4;
}

std::string_view strength_of(std::optional<double> probability) {
  if (!probability) return "";
  return *probability >= kStrong ? "strong" : *probability >= kFair ? "fair" : "weak";
}

Background::Background(std::span<const float> distances) : chunks_(distances.size()) {
  const auto count = static_cast<double>(chunks_);
  double square = 0;
  for (const float distance : distances) mean_ += static_cast<double>(distance) / count;
  for (const float distance : distances) {
    const double off = static_cast<double>(distance) - mean_;
    square += off * off / count;
  }
  deviation_ = std::sqrt(square);
}

std::optional<float> Background::nearness_of(float distance) const {
  if (!(deviation_ > 0) || !std::isfinite(distance)) return std::nullopt;
  const auto count = static_cast<double>(chunks_);
  const double off = (mean_ - static_cast<double>(distance)) / deviation_;
  return static_cast<float>(off * count / (count + kFewChunks));
}

WordCoverage::WordCoverage(const LexicalQuery& query, std::span<const std::string> terms,
                           std::span<const std::uint64_t> chunks_with, std::uint64_t chunks)
    : counter_(query) {
  if (terms.empty()) return;
  std::vector<std::uint64_t> with(query.size());
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (const std::optional<TermId> term = query.find(terms[i]))
      with[*term] = std::min(chunks_with[i], chunks);
  weights_ = query.weigh(with, chunks);
  weights_.resize(query.asked());
  for (const double weight : weights_) total_ += weight;
}

std::optional<float> WordCoverage::find(std::string_view text) {
  if (!(total_ > 0)) return std::nullopt;
  counter_.add(text);
  double covered = 0;
  for (std::size_t term = 0; term < weights_.size(); ++term)
    if (counter_.count(static_cast<TermId>(term)) > 0) covered += weights_[term];
  counter_.clear();
  return static_cast<float>(covered / total_);
}

}  // namespace gossamer
