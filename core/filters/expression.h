#pragma once

#include <string>
#include <string_view>

#include "filters/comparisons.h"

namespace gossamer {

// Compiles an expression, which is a text as the store keeps it: `type == "pdf" and year >= 2020`.
// kInvalidArgument points at what cannot be read. Texts with escapes are put into `texts`, of
// which values are views then.
void parse_expression(std::string_view text, Conditions& conditions, std::string& texts);

}  // namespace gossamer
