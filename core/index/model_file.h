#pragma once

#include "base/bytes.h"
#include "text/static_model.h"

namespace gossamer {

// Reads the model of a model file (docs/format.md), which is a model pack too. Untrusted:
// kNotGossamer, kUnknownVersion, kTruncated or kDamaged. Nothing of `file` is needed afterwards.
StaticModel read_static_model(ByteView file);

}  // namespace gossamer
