#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lexical/words.h"

namespace gossamer {

using TermId = std::uint16_t;

// Whether a folded word is one of the commonest English function words.
bool is_function_word(std::string_view word);

// What a question asks for: its terms, each once, numbered in the order of their first mention.
// The commonest English function words are left out unless there is nothing else.
class LexicalQuery {
 public:
  // Terms beyond this number are not asked for: a question that long is a text.
  static constexpr std::size_t kMostTerms = 1024;
  static constexpr std::size_t kMostWatched = 2048;
  static constexpr TermId kNoTerm = UINT16_MAX;
  static constexpr std::size_t kLookupWords = 2;

  explicit LexicalQuery(std::string_view question, Side side = Side::kQuestion);

  const std::vector<std::string>& terms() const { return terms_; }
  std::optional<TermId> find(std::string_view form) const;

  // Two words that stand side by side in the question. They are counted like terms, and their
  // numbers follow those of all terms.
  struct Pair {
    TermId first, second;
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };
  std::span<const Pair> pairs() const { return pairs_; }
  // kNoTerm where the question does not have two terms in this order.
  TermId find_pair(Pair pair) const;
  // Of terms and pairs.
  std::size_t size() const { return terms_.size() + pairs_.size(); }

  // How many of the terms are the question's own; the others are only watched.
  std::size_t asked() const { return asked_; }
  // A term that is looked for, but counts for nothing unless the question has it too; kNoTerm where
  // there is no room for it.
  TermId watch(std::string_view form);
  // Lets a name that stands behind a word that is only watched count as a pair, which it is where
  // the name is defined: class Hit.
  void expect_definition(std::string_view name);
  // Whether so little is asked for that words side by side tell where it is: class Hit.
  bool is_lookup() const { return words_ <= kLookupWords; }
  // What each term and pair counts, where so many of all chunks hold a term (`chunks_with` may go
  // on with pairs).
  std::vector<double> weigh(std::span<const std::uint64_t> chunks_with, std::uint64_t chunks) const;

  // Where terms of the question stand in a text: spans of bytes, rising, apart from each other.
  std::vector<std::pair<std::size_t, std::size_t>> find_in(std::string_view text) const;

 private:
  TermId add(std::string_view form, std::size_t most = kMostTerms);
  void enter(TermId term);  // into the slots

  std::vector<std::string> terms_;
  std::vector<TermId> wholes_;  // of each term the word that it is a part of, and nothing else
  std::size_t asked_ = 0;       // how many of the terms are the question's
  std::size_t words_ = 0;       // of the question, function words too
  std::vector<Pair> pairs_;     // rising
  std::vector<std::uint32_t> slots_;  // open addressing: a term's number + 1, 0 for none
};

// The terms of a text as words between spaces, for an index that splits at spaces.
std::string spaced_terms(std::string_view text);

}  // namespace gossamer
