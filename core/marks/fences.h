#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "chunking/outline.h"

namespace gossamer {

// What a line is to the code of a text.
enum class Side : unsigned char { kText, kFence, kCode };

// Tells fences and what stands between them from all else. The text may begin within code, which
// is then worked out from what stands around its fences; without any from how its lines look.
std::vector<Side> find_sides(std::string_view text, std::span<const TextSpan> lines);

}  // namespace gossamer
