#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitmap.h"
#include "lexical/query.h"
#include "query/units.h"

namespace gossamer {

// The words of a question that stand in a text, and what each is worth.
class Matches {
 public:
  Matches(const Characters& text, const LexicalQuery& words);

  std::span<const Match> all() const { return all_; }
  std::span<const Match> of(const Unit& unit) const {
    return all().subspan(unit.first_match, unit.stop_match - unit.first_match);
  }
  // The terms of a match by their numbers, which rise as the terms do.
  std::span<const std::size_t> terms_of(const Match& match) const { return terms_[match.word]; }
  // By the numbers of terms.
  const std::vector<double>& weights() const { return weights_; }

 private:
  // No hashes: texts of strangers may be made to have the same one.
  using Numbers = std::map<std::string, std::int64_t, std::less<>>;

  void add_word(std::string_view word, Numbers& numbers);
  void weigh_terms(const Numbers& numbers);

  std::vector<Match> all_;
  std::vector<std::vector<std::size_t>> terms_;  // of each different word
  std::vector<double> weights_;
};

// Adds up the terms of some units, each once, and a little for each time.
class Score {
 public:
  explicit Score(const Matches& matches)
      : matches_(matches), times_(matches.weights().size()), terms_(times_.size()) {}

  void add(const Unit& unit);
  void remove(const Unit& unit);
  double value() const;

 private:
  const Matches& matches_;
  std::vector<std::size_t> times_;  // of each term
  Bitmap terms_;                    // those that are there at all
  std::size_t total_ = 0;
};

}  // namespace gossamer
