#pragma once

#include <memory>

#include "base/bytes.h"
#include "codes/codebook.h"
#include "search/calibration.h"

namespace gossamer {

// What ships with an embedding model, so that an index of its vectors needs no training: one file
// of the index format that holds nothing else.
struct ModelPack {
  std::shared_ptr<const Codebook> codebook;
  Calibration calibration;  // empty if there is none

  Bytes to_bytes() const;
  // Untrusted: kNotGossamer, kUnknownVersion, kTruncated or kDamaged. What else the file may hold
  // is not looked at: an index that has its own codebook will do.
  static ModelPack from_bytes(ByteView bytes);
};

}  // namespace gossamer
