#pragma once

#include <cstddef>
#include <string_view>

#include "text/unicode.h"

namespace gossamer {

// What the scanners of this folder are made of. A position may be that of the end.

inline bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
inline bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }
inline bool is_blank_or_return(char byte) { return is_blank(byte) || byte == '\r'; }
inline bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
inline bool is_upper(char byte) { return byte >= 'A' && byte <= 'Z'; }
inline bool is_lower(char byte) { return byte >= 'a' && byte <= 'z'; }

// The first position from `at` on, at most `most` further, whose byte is not of the kind.
template <class IsOfKind>
std::size_t skip(std::string_view text, std::size_t at, IsOfKind is_of_kind,
                 std::size_t most = std::string_view::npos) {
  const std::size_t stop = most < text.size() - at ? at + most : text.size();
  while (at < stop && is_of_kind(text[at])) ++at;
  return at;
}

// Goes back out of a character of UTF-8, or from between CR and LF; by four bytes at most, as no
// character is longer.
inline std::size_t begin_of_character(std::string_view text, std::size_t at) {
  for (int i = 0; i < 4 && at > 0; ++i, --at)
    if (!is_inside_character(text[at]) && !(text[at] == '\n' && text[at - 1] == '\r')) break;
  return at;
}

inline bool has_at(std::string_view text, std::size_t at, char byte) {
  return at < text.size() && text[at] == byte;
}

inline std::size_t end_of_line(std::string_view text, std::size_t at) {
  const std::size_t found = text.find('\n', at);
  return found == std::string_view::npos ? text.size() : found;
}

// Where the next line begins that does not begin before `at`; the size of the text if none does.
inline std::size_t next_line(std::string_view text, std::size_t at) {
  if (at == 0 || (at <= text.size() && text[at - 1] == '\n')) return at;
  const std::size_t end = end_of_line(text, at);
  return end < text.size() ? end + 1 : text.size();
}

// Calls `find` at every line, hands what it found to `take`, and goes on behind that (`follows`).
template <class Find, class Take>
void scan_lines(std::string_view text, std::size_t begin, Find find, Take take) {
  for (std::size_t line = begin; line < text.size();) {
    const auto found = find(text, line);
    if (found) take(*found);
    line = next_line(text, found ? found->follows : line + 1);
  }
}

// Where a number ends that counts an item of a list, such as "3." or "3)"; `at` if none stands
// there.
inline std::size_t end_of_item_number(std::string_view text, std::size_t at) {
  constexpr std::size_t kMostDigits = 9;
  const std::size_t digits = skip(text, at, is_digit, kMostDigits);
  const bool is_number = digits > at && (has_at(text, digits, '.') || has_at(text, digits, ')'));
  return is_number ? digits + 1 : at;
}

inline std::string_view without_space_at_end(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace gossamer
