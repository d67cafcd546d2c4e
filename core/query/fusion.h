#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace gossamer {

// A chunk with its place in each ranking that holds it, from 1; 0 where one does not.
struct FusedChunk {
  std::uint64_t id;
  double score;
  std::uint32_t by_meaning;
  std::uint32_t by_words;
  std::optional<float> tokens = std::nullopt;     // how well tokens of the question are matched
  float words = 0;                                // BM25
  float exact = 0;                                // what is looked up in it
  std::optional<double> evidence = std::nullopt;  // the sum of what speaks for it
  std::optional<float> reranker = std::nullopt;   // what a model of the host says of it

  // The better of its ranks.
  std::uint32_t best_rank() const;
  // Whether it comes before another one.
  bool operator<(const FusedChunk& other) const;
};

// What a place in a ranking is worth, from 1; nothing for 0.
double weight_of(std::uint32_t place);

// Orders the chunks of two rankings by the sum of their reciprocal ranks, best first. Equal sums go
// by the better single place and then by the smaller id, so that the order is always the same.
std::vector<FusedChunk> fuse(std::span<const std::uint64_t> by_meaning,
                             std::span<const std::uint64_t> by_words);

// What is known of a chunk that is ranked again.
struct Evidence {
  std::optional<float> distance;  // from the question's vector; one that is no number tells nothing
  std::optional<float> tokens;    // QuestionTokens::match
  float words = 0;                // BM25
  double exact = 0;               // ExactWords::weigh
};

// The sum of what speaks for each of the chunks, every kind on the scale of its own spread among
// them (docs/decisions/0023). Tokens count if those of all chunks with a distance are known; the
// more the question has, the less they say. Words count as far as the tokens agree with them. What
// is looked up counts as it is.
std::vector<double> weigh_evidence(std::span<const Evidence> chunks, std::size_t question_tokens);

// Brings the chunks with evidence to the front, best first; the others keep their order.
void rank_again(std::vector<FusedChunk>& fused, std::span<const std::uint64_t> ids,
                std::span<const Evidence> evidence, std::size_t question_tokens);

// How far the evidence of a chunk is above that of the best other one; 0 where none other has any.
double lead_of(std::span<const FusedChunk> fused, const FusedChunk& chunk);

// How well a chunk gives what is looked up, as far as no other one gives it better: where a name is
// defined, its uses are no answers.
float exact_of(std::span<const FusedChunk> fused, const FusedChunk& chunk);

// Brings the chunks with a score to the front, by that alone; equal ones and the others keep their
// order. Scores are finite.
void rank_by_scores(std::vector<FusedChunk>& fused, const std::map<std::uint64_t, float>& scores);

}  // namespace gossamer
