#include "query/tokens.h"

#include <algorithm>
#include <cmath>

#include "base/append.h"
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
  std::vector<float> values;
  values.reserve(rows.size() / dim_ * size());
  for (const float* row = rows.data(); row < rows.data() + rows.size(); row += dim_) {
    const float scale = scale_of(row, dim_);
    for (std::size_t i = 0; i < size(); ++i)
      values.push_back(
          std::max(0.0F, -kernels().inner_product_f32(rows_.data() + i * dim_, row, dim_) * scale));
  }
  return values;
}

double QuestionTokens::total_weight() const {
  double weight = 0;
  for (const float one : weights_) weight += static_cast<double>(one);
  return weight;
}

double QuestionTokens::weigh_best(std::span<const float> blocks) const {
  double sum = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    float best = 0;
    for (std::size_t at = i; at < blocks.size(); at += size()) best = std::max(best, blocks[at]);
    sum += static_cast<double>(best) * static_cast<double>(weights_[i]);
  }
  return sum;
}

float QuestionTokens::match(std::span<const float> values) const {
  const double weight = total_weight();
  if (weight <= 0) return 0;
  std::vector<float> blocks;  // of each the best
  const std::size_t block = kBlockTokens * size();
  for (std::size_t at = 0; at < values.size(); ++at) {
    const std::size_t place = at / block * size() + at % size();
    if (place == blocks.size())
      blocks.push_back(values[at]);
    else
      blocks[place] = std::max(blocks[place], values[at]);
  }
  const double whole = weigh_best(blocks);
  const std::size_t stretch = kStretchBlocks * size();
  double best = blocks.size() < stretch ? whole : 0;
  for (std::size_t at = 0; at + stretch <= blocks.size(); at += size())
    best = std::max(best, weigh_best(std::span(blocks).subspan(at, stretch)));
  return static_cast<float>((kStretchShare * best + (1 - kStretchShare) * whole) / weight);
}

double QuestionTokens::match_within(const TokenLikeness& text, std::size_t begin,
                                    std::size_t end) const {
  std::vector<float> values;
  for (std::size_t token = 0; token < text.starts.size(); ++token)
    if (text.starts[token] >= begin && text.starts[token] < end)
      append(values, std::span(text.values).subspan(token * size(), size()));
  const double weight = total_weight();
  return weight > 0 ? weigh_best(values) / weight : 0;
}

std::vector<TokenRows> split_rows(const TokenRows& tokens, std::size_t dim, std::size_t texts) {
  std::uint64_t sum = 0;
  for (const std::uint32_t count : tokens.counts) sum += count;
  expect(
      tokens.counts.size() == texts && sum <= tokens.rows.size() && sum * dim == tokens.rows.size(),
      Reason::kInvalidArgument, "expected the vectors of all tokens of each text");
  expect(tokens.starts.empty() || tokens.starts.size() == sum, Reason::kInvalidArgument,
         "expected where each token begins, or nothing of the kind");
  check_values(tokens.rows);
  std::vector<TokenRows> split;
  TokenRows left = tokens;
  for (const std::uint32_t count : tokens.counts) {
    const std::size_t places = left.starts.empty() ? 0 : count;
    split.push_back({left.rows.first(count * dim), {}, left.starts.first(places)});
    left.rows = left.rows.subspan(count * dim);
    left.starts = left.starts.subspan(places);
  }
  return split;
}

}  // namespace gossamer
