#include "lexical/query.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/sort.h"
#include "lexical/bm25.h"
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

// Room for the terms of most questions; it grows for others.
constexpr std::size_t kLeastSlots = 64;

// What the parts of a word count where the word itself is to be found, and two words side by side
// (docs/decisions/0025).
constexpr double kPartWeight = 0.3, kPairWeight = 0.5, kDefinitionWeight = 2;

// What stands before a name where it is defined, stemmed as texts are.
constexpr std::array<std::string_view, 17> kKeywords = {
    "class", "def",      "defin",    "enum",   "fn",     "func",  "function", "interfac", "macro",
    "modul", "namespac", "protocol", "record", "struct", "trait", "type",     "typedef"};

}  // namespace

bool is_function_word(std::string_view word) {
  return std::binary_search(kFunctionWords.begin(), kFunctionWords.end(), word);
}

LexicalQuery::LexicalQuery(std::string_view question, Side side) : slots_(kLeastSlots, 0) {
  TermId word = kNoTerm, before = kNoTerm;  // the word that was visited last, and the one before it
  visit_terms(question, side, [&](const Term& term) {
    if (term.kind != Term::kPart) before = std::exchange(word, kNoTerm), ++words_;
    // A letter of a code (the E of E1101) says nothing by itself.
    if (is_function_word(term.word) || (term.kind == Term::kPart && term.word.size() < 2)) return;
    const bool is_new = !find(term.form);
    const TermId id = add(term.form);
    if (id == kNoTerm) return;
    if (term.kind == Term::kPart) {
      if (is_new) wholes_[id] = word;
      return;
    }
    wholes_[id] = kNoTerm;
    if (term.kind != Term::kWord) return;
    word = id;
    if (before != kNoTerm && pairs_.size() < kMostTerms) pairs_.push_back({before, id});
  });
  sort_values(pairs_.begin(), pairs_.end());
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  if (terms_.empty()) visit_terms(question, side, [&](const Term& term) { add(term.form); });
  asked_ = terms_.size();
}

TermId LexicalQuery::add(std::string_view form, std::size_t most) {
  if (const auto known = find(form)) return *known;
  if (terms_.size() >= most) return kNoTerm;
  terms_.emplace_back(form);
  wholes_.push_back(kNoTerm);
  const auto term = static_cast<TermId>(terms_.size() - 1);
  if (2 * terms_.size() <= slots_.size()) {
    enter(term);
  } else {
    slots_.assign(2 * slots_.size(), 0);
    for (TermId known = 0; known <= term; ++known) enter(known);
  }
  return term;
}

void LexicalQuery::enter(TermId term) {
  std::size_t slot = hash_of(terms_[term]) % slots_.size();
  while (slots_[slot] != 0) slot = (slot + 1) % slots_.size();
  slots_[slot] = term + 1u;
}

TermId LexicalQuery::watch(std::string_view form) { return add(form, kMostTerms + kMostWatched); }

TermId LexicalQuery::find_pair(Pair pair) const {
  const auto found = std::lower_bound(pairs_.begin(), pairs_.end(), pair);
  if (found == pairs_.end() || *found != pair) return kNoTerm;
  return static_cast<TermId>(terms_.size() + static_cast<std::size_t>(found - pairs_.begin()));
}

void LexicalQuery::expect_definition(std::string_view name) {
  const TermId known = find(LexicalQuery(name).terms().at(0)).value_or(kNoTerm);
  for (const std::string_view keyword : kKeywords) {
    const Pair pair{watch(keyword), known};
    if (pair.first != kNoTerm && known != kNoTerm && find_pair(pair) == kNoTerm)
      pairs_.insert(std::lower_bound(pairs_.begin(), pairs_.end(), pair), pair);
  }
}

std::vector<double> LexicalQuery::weigh(std::span<const std::uint64_t> chunks_with,
                                        std::uint64_t chunks) const {
  std::vector<double> weights;
  for (std::size_t term = 0; term < terms_.size(); ++term) {
    const bool is_found_whole = wholes_[term] != kNoTerm && chunks_with[wholes_[term]] > 0;
    weights.push_back(term < asked_ ? rarity(chunks_with[term], chunks) : 0);
    if (is_found_whole) weights[term] *= kPartWeight;
  }
  for (const auto& [first, second] : pairs_)
    weights.push_back(first < asked_ ? kPairWeight * (weights[first] + weights[second]) / 2
                                     : kDefinitionWeight * weights[second]);
  return weights;
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
