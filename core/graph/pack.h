#pragma once

#include "base/bytes.h"
#include "graph/graph.h"

namespace gossamer {

// A graph as it is stored: about a third of what it takes in memory, but to be read as a whole.
// Each edge that runs both ways is written once, as a gap from the smaller node; the bit lengths
// of gaps are Huffman-coded. Small only if near nodes have near ids (order_by_locality()). Fails
// with kWrongState when the entry is not of the highest level, as every walk expects it to be.
Bytes pack_graph(const Graph& graph);

// The graph that pack_graph() was given. Safe on any bytes: fails with kTruncated or kDamaged, and
// takes no more memory than a fixed multiple of their size.
Graph unpack_graph(ByteView bytes);

}  // namespace gossamer
