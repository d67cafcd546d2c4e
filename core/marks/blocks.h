#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "marks/mask.h"

namespace gossamer {

// Hides the marks of what stands on lines of its own; with is_markdown those within lines too, else
// these are no marks.
void hide_blocks(Mask& mask, bool is_markdown);
void hide_rst(Mask& mask);

// Lines of a text, without what ends them.
std::vector<TextSpan> lines_of(std::string_view text);

// Hides the bars around the cells of a row, puts a sign between them, and says where they are.
std::vector<TextSpan> hide_bars(Mask& mask, TextSpan row);

}  // namespace gossamer
