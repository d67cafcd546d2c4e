#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lexical/counter.h"
#include "lexical/query.h"

namespace gossamer {

// What tells how sure a hit is; nothing where it is not known.
struct Grounds {
  std::optional<float> nearness = std::nullopt;  // Background::nearness_of
  std::optional<float> tokens = std::nullopt;    // QuestionTokens::match
  std::optional<float> coverage = std::nullopt;  // WordCoverage::find
  float exact = 0;                               // exact_of
  double lead = 0;  // of its evidence before that of the best other one; 0 where none was weighed
  std::size_t terms = 0;   // of the question
  std::size_t chunks = 0;  // of the index
};

// The probability that a hit answers the question, by what is known of it, as it was on sets with
// known answers (docs/decisions/0028), to four places; nothing where neither nearness nor words are
// known.
std::optional<double> probability_of(const Grounds& grounds);

// What people are told of it: "strong", "fair", "weak"; "" where it is not known.
std::string_view strength_of(std::optional<double> probability);

// How far from a question the chunks of an index are: a scale on which one can be near, whatever
// the model.
class Background {
 public:
  // Chunks that are looked at: the mean of so many is known well enough.
  static constexpr std::size_t kSample = 512;

  Background() = default;
  explicit Background(std::span<const float> distances);

  // By how many deviations a chunk is nearer than most; nothing where nothing is known.
  std::optional<float> nearness_of(float distance) const;

 private:
  double mean_ = 0, deviation_ = 0;
  std::size_t chunks_ = 0;
};

// How much of what a question's words tell stands in a text.
class WordCoverage {
 public:
  // `terms`: those that were counted, and how many of so many chunks hold each. The query outlives
  // this.
  WordCoverage(const LexicalQuery& query, std::span<const std::string> terms,
               std::span<const std::uint64_t> chunks_with, std::uint64_t chunks);

  // From 0 to 1; nothing where the question has no words, or none was counted.
  std::optional<float> find(std::string_view text);

 private:
  TermCounter counter_;
  std::vector<double> weights_;  // of terms
  double total_ = 0;
};

}  // namespace gossamer
