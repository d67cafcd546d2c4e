#pragma once

#include "marks/mask.h"

namespace gossamer {

// Hides the marks within a paragraph of Markdown: those of code, links, pictures, tags, footnotes
// and emphasis.
void hide_inline(Mask& mask, TextSpan paragraph);
// The same of reStructuredText: code, roles, links and emphasis.
void hide_rst_inline(Mask& mask, TextSpan paragraph);

}  // namespace gossamer
