#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace gossamer {

// Something to look for: what is compared, and where in the text it was found.
struct Term {
  enum Kind {
    kWord,
    kPart,        // of the word that was visited last
    kCharacters,  // of a script that puts no spaces between words
  };
  std::string_view form;  // folded and without endings; valid during the visit only
  std::string_view word;  // folded, endings still on
  std::size_t begin;      // bytes of the text
  std::size_t end;
  Kind kind;
};

// A text gives every term by which someone may ask for it, a question only what it says: the
// characters of scripts without spaces are terms of their own in a text. An old question is one to
// terms that were made before forms of one letter were folded.
enum class Side { kText, kQuestion, kOldQuestion };

// Longer words (encoded data, most often) are no words.
inline constexpr std::size_t kLongestWord = 128;

// Calls `visit` with every term of the text, from left to right. Words are folded (lower case, no
// accents, and the usual letters for ligatures, full width and the like) and stemmed. A word of
// several parts (snake_case, camelCase, sha256) gives all of it without its underscores and then
// each of its parts. In scripts that put no spaces between words, any two neighboring characters
// are a term. A soft hyphen or a joiner does not part a word. Bytes that are not UTF-8 stand
// between words.
void visit_terms(std::string_view text, Side side, FunctionRef<void(const Term&)> visit);

// The words of a text, folded, with one space before, between and behind them.
std::string fold_words(std::string_view text);
// The same of a phrase that is looked for in such texts: without the space where it begins or ends
// with a character of a script that has none.
std::string fold_phrase(std::string_view phrase);

}  // namespace gossamer
