#include "lexical/query.h"

#include <algorithm>
#include <array>

#include "lexical/hash.h"

namespace gossamer {
namespace {

// Sorted. Measured: without these a question in plain English finds more of what it asks for.
constexpr std::array<std::string_view, 82> kFunctionWords = {
    "a",    "about", "am",     "an",    "and",  "are",  "as",    "at",     "be",    "been", "being",
    "but",  "by",    "can",    "did",   "do",   "does", "doing", "don",    "for",   "from", "had",
    "has",  "have",  "having", "he",    "her",  "him",  "his",   "how",    "i",     "if",   "in",
    "into", "is",    "it",     "its",   "just", "ll",   "me",    "my",     "no",    "not",  "now",
    "of",   "on",    "or",     "our",   "re",   "s",    "she",   "should", "so",    "such", "t",
    "than", "that",  "the",    "their", "them", "then", "there", "these",  "they",  "this", "to",
    "too",  "ve",    "was",    "we",    "were", "what", "when",  "where",  "which", "who",  "whom",
    "why",  "will",  "with",   "you",   "your"};

bool is_function_word(std::string_view word) {
  return std::binary_search(kFunctionWords.begin(), kFunctionWords.end(), word);
}

}  // namespace

LexicalQuery::LexicalQuery(std::string_view question, Side side) : slots_(4 * kMostTerms, 0) {
  visit_terms(question, side, [&](const Term& term) {
    if (!is_function_word(term.word)) add(term.form);
  });
  if (!terms_.empty()) return;
  visit_terms(question, side, [&](const Term& term) { add(term.form); });
}

void LexicalQuery::add(std::string_view form) {
  if (terms_.size() == kMostTerms || find(form)) return;
  terms_.emplace_back(form);
  std::size_t slot = hash_of(form) % slots_.size();
  while (slots_[slot] != 0) slot = (slot + 1) % slots_.size();
  slots_[slot] = static_cast<std::uint32_t>(terms_.size());
}

std::optional<TermId> LexicalQuery::find(std::string_view form) const {
  std::size_t slot = hash_of(form) % slots_.size();
  for (; slots_[slot] != 0; slot = (slot + 1) % slots_.size())
    if (terms_[slots_[slot] - 1] == form) return static_cast<TermId>(slots_[slot] - 1);
  return std::nullopt;
}

std::vector<std::pair<std::size_t, std::size_t>> LexicalQuery::find_in(
    std::string_view text) const {
  std::vector<std::pair<std::size_t, std::size_t>> spans;
  visit_terms(text, Side::kText, [&](const Term& term) {
    if (!find(term.form)) return;
    if (!spans.empty() && term.begin < spans.back().second) {
      spans.back().second = std::max(spans.back().second, term.end);
    } else {
      spans.emplace_back(term.begin, term.end);
    }
  });
  return spans;
}

std::string spaced_terms(std::string_view text) {
  std::string spaced;
  visit_terms(text, Side::kText, [&](const Term& term) {
    if (!spaced.empty()) spaced += ' ';
    spaced += term.form;
  });
  return spaced;
}

}  // namespace gossamer
