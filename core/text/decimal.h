#pragma once

#include <string_view>

namespace gossamer {

// The number that is nearest to what is written: digits with or without a sign, a point and an
// exponent, which the caller has checked. Everywhere the same one, in time that is linear.
double read_decimal(std::string_view written);

}  // namespace gossamer
