#include "query/requirements.h"

#include <algorithm>

#include "base/sort.h"
#include "lexical/words.h"

namespace gossamer {
namespace {

bool stands_in(const std::string& folded, std::string_view text) {
  return fold_words(text).find(folded) != std::string::npos;
}

}  // namespace

RequirementTest::RequirementTest(std::span<const Requirement> requirements, LexicalQuery& query,
                                 Side side) {
  static_assert(Question::kMostRequirements <= 8 * sizeof(Held));
  // Words first: they are known by their terms alone, and phrases may leave no room for more.
  for (const Requirement& one : requirements)
    if (one.kind == Requirement::kWord)
      visit_terms(one.text, side, [&](const Term& term) { query.watch(term.form); });
  for (const Requirement& one : requirements) {
    const Held bit = Held{1} << parts_.size();
    (one.is_excluded ? excluded_ : required_) |= bit;
    if (one.kind != Requirement::kWord) by_text_ |= bit;
    if (one.kind == Requirement::kTitle) titles_ |= bit;
    Part part{one.kind, {}, fold_phrase(one.text)};
    visit_terms(one.text, side, [&](const Term& term) {
      if (term.kind != Term::kPart) part.terms.push_back(query.watch(term.form));
    });
    std::erase(part.terms, LexicalQuery::kNoTerm);
    sort_values(part.terms.begin(), part.terms.end());
    part.terms.erase(std::unique(part.terms.begin(), part.terms.end()), part.terms.end());
    parts_.push_back(std::move(part));
  }
}

Held RequirementTest::find_terms(std::span<const TermId> rising) const {
  Held held = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const bool holds_all = std::all_of(
        parts_[i].terms.begin(), parts_[i].terms.end(),
        [&](TermId term) { return std::binary_search(rising.begin(), rising.end(), term); });
    held |= Held{holds_all} << i;
  }
  return held;
}

Held RequirementTest::find_title(std::string_view title) const {
  Held held = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].kind == Requirement::kTitle)
      held |= Held{stands_in(parts_[i].folded, title)} << i;
  return held;
}

Held RequirementTest::find(std::span<const TermId> rising, std::string_view title,
                           std::string_view body) const {
  Held held = (find_terms(rising) & ~titles_) | find_title(title);
  std::string folded;  // once, and only where a phrase may be there
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kind != Requirement::kPhrase || (held >> i & 1) == 0) continue;
    // A sign that no word holds keeps title and body apart.
    if (folded.empty()) folded = fold_words(title) + '\n' + fold_words(body);
    if (folded.find(parts_[i].folded) == std::string::npos) held &= ~(Held{1} << i);
  }
  return held;
}

}  // namespace gossamer
