#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lexical/counter.h"
#include "query/question.h"

namespace gossamer {

// Which requirements a text holds, a bit for each.
using Held = std::uint32_t;

// Says of texts which of a question's requirements they hold.
class RequirementTest {
 public:
  // Lets the query look for the terms of what is required; it outlives the test.
  RequirementTest(std::span<const Requirement> requirements, LexicalQuery& query,
                  Side side = Side::kQuestion);

  bool empty() const { return parts_.empty(); }
  // What must be there, and what must not.
  Held required() const { return required_; }
  Held excluded() const { return excluded_; }
  // What only the text itself tells: phrases and titles.
  Held by_text() const { return by_text_; }
  Held titles() const { return titles_; }
  // Whether a passage that holds this is an answer, where some requirements are given up.
  bool is_met(Held held, Held given_up) const {
    return (held & required_ & ~given_up) == (required_ & ~given_up) && (held & excluded_) == 0;
  }

  // What may be held by its terms: exact for words, and all that can be said of phrases, and of
  // titles where a chunk stands near its own.
  Held find_terms(std::span<const TermId> rising) const;
  Held find_title(std::string_view title) const;
  // What is held by a text whose terms are these.
  Held find(std::span<const TermId> rising, std::string_view title, std::string_view body) const;

 private:
  struct Part {
    Requirement::Kind kind;
    std::vector<TermId> terms;
    std::string folded;  // as fold_words() gives it
  };

  std::vector<Part> parts_;
  Held required_ = 0, excluded_ = 0, by_text_ = 0, titles_ = 0;
};

}  // namespace gossamer
