#include "marks/emphasis.h"

#include <algorithm>
#include <array>

#include "chunking/scan.h"
#include "text/unicode.h"

namespace gossamer {
namespace {

// What stands on one side of some marks.
struct Beside {
  bool is_space;
  bool is_sign;
  bool is_word;  // of a script that parts words by space

  explicit Beside(char32_t point)
      : is_space(is_space_character(point)),
        is_sign(is_punctuation(point)),
        is_word(gossamer::is_word(point) && !is_cjk(point) && !is_unspaced(point)) {}
};

Beside before(const Mask& mask, TextSpan paragraph, std::size_t at) {
  if (at == paragraph.start || mask.is_gone(at - 1)) return Beside(U' ');
  std::size_t start = begin_of_character(mask.text(), at - 1);
  return Beside(next_point(mask.text(), start));
}

Beside after(const Mask& mask, TextSpan paragraph, std::size_t at) {
  if (at >= paragraph.end || mask.is_gone(at)) return Beside(U' ');
  return Beside(next_point(mask.text(), at));
}

}  // namespace

std::size_t Emphasis::take(TextSpan paragraph, std::size_t at) {
  const std::string_view text = mask_.text();
  const char mark = text[at];
  std::size_t end = at;
  while (end < paragraph.end && text[end] == mark) ++end;
  const Beside left = before(mask_, paragraph, at), right = after(mask_, paragraph, end);
  const bool leads = !right.is_space && (!right.is_sign || left.is_space || left.is_sign);
  const bool follows = !left.is_space && (!left.is_sign || right.is_space || right.is_sign);
  const bool is_within = left.is_word && right.is_word;
  const bool can_open = leads && !is_within && (mark != '_' || !follows || left.is_sign);
  const bool can_close = follows && (mark != '_' || !leads || right.is_sign);
  if (mark != '~' || end - at == 2) runs_.push_back({at, end - at, mark, can_open, can_close});
  return end;
}

bool Emphasis::fits(const Run& opener, const Run& closer) {
  if (opener.mark != closer.mark) return false;
  // CommonMark's rule of three: "**a*" is no pair by itself.
  const bool is_double = opener.can_close || closer.can_open;
  return !is_double || (opener.size + closer.size) % 3 != 0 ||
         (opener.size % 3 == 0 && closer.size % 3 == 0);
}

void Emphasis::hide_pair(Run& opener, Run& closer) {
  const std::size_t size = opener.size >= 2 && closer.size >= 2 ? 2 : 1;
  mask_.drop(opener.at + opener.size - size, opener.at + opener.size);
  mask_.drop(closer.at, closer.at + size);
  opener.size -= size;
  closer.size -= size;
  closer.at += size;
}

void Emphasis::hide_pairs() {
  // How much of what is open was looked through in vain, by what closers are: none looks there
  // again, so that the work is linear.
  std::array<std::size_t, 18> bottoms{};
  open_.clear();
  for (Run& closer : runs_) {
    while (closer.can_close && closer.size > 0) {
      const std::size_t mark = closer.mark == '*' ? 0 : closer.mark == '_' ? 1 : 2;
      std::size_t& bottom = bottoms[6 * mark + 2 * (closer.size % 3) + (closer.can_open ? 1 : 0)];
      bottom = std::min(bottom, open_.size());
      std::size_t found = open_.size();
      while (found > bottom && !fits(open_[found - 1], closer)) --found;
      if (found == bottom) {
        bottom = open_.size();
        break;
      }
      open_.resize(found);
      hide_pair(open_.back(), closer);
      if (open_.back().size == 0) open_.pop_back();
    }
    if (closer.can_open && closer.size > 0) open_.push_back(closer);
  }
  runs_.clear();
}

}  // namespace gossamer
