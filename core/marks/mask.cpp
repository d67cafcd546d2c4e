#include "marks/mask.h"

#include <algorithm>

#include "chunking/scan.h"

namespace gossamer {
namespace {

std::string_view words_of(Mask::Sign sign) {
  switch (sign) {
    case Mask::kBullet:
      return "•";
    case Mask::kBar:
      return " · ";
    case Mask::kLess:
      return "<";
    case Mask::kGreater:
      return ">";
    case Mask::kQuote:
      return "\"";
    case Mask::kApostrophe:
      return "'";
    case Mask::kSpace:
      return " ";
    case Mask::kByte:
    case Mask::kNothing:
      break;
  }
  return "";
}

}  // namespace

void Mask::drop(std::size_t begin, std::size_t end) {
  std::fill(signs_.begin() + static_cast<std::ptrdiff_t>(begin),
            signs_.begin() + static_cast<std::ptrdiff_t>(end), static_cast<char>(kNothing));
}

void Mask::mark_code(std::size_t begin, std::size_t end) {
  for (; begin < end; ++begin) signs_[begin] = static_cast<char>(signs_[begin] | kCode);
}

Shown Mask::show() const {
  Shown shown(text_);
  auto section = sections_.begin();
  bool is_after_blank = true;
  for (std::size_t at = 0, next; at < text_.size(); at = next) {
    next = std::min(end_of_line(text_, at) + 1, text_.size());
    bool is_blank_line = true, is_changed = false;
    for (std::size_t i = at; i < next; ++i) {
      is_changed |= is_gone(i);
      is_blank_line &= is_gone(i) || is_space(text_[i]);
    }
    const bool is_left_out = is_blank_line && (is_changed || is_after_blank);
    const bool begins_section = section != sections_.end() && *section < next;
    if (begins_section) ++section;
    if (is_left_out) continue;
    is_after_blank = is_blank_line;
    if (begins_section) shown.begin_section(shown.text().size());
    for (std::size_t i = at, end; i < next; i = end) {
      const auto sign = static_cast<Sign>(signs_[i] & ~kCode);
      for (end = i + 1; end < next && sign == kByte && signs_[end] == signs_[i];) ++end;
      if (sign == kNothing) continue;
      shown.add(i, sign == kByte ? text_.substr(i, end - i) : words_of(sign),
                (signs_[i] & kCode) != 0);
    }
  }
  return shown;
}

}  // namespace gossamer
