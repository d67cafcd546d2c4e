#pragma once

#include <cstddef>
#include <vector>

#include "marks/mask.h"

namespace gossamer {

// Marks of emphasis in a paragraph, of which those that are pairs are hidden, as CommonMark has it;
// but none begins within a word, so that 2*3*4 stays what it is.
class Emphasis {
 public:
  explicit Emphasis(Mask& mask) : mask_(mask) {}

  // Takes the marks that stand at a place of the paragraph; where they end.
  std::size_t take(TextSpan paragraph, std::size_t at);
  // Hides the pairs among all that were taken.
  void hide_pairs();

 private:
  struct Run {
    std::size_t at;
    std::size_t size;
    char mark;
    bool can_open;
    bool can_close;
  };

  static bool fits(const Run& opener, const Run& closer);
  void hide_pair(Run& opener, Run& closer);

  Mask& mask_;
  std::vector<Run> runs_;
  std::vector<Run> open_;
};

}  // namespace gossamer
