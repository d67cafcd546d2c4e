#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "chunking/outline.h"

namespace gossamer {

// A part of a text, and where its tokens begin; all offsets are those of the whole text.
struct Stretch {
  std::string_view text;  // the whole
  std::size_t begin;
  std::size_t end;
  std::vector<std::size_t> tokens;  // never falling

  // How many tokens of the stretch begin before an offset.
  std::size_t count_before(std::size_t offset) const;
};

// The cuts strictly inside a stretch, enough of them for chunks of `size` tokens. Finer places are
// added only where coarser ones leave long gaps, and of places that crowd the best stay, so a text
// has a small number of them for each chunk.
Cuts places_to_cut(const Stretch& stretch, const Outline& outline, std::size_t size,
                   std::size_t max_bytes);

}  // namespace gossamer
