#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace gossamer {

// Bytes of a text, from `start` to before `end`.
struct TextSpan {
  std::size_t start;
  std::size_t end;

  bool empty() const { return start == end; }
  friend bool operator==(const TextSpan&, const TextSpan&) = default;
};
inline std::string_view words_of(std::string_view text, TextSpan span) {
  return text.substr(span.start, span.end - span.start);
}

// What it costs to begin a chunk at a place, where one chunk more costs 1. So a paragraph is worth
// a tenth of a chunk less fill, and a word is cut off from its sentence only in need.
inline constexpr double kSectionCost = 0.0;
inline constexpr double kParagraphCost = 0.08;
inline constexpr double kItemCost = 0.25;
inline constexpr double kSentenceCost = 0.38;
inline constexpr double kLineCost = 0.5;
inline constexpr double kAfterHeadingCost = 0.5;
inline constexpr double kWordCost = 0.8;
inline constexpr double kTokenCost = 1.5;

// A place where a chunk may begin.
struct Cut {
  std::size_t offset;
  double cost;
};
using Cuts = std::vector<Cut>;  // rising

// An empty span of words only ends the sections of its level and below.
struct Heading {
  std::size_t at;     // where its section begins
  std::size_t level;  // 1 is outermost
  TextSpan words;
};

// What one markup knows of a text.
struct Outline {
  Cuts cuts;
  std::vector<Heading> headings;  // rising
  // Spans that are not cut as long as they fit in a chunk, rising and without overlap.
  std::vector<TextSpan> whole;
  // Where what follows a heading begins, rising: it is not parted from its heading.
  std::vector<std::size_t> tied;
  bool is_prose = true;  // sentences mean more than lines
};

// What a parser found in source code: a definition, or a comment or decorator that may belong to
// the one after it.
struct Capture {
  bool is_definition;
  std::size_t start;
  std::size_t end;
  std::size_t body;  // where its body begins; 0 if the grammar does not say
};

// One for each markup. The text from `begin` on is looked at, which is where a line begins.
Outline outline_of_plain(std::string_view text, std::size_t begin);
Outline outline_of_markdown(std::string_view text, std::size_t begin);
Outline outline_of_rst(std::string_view text, std::size_t begin);
Outline outline_of_rows(std::string_view text, std::size_t begin);
// Captures may come in any order and are not believed: kInvalidArgument for one outside the text.
Outline outline_of_code(std::string_view text, std::size_t begin, std::span<const Capture> captures,
                        bool is_prose);

// Sorts cuts; of several at one place the cheapest stays.
void sort_cuts(Cuts& cuts);
// Appends the beginnings of what stands between blank lines.
void add_blank_line_cuts(std::string_view text, Cuts& cuts);
// Adds cuts where headings are, best at the outermost and rather not between two of them, takes out
// those that part a heading from what follows it, and sorts all.
void join_section_cuts(Outline& outline);
// Appends cuts at lines that begin with the marker of an item: `end_of_marker` gives where the one
// ends that stands at a place, or the place itself.
void add_item_cuts(std::string_view text,
                   std::size_t (*end_of_marker)(std::string_view text, std::size_t at), Cuts& cuts);
bool is_among(std::size_t value, std::span<const std::size_t> rising);

}  // namespace gossamer
