#pragma once

#include "base/bytes.h"
#include "codes/codebook.h"

namespace gossamer {

// Fails unless all sizes fit together and all values are finite.
void check_parts(const CodebookParts& parts, Reason reason);
// Rounds matrices and centroids to what the bytes can hold; doing it again changes nothing.
void round_parts(CodebookParts& parts);

// Little-endian; the last eight bytes are the FNV-1a hash of all before them.
Bytes write_parts(const CodebookParts& rounded);
CodebookParts read_parts(ByteView bytes);
std::uint64_t fnv1a(ByteView bytes);

}  // namespace gossamer
