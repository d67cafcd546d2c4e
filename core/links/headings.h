#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "chunking/outline.h"

namespace gossamer {

// How a heading is marked, which says what it stands under; 0 where nobody knows.
struct HeadingStyle {
  int level = 0;      // in Markdown
  int adornment = 0;  // in reStructuredText
};

// A heading above a place of a text.
struct HeadingAbove {
  TextSpan words;  // of the document's text
  HeadingStyle style;
};

// How many bytes before and behind the words of a heading tell its style.
inline constexpr std::size_t kBytesBefore = 8, kBytesBehind = 4;

// The style of a heading by the bytes around its words, in either markup.
HeadingStyle style_between(std::string_view before, std::string_view behind);

// Goes on from the headings above a stretch of text, outermost first, to those above a byte of it.
// The stretch begins at an offset of its document, and may begin and end anywhere.
void pass_headings(std::vector<HeadingAbove>& above, std::string_view markup,
                   std::string_view stretch, std::size_t offset, std::size_t byte);

}  // namespace gossamer
