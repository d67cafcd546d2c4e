#include "query/tokens.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "distance/distance.h"
#include "lexical/bm25.h"
#include "lexical/words.h"

namespace gossamer {
namespace {

// Of what is no term: function words and signs. They tell little, but not nothing.
constexpr float kOtherWeight = 0.5F;

// Chosen on four sets, judged on others (docs/decisions/0023): a stretch is about a sentence.
constexpr std::size_t kBlockTokens = 8, kStretchBlocks = 3;
constexpr double kStretchShare = 2.0 / 3;

void check_values(std::span<const float> rows) {
  expect(std::all_of(rows.begin(), rows.end(), [](float x) { return std::isfinite(x); }),
         Reason::kNotFinite, "vectors of tokens hold numbers only");
}

// One over the length; 0 for a row without a direction, or too short or long to compute it.
float scale_of(const float* row, std::size_t dim) {
  const float square = -kernels().inner_product_f32(row, row, dim);
  return std::isnormal(square) ? 1 / std::sqrt(square) : 0;
}

}  // namespace

QuestionTokens::QuestionTokens(std::size_t dim, std::span<const float> rows,
                               std::span<const std::uint32_t> starts)
    : dim_(dim) {
  expect(rows.size() == starts.size() * dim, Reason::kInvalidArgument,
         "expected a vector for each token of the question");
  check_values(rows);
  if (starts.size() > kMostTokens) return;
  rows_.assign(rows.begin(), rows.end());
  starts_.assign(starts.begin(), starts.end());
  weights_.assign(starts.size(), 1);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    float* row = rows_.data() + i * dim;
    const float scale = scale_of(row, dim);
    std::transform(row, row + dim, row, [&](float x) { return x * scale; });
  }
}

void QuestionTokens::weigh(std::string_view question, std::span<const std::string> terms,
                           std::span<const std::uint64_t> chunks_with, std::uint64_t chunks) {
  if (empty()) return;
  std::fill(weights_.begin(), weights_.end(), kOtherWeight);
  visit_terms(question, Side::kQuestion, [&](const Term& term) {
    const auto known = std::find(terms.begin(), terms.end(), term.form);
    if (known == terms.end()) return;
    const std::uint64_t with = chunks_with[static_cast<std::size_t>(known - terms.begin())];
    const auto weight = static_cast<float>(rarity(with, std::max(chunks, with)));
    for (std::size_t i = 0; i < starts_.size(); ++i)
      if (starts_[i] >= term.begin && starts_[i] < term.end)
        weights_[i] = std::max(weights_[i], weight);
  });
}

std::vector<float> QuestionTokens::compare(std::span<const float> rows) const {
  if (empty()) return {};
  const std::size_t count = rows.size() / dim_;
  // Nothing is nearer than what has nothing in common.
  std::vector<float> blocks((count + kBlockTokens - 1) / kBlockTokens * size(), 0);
  for (std::size_t token = 0; token < count; ++token) {
    const float* row = rows.data() + token * dim_;
    const float scale = scale_of(row, dim_);
    if (scale == 0) continue;
    float* best = blocks.data() + token / kBlockTokens * size();
    for (std::size_t i = 0; i < size(); ++i)
      best[i] = std::max(best[i],
                         -kernels().inner_product_f32(rows_.data() + i * dim_, row, dim_) * scale);
  }
  return blocks;
}

double QuestionTokens::weigh_blocks(std::span<const float> blocks) const {
  double sum = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    float best = 0;
    for (std::size_t at = i; at < blocks.size(); at += size()) best = std::max(best, blocks[at]);
    sum += static_cast<double>(best) * static_cast<double>(weights_[i]);
  }
  return sum;
}

float QuestionTokens::match(std::span<const float> blocks) const {
  double weight = 0;
  for (const float one : weights_) weight += static_cast<double>(one);
  if (weight <= 0) return 0;
  const double whole = weigh_blocks(blocks);
  const std::size_t stretch = kStretchBlocks * size();
  double best = blocks.size() < stretch ? whole : 0;
  for (std::size_t at = 0; at + stretch <= blocks.size(); at += size())
    best = std::max(best, weigh_blocks(blocks.subspan(at, stretch)));
  return static_cast<float>((kStretchShare * best + (1 - kStretchShare) * whole) / weight);
}

std::vector<std::span<const float>> split_rows(const TokenRows& tokens, std::size_t dim,
                                               std::size_t texts) {
  std::uint64_t sum = 0;
  for (const std::uint32_t count : tokens.counts) sum += count;
  expect(
      tokens.counts.size() == texts && sum <= tokens.rows.size() && sum * dim == tokens.rows.size(),
      Reason::kInvalidArgument, "expected the vectors of all tokens of each text");
  check_values(tokens.rows);
  std::vector<std::span<const float>> split;
  std::span<const float> left = tokens.rows;
  for (const std::uint32_t count : tokens.counts) {
    split.push_back(left.first(count * dim));
    left = left.subspan(count * dim);
  }
  return split;
}

}  // namespace gossamer
