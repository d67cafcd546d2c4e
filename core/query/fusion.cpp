#include "query/fusion.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>

#include "base/number_map.h"
#include "base/sort.h"

namespace gossamer {
namespace {

// Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): how slowly a rank's weight falls.
// The paper takes 60 for rankings of a thousand; for the first ten of two rankings the first places
// tell more (docs/decisions/0011).
constexpr double kOffset = 5;

}  // namespace

double weight_of(std::uint32_t place) { return place == 0 ? 0 : 1 / (kOffset + place); }

std::uint32_t FusedChunk::best_rank() const {
  if (by_meaning == 0 || by_words == 0) return std::max(by_meaning, by_words);
  return std::min(by_meaning, by_words);
}

bool FusedChunk::operator<(const FusedChunk& other) const {
  if (score != other.score) return score > other.score;
  if (best_rank() != other.best_rank()) return best_rank() < other.best_rank();
  return id < other.id;
}

std::vector<FusedChunk> fuse(std::span<const std::uint64_t> by_meaning,
                             std::span<const std::uint64_t> by_words) {
  std::vector<FusedChunk> fused;
  NumberMap places;
  const auto enter = [&](std::span<const std::uint64_t> ids, std::uint32_t FusedChunk::* rank) {
    std::uint32_t place = 0;
    for (const std::uint64_t id : ids) {
      ++place;
      const auto known = places.find(id);
      const std::size_t at = known ? static_cast<std::size_t>(*known) : fused.size();
      if (!known) {
        places.set(id, at);
        fused.push_back({id, 0, 0, 0});
      }
      if (fused[at].*rank == 0) fused[at].*rank = place;
    }
  };
  enter(by_meaning, &FusedChunk::by_meaning);
  enter(by_words, &FusedChunk::by_words);
  for (FusedChunk& chunk : fused)
    chunk.score = weight_of(chunk.by_meaning) + weight_of(chunk.by_words);
  sort_values(fused.begin(), fused.end());
  return fused;
}

namespace {

// Chosen on four sets, judged on others (docs/decisions/0023).
constexpr double kTokenWeight = 1.5, kWordWeightOfLong = 1.0;
constexpr double kShortQuestion = 24;  // tokens, up to which these hold

// In deviations from the mean; all 0 where nothing differs.
std::vector<double> standardize(std::vector<double> values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0, square = 0;
  for (const double value : values) mean += value / count;
  for (const double value : values) square += (value - mean) * (value - mean) / count;
  const double deviation = std::sqrt(square);
  const bool differs = deviation > 1e-9 * std::abs(mean);  // by more than rounding
  for (double& value : values) value = differs ? (value - mean) / deviation : 0;
  return values;
}

// How much two kinds say the same, from 0 to 1; both are standardized.
double agreement_of(std::span<const double> one, std::span<const double> other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += one[i] * other[i];
  return std::max(0.0, sum / static_cast<double>(std::max<std::size_t>(one.size(), 1)));
}

// A chunk whose vector cannot be had is taken to be as far as the farthest.
std::vector<double> likeness_of(std::span<const Evidence> chunks) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> likeness;
  for (const Evidence& chunk : chunks) {
    const bool is_known = chunk.distance && std::isfinite(*chunk.distance);
    likeness.push_back(is_known ? -static_cast<double>(*chunk.distance) : std::nan(""));
    if (is_known) least = std::min(least, likeness.back());
  }
  if (!std::isfinite(least)) least = 0;
  for (double& value : likeness)
    if (std::isnan(value)) value = least;
  return likeness;
}

}  // namespace

std::vector<double> weigh_evidence(std::span<const Evidence> chunks, std::size_t question_tokens) {
  bool has_tokens = question_tokens > 0;
  std::vector<double> tokens, words;
  for (const Evidence& chunk : chunks) {
    has_tokens = has_tokens && (chunk.tokens || !chunk.distance);
    tokens.push_back(static_cast<double>(chunk.tokens.value_or(0)));
    words.push_back(static_cast<double>(chunk.words));
  }
  std::vector<double> scores = standardize(likeness_of(chunks));
  tokens = standardize(std::move(tokens));
  words = standardize(std::move(words));
  has_tokens = has_tokens && agreement_of(tokens, tokens) > 0;  // they differ

  const double brevity =
      has_tokens ? std::min(1.0, kShortQuestion / static_cast<double>(question_tokens)) : 0;
  // Words that the tokens contradict are there by chance.
  const double of_words =
      kWordWeightOfLong + (agreement_of(tokens, words) - kWordWeightOfLong) * brevity;
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] += kTokenWeight * brevity * tokens[i] + of_words * words[i] + chunks[i].exact;
  return scores;
}

void rank_again(std::vector<FusedChunk>& fused, std::span<const std::uint64_t> ids,
                std::span<const Evidence> evidence, std::size_t question_tokens) {
  const std::vector<double> scores = weigh_evidence(evidence, question_tokens);
  NumberMap places;
  double least = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    places.set(ids[i], i);
    least = std::min(least, scores[i]);
  }
  for (FusedChunk& chunk : fused) {
    const std::uint64_t* place = places.find(chunk.id);
    // Sums of reciprocal ranks are below 1.
    chunk.score = place ? scores[*place] : least - 1 + chunk.score;
    if (!place) continue;
    chunk.evidence = chunk.score;
    chunk.tokens = evidence[*place].tokens;
    chunk.words = evidence[*place].words;
    chunk.exact = static_cast<float>(evidence[*place].exact);
  }
  sort_values(fused.begin(), fused.end());
}

double lead_of(std::span<const FusedChunk> fused, const FusedChunk& chunk) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double best = kNone;
  for (const FusedChunk& other : fused)
    if (other.id != chunk.id) best = std::max(best, other.evidence.value_or(kNone));
  return best == kNone ? 0 : chunk.evidence.value_or(kNone) - best;
}

float exact_of(std::span<const FusedChunk> fused, const FusedChunk& chunk) {
  float best = chunk.exact;
  for (const FusedChunk& other : fused) best = std::max(best, other.exact);
  return std::max(0.0F, 2 * chunk.exact - best);
}

void rank_by_scores(std::vector<FusedChunk>& fused, const std::map<std::uint64_t, float>& scores) {
  std::vector<FusedChunk> scored, others;
  for (FusedChunk& chunk : fused) {
    const auto found = scores.find(chunk.id);
    if (found == scores.end()) {
      others.push_back(chunk);
      continue;
    }
    chunk.reranker = found->second;
    chunk.score = static_cast<double>(found->second);
    const auto behind = std::find_if(scored.begin(), scored.end(), [&](const FusedChunk& other) {
      return other.score < chunk.score;
    });
    scored.insert(behind, chunk);
  }
  // The score of a hit is never above that of the one before it.
  const double shift =
      scored.empty() || others.empty() ? 0 : scored.back().score - 1 - others[0].score;
  for (FusedChunk& chunk : others) chunk.score += shift;
  fused = std::move(scored);
  fused.insert(fused.end(), others.begin(), others.end());
}

}  // namespace gossamer
