#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "marks/shown.h"

namespace gossamer {

// What of a text is shown, byte by byte: all of it at first.
class Mask {
 public:
  // What stands in the place of a byte.
  enum Sign : char { kByte, kNothing, kBullet, kBar, kLess, kGreater, kQuote, kApostrophe, kSpace };

  explicit Mask(std::string_view text) : text_(text), signs_(text.size(), kByte) {}

  std::string_view text() const { return text_; }
  bool is_gone(std::size_t at) const { return (signs_[at] & ~kCode) == kNothing; }
  void drop(std::size_t begin, std::size_t end);
  void replace(std::size_t at, Sign sign) { signs_[at] = sign; }
  void mark_code(std::size_t begin, std::size_t end);
  // What stands from here on belongs to the heading that begins here.
  void begin_section(std::size_t at) { sections_.push_back(at); }

  // What is left, without the lines of which nothing is.
  Shown show() const;

 private:
  static constexpr char kCode = 0x40;

  std::string_view text_;
  std::string signs_;
  std::vector<std::size_t> sections_;  // rising
};

}  // namespace gossamer
