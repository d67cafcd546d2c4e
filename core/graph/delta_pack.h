#pragma once

#include "base/bytes.h"
#include "graph/delta.h"

namespace gossamer {

// A delta as it is sent. Each edge that comes or goes both ways is written once, at its fresh node
// if it has one; gaps are coded as in a packed graph.
Bytes pack_delta(const GraphDelta& delta);

// The delta that pack_delta() was given. Safe on any bytes: fails with kTruncated or kDamaged, and
// takes no more memory than a fixed multiple of their size.
GraphDelta unpack_delta(ByteView bytes);

}  // namespace gossamer
