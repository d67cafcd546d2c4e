#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace gossamer {

// Packages, which bring an edge from one version to another (docs/format.md): what their heads and
// their small sections say, as JSON in which every field is there and of its kind. That a package
// was signed does not make it right: anything but what was written is refused.

// The head of a package of so many bytes, of which the first are at hand: kPackageStart of them, or
// all. `start` says where its sections begin. kNotGossamer, kUnknownVersion, kTruncated or kDamaged
// for anything else.
inline constexpr std::size_t kPackageStart = 12 + (1 << 20);
std::string read_package_head(ByteView start, std::uint64_t file_size);

// The rows of a section, none of no bytes. There is a letter for each value of a row: `b` true or
// false, `t` a text, `n` a number from 0 on, `i` one of 64 bits, which is given as a text since not
// every host can hold it. "N" is a list of numbers without rows. kDamaged for anything else.
std::string read_package_rows(std::string_view section, std::string_view letters);

}  // namespace gossamer
