#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lexical/counter.h"
#include "lexical/query.h"

namespace gossamer {

// What tells how sure a hit is; nothing where it is not known.
struct Grounds {
  std::optional<float> nearness;  // Background::nearness_of
  std::optional<float> coverage;  // WordCoverage::find
};

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
