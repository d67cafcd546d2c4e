#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer {

// What of a question is looked up rather than asked: names (take_delta, E1101, class Hit), and the
// words of a short question just as they stand there. Where a name is defined counts more than
// where it is used.
class ExactWords {
 public:
  explicit ExactWords(std::string_view question);

  // As the question writes them.
  const std::vector<std::string>& names() const { return names_; }
  // How well a passage gives what is looked up, from 0 on; 1 is a deviation of the other evidence.
  double weigh(std::string_view title, std::string_view body) const;

 private:
  std::vector<std::string> names_;
  double share_ = 0;    // of the question's words that are names
  std::string phrase_;  // all of a short question, folded; nothing for others
};

// How a text gives a name: 0 where it does not, 0.4 for a use, 1 for a definition. The case of
// letters matters somewhat.
double find_definition(std::string_view name, std::string_view text);

}  // namespace gossamer
