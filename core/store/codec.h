#pragma once

#include <functional>
#include <span>

#include "base/bytes.h"

namespace gossamer {

// What the host packs and unpacks with: zstd, which would make the core larger than all the rest.
struct Codec {
  // May give nothing where the host cannot pack: bytes are written as they are then.
  std::function<Bytes(ByteView)> pack;
  // Fills the whole span, or says that the bytes are something else.
  std::function<bool(ByteView, std::span<std::uint8_t>)> unpack;
};

}  // namespace gossamer
