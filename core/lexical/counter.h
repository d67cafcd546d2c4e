#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lexical/prefixes.h"
#include "lexical/query.h"

namespace gossamer {

// Counts how often the terms of a query, and its pairs of words, stand in texts, at the speed of
// reading them: only words that begin like a term are looked at, and what a word is worth is
// remembered.
class TermCounter {
 public:
  // The query must outlive the counter.
  explicit TermCounter(const LexicalQuery& query);

  // Adds what stands in the text to the counts. Any bytes will do.
  void add(std::string_view text);
  // The terms and pairs counted since the last clear(), rising, each once.
  std::vector<TermId>& found();
  std::uint32_t count(TermId term) const { return counts_[term]; }
  void clear();

 private:
  static constexpr std::size_t kRemembered = 4096;

  // What a run of word bytes counts for, and the terms that its first and last words are, if any.
  struct Run {
    std::uint8_t matches = 0;
    std::array<TermId, 3> terms;
    TermId first = LexicalQuery::kNoTerm, last = LexicalQuery::kNoTerm;
  };
  struct Memory {
    std::uint8_t length = 0;
    Run run;
    std::array<char, 24> bytes;
  };

  // Counts the run of word bytes around a byte and gives where it ends.
  std::size_t add_run_at(std::string_view text, std::size_t at);
  Run add_run(std::string_view run);
  // Counts what stands in a run; more matches than can be remembered are still counted.
  Run read_run(std::string_view run);
  // kNoTerm where one of them is, or they are no pair of the query.
  TermId pair_of(TermId first, TermId second) const;
  void count_one(TermId term) {
    if (counts_[term]++ == 0) found_.push_back(term);
  }

  const LexicalQuery& query_;
  std::vector<std::uint32_t> counts_;
  std::vector<TermId> found_;
  TermPrefixes prefixes_;
  std::vector<Memory> memories_;
  std::size_t last_end_ = 0;             // of the run that was counted last,
  TermId last_ = LexicalQuery::kNoTerm;  // and its last word
};

}  // namespace gossamer
