#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer {

// What a passage must hold to be an answer, or must not.
struct Requirement {
  enum Kind { kWord, kPhrase, kTitle };

  Kind kind;
  std::string text;  // as it was written, without its signs
  bool is_excluded;

  // As it is said that it is nowhere.
  std::string shown() const { return (kind == kTitle ? "title:" : "") + text; }
};

// What the file of an answer must be, or must not: a filter, as Filter::read takes it.
struct FileTest {
  std::string filter;
  bool is_excluded;
};

// A question as people write it:
//   "exact phrase"      passages that hold these words side by side
//   +word  +"a phrase"  that hold this
//   -word  -"a phrase"  that do not
//   path:  type:  title:  in files whose path or kind is this, under titles that hold this
// Anything else is text. So are quotes in a whole sentence, which is one that ends with a question
// mark or has more than kProseWords words besides: there they are no more than quotes.
struct Question {
  static constexpr std::size_t kProseWords = 8;
  // Parts beyond this number are text.
  static constexpr std::size_t kMostRequirements = 32;

  std::string text;  // what is searched for: without signs, and without what must not be there
  std::vector<Requirement> requirements;
  std::vector<FileTest> files;
};

Question read_question(std::string_view written);

}  // namespace gossamer
