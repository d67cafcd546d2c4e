#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "distance/distance.h"

namespace gossamer {

// How a vector becomes a few bytes: a linear map, then one centroid of 256 for each subspace.
// Trained once for a model (or a corpus), immutable, shared by any number of indexes.
class Codebook {
 public:
  static Codebook from_bytes(ByteView bytes);  // untrusted: kTruncated / kDamaged / kUnknownVersion
  Bytes to_bytes() const;
  // Identifies the codebook: an index records it and refuses another.
  std::uint64_t fingerprint() const;

  std::size_t dim() const;
  std::size_t code_bytes() const;
  Metric metric() const;

  // `codes` has room for count * code_bytes() bytes.
  void encode(const float* vectors, std::size_t count, std::uint8_t* codes, unsigned threads) const;
  // The vector that a code stands for.
  void decode(const std::uint8_t* code, float* vector) const;
};

}  // namespace gossamer
