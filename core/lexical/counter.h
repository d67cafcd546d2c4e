#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lexical/prefixes.h"
#include "lexical/query.h"

namespace gossamer {

// Counts how often the terms of a query stand in texts, at the speed of reading them: only words
// that begin like a term are looked at, and what a word is worth is remembered.
class TermCounter {
 public:
  // The query must outlive the counter.
  explicit TermCounter(const LexicalQuery& query);

  // Adds what stands in the text to the counts. Any bytes will do.
  void add(std::string_view text);
  // The terms counted since the last clear(), rising, each once.
  std::vector<TermId>& found();
  std::uint32_t count(TermId term) const { return counts_[term]; }
  void clear();

 private:
  static constexpr std::size_t kRemembered = 4096;

  // What a run of word bytes counts for.
  struct Memory {
    std::uint8_t length = 0;
    std::uint8_t matches = 0;
    std::array<TermId, 3> terms;
    std::array<char, 24> bytes;
  };

  // Counts the run of word bytes around a byte and gives where it ends.
  std::size_t add_run_at(std::string_view text, std::size_t at);
  void add_run(std::string_view run);
  void add_and_remember(std::string_view run, Memory& memory);
  void count_one(TermId term) {
    if (counts_[term]++ == 0) found_.push_back(term);
  }

  const LexicalQuery& query_;
  std::vector<std::uint32_t> counts_;
  std::vector<TermId> found_;
  TermPrefixes prefixes_;
  std::vector<Memory> memories_;
};

}  // namespace gossamer
