#include "query/strength.h"

#include <algorithm>
#include <cmath>

namespace gossamer {
namespace {

// Of few chunks the mean and the spread say little: what they say counts half at so many.
constexpr double kFewChunks = 16;

}  // namespace

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
