#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "chunking/outline.h"

namespace gossamer {

// A heading, and where what follows it begins.
struct FoundHeading {
  Heading heading;
  std::size_t follows;
};

// Of Markdown, in a line that begins at a place: "## Title ##".
std::optional<FoundHeading> marked_heading_at(std::string_view text, std::size_t line);
// A title and its underline; it is one where it stands apart.
std::optional<FoundHeading> underlined_heading_at(std::string_view text, std::size_t line);
// Whether a line comes after a blank one, or is the first.
bool stands_apart(std::string_view text, std::size_t begin, std::size_t line);

// A title of reStructuredText. Those that are adorned alike are of one level.
struct RstTitle {
  std::size_t at;
  TextSpan words;
  int adornment;    // never 0
  bool is_valid;    // the rulers fit the words
  std::size_t end;  // of its last line
};

std::optional<RstTitle> rst_title_at(std::string_view text, std::size_t line);

// How a title is adorned: by this sign, below it alone or above it too.
constexpr int rst_adornment(char sign, bool is_over) {
  return static_cast<unsigned char>(sign) + (is_over ? 256 : 0);
}

}  // namespace gossamer
