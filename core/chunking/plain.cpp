// Plain text: paragraphs by blank lines, sections by numbers as RFCs and papers have them.

#include <algorithm>
#include <optional>

#include "chunking/outline.h"
#include "chunking/scan.h"

namespace gossamer {
namespace {

constexpr std::size_t kMostDigits = 3;
constexpr std::size_t kMostLevels = 8;  // below the outermost number
constexpr std::size_t kMostBlanks = 8;
constexpr std::size_t kMostTitleBytes = 100;

struct Numbered {
  Heading heading;
  std::size_t follows;
  bool is_heading;  // a numbered sentence is a list item
};

struct Number {
  std::size_t end;
  std::size_t level;
};

// Where a number with its dot before it ends; `at` if none stands there.
std::size_t end_of_part(std::string_view text, std::size_t at) {
  if (!has_at(text, at, '.')) return at;
  const std::size_t end = skip(text, at + 1, is_digit, kMostDigits);
  return end == at + 1 ? at : end;
}

// "3.2", "A.1.2" or "Appendix B".
std::optional<Number> number_at(std::string_view text, std::size_t line) {
  constexpr std::string_view kAppendix = "Appendix ";
  std::size_t at = line, level = 1;
  if (is_upper(text[at]) && end_of_part(text, at + 1) > at + 1) {
    at = end_of_part(text, at + 1);
    level = 2;
  } else if (text.substr(at).starts_with(kAppendix) && at + kAppendix.size() < text.size() &&
             is_upper(text[at + kAppendix.size()])) {
    at += kAppendix.size() + 1;
  } else {
    at = skip(text, line, is_digit, kMostDigits);
    if (at == line) return std::nullopt;
  }
  for (std::size_t parts = 0; parts < kMostLevels && end_of_part(text, at) > at; ++parts, ++level)
    at = end_of_part(text, at);
  return Number{at + has_at(text, at, '.'), level};
}

// "3.2.  Title" alone on its line at the margin, with a blank line after it.
std::optional<Numbered> numbered_at(std::string_view text, std::size_t line) {
  const std::optional<Number> number = number_at(text, line);
  if (!number) return std::nullopt;
  const std::size_t start = skip(text, number->end, is_blank, kMostBlanks);
  if (start == number->end || start == text.size() || !is_upper(text[start])) return std::nullopt;
  const std::size_t end = end_of_line(text, start);
  if (end == text.size() || end - start > kMostTitleBytes) return std::nullopt;
  const std::size_t blank = skip(text, end + 1, is_blank_or_return);
  if (!has_at(text, blank, '\n')) return std::nullopt;
  const std::string_view title = without_space_at_end(text.substr(start, end - start));
  const bool is_sentence = std::string_view(".,;:").find(title.back()) != std::string_view::npos;
  return Numbered{{line, number->level, {line, start + title.size()}},
                  skip(text, blank, is_space),
                  !is_sentence};
}

}  // namespace

Outline outline_of_plain(std::string_view text, std::size_t begin) {
  Outline outline;
  scan_lines(text, begin, numbered_at, [&](const Numbered& found) {
    if (!found.is_heading) return;
    outline.headings.push_back(found.heading);
    outline.tied.push_back(found.follows);
  });
  add_blank_line_cuts(text, outline.cuts);
  join_section_cuts(outline);
  return outline;
}

}  // namespace gossamer
