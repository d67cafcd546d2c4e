#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace gossamer {

// CRC-32C (Castagnoli): the checksum of every part of a file. By the CPU's own instruction where
// it has one, else by tables. `before` is that of the bytes before these, where they come in
// pieces.
std::uint32_t crc32c(ByteView bytes, std::uint32_t before = 0);
// The table version, which the other is tested against.
std::uint32_t crc32c_by_table(ByteView bytes, std::uint32_t before = 0);

}  // namespace gossamer
