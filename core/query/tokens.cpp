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

void check_values(std::span<const float> rows) {
  expect(std::all_of(rows.begin(), rows.end(), [](float x) { return std::isfinite(x); }),
         Reason::kNotFinite, "vectors of tokens hold numbers only");
}

// One over the length; 0 for a row without a direction.
float scale_of(const float* row, std::size_t dim) {
  const float square = -kernels().inner_product_f32(row, row, dim);
  return square > 0 ? 1 / std::sqrt(square) : 0;
}

}  // namespace

QuestionTokens::QuestionTokens(std::size_t dim, std::span<const float> rows,
                               std::span<const std::uint32_t> starts)
    : dim_(dim),
      rows_(rows.begin(), rows.end()),
      starts_(starts.begin(), starts.end()),
      weights_(starts.size(), 1) {
  expect(rows.size() == starts.size() * dim, Reason::kInvalidArgument,
         "expected a vector for each token of the question");
  check_values(rows);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    float* row = rows_.data() + i * dim;
    const float scale = scale_of(row, dim);
    std::transform(row, row + dim, row, [&](float x) { return x * scale; });
  }
}

void QuestionTokens::weigh(std::string_view question, std::span<const std::string> terms,
                           std::span<const std::uint64_t> chunks_with, std::uint64_t chunks) {
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

float QuestionTokens::match(std::span<const float> rows) const {
  std::vector<float> best(size(), 0);  // nothing is nearer than what has nothing in common
  for (const float* row = rows.data(); row != rows.data() + rows.size(); row += dim_) {
    const float scale = scale_of(row, dim_);
    for (std::size_t i = 0; i < best.size(); ++i)
      best[i] = std::max(best[i],
                         -kernels().inner_product_f32(rows_.data() + i * dim_, row, dim_) * scale);
  }
  double sum = 0, weight = 0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    sum += static_cast<double>(best[i]) * static_cast<double>(weights_[i]);
    weight += static_cast<double>(weights_[i]);
  }
  return weight > 0 ? static_cast<float>(sum / weight) : 0;
}

std::vector<std::span<const float>> split_rows(const TokenRows& tokens, std::size_t dim,
                                               std::size_t texts) {
  std::size_t left = dim == 0 ? 0 : tokens.rows.size() / dim;
  bool fits = tokens.counts.size() == texts && left * dim == tokens.rows.size();
  std::vector<std::span<const float>> split;
  for (std::size_t i = 0; fits && i < texts; ++i) {
    fits = tokens.counts[i] <= left;
    if (!fits) break;
    left -= tokens.counts[i];
    const std::size_t before =
        split.empty() ? 0
                      : static_cast<std::size_t>(split.back().data() + split.back().size() -
                                                 tokens.rows.data());
    split.push_back(tokens.rows.subspan(before, tokens.counts[i] * dim));
  }
  expect(fits && left == 0, Reason::kInvalidArgument,
         "expected the vectors of all tokens of each text");
  check_values(tokens.rows);
  return split;
}

}  // namespace gossamer
