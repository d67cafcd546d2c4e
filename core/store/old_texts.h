#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "store/blocks.h"

namespace gossamer {

// Texts as indexes and single files of version 1 have them, in a file of their own: one stream, cut
// into blocks of equal length. Bytes may be a stranger's (kNotGossamer, kUnknownVersion,
// kTruncated, kDamaged), and outlive what is given.
BlockView read_old_texts(ByteView file, const TextCodec& codec);
// The same without the blocks, none of which can be read then, of a file of so many bytes: `head`
// is what stands before them, `tail` what stands behind.
BlockView read_old_texts(ByteView head, ByteView tail, std::uint64_t file_size,
                         const TextCodec& codec);

// How long the tail of a file is, by its last bytes.
inline constexpr std::size_t kOldTextsHeader = 24, kOldTextsTrailer = 16;
std::uint64_t old_tail_size(ByteView trailer);

}  // namespace gossamer
