#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lexical/words.h"

namespace gossamer {

using TermId = std::uint16_t;

// What a question asks for: its terms, each once, numbered in the order of their first mention.
// The commonest English function words are left out unless there is nothing else.
class LexicalQuery {
 public:
  // Terms beyond this number are not asked for: a question that long is a text.
  static constexpr std::size_t kMostTerms = 1024;

  explicit LexicalQuery(std::string_view question, Side side = Side::kQuestion);

  const std::vector<std::string>& terms() const { return terms_; }
  std::optional<TermId> find(std::string_view form) const;
  // Where terms of the question stand in a text: spans of bytes, rising, apart from each other.
  std::vector<std::pair<std::size_t, std::size_t>> find_in(std::string_view text) const;

 private:
  void add(std::string_view form);

  std::vector<std::string> terms_;
  std::vector<std::uint32_t> slots_;  // open addressing: a term's number + 1, 0 for none
};

// The terms of a text as words between spaces, for an index that splits at spaces.
std::string spaced_terms(std::string_view text);

}  // namespace gossamer
