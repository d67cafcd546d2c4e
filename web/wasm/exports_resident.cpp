// Rows of vectors that stay outside, in slots that JavaScript fills: see core/resident.ts.

#include <array>

#include "open_index.h"

namespace gossamer::wasm {
namespace {

ResidentRows& rows_of(const OpenIndex* opened) {
  ResidentRows* rows = opened->index->resident();
  expect(rows != nullptr, Reason::kWrongState, "the vectors of this index do not stay outside");
  return *rows;
}

double address_of(const void* memory) {
  return static_cast<double>(reinterpret_cast<std::uintptr_t>(memory));
}

}  // namespace

// How many slots there are and where all this lies: slot of each node, node of each slot, stamps;
// then how many nodes and blocks of rows there are, and how many bits of a slot number its row in a
// block. The second are the addresses of the blocks. All change with resident_resize().
GOSSAMER_EXPORT(resident_layout) void resident_layout(const OpenIndex* opened) {
  ResidentRows& rows = rows_of(opened);
  Given& out = given();
  out.numbers = {static_cast<double>(rows.capacity()),   address_of(rows.slots().data()),
                 address_of(rows.nodes().data()),        address_of(rows.stamps().data()),
                 static_cast<double>(rows.node_count()), static_cast<double>(rows.block_count()),
                 static_cast<double>(rows.block_shift())};
  out.words.clear();
  for (std::size_t i = 0; i < rows.block_count(); ++i) {
    const void* block = rows.bytes_of(i << rows.block_shift());
    out.words.push_back(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block)));
  }
  out.first = out.numbers.data();
  out.second = out.words.data();
}

GOSSAMER_EXPORT(resident_used) std::size_t resident_used(const OpenIndex* opened) {
  return rows_of(opened).used();
}

GOSSAMER_EXPORT(resident_place)
void resident_place(const OpenIndex* opened, std::size_t slot, NodeId node) {
  rows_of(opened).place(slot, node);
}

GOSSAMER_EXPORT(resident_forget) void resident_forget(const OpenIndex* opened, std::size_t slot) {
  rows_of(opened).forget(slot);
}

GOSSAMER_EXPORT(resident_resize)
void resident_resize(const OpenIndex* opened, std::size_t capacity) {
  rows_of(opened).resize(capacity);
}

// For each node the links that lead to it on the base layer, and its highest layer; their number is
// 0 for an index without a graph.
GOSSAMER_EXPORT(resident_hubs) std::size_t resident_hubs(const OpenIndex* opened) {
  const Index& index = *opened->index;
  Given& out = given();
  out.words.clear();
  out.bytes.clear();
  if (!index.can_walk()) return 0;
  const Graph& graph = index.graph();
  out.words.resize(index.node_count());
  out.bytes.resize(index.node_count());
  std::array<NodeId, kMaxDegree> list;
  for (std::size_t i = 0; i < index.node_count(); ++i) {
    const auto node = static_cast<NodeId>(i);
    const std::size_t count = graph.neighbors(node, 0, list.data());
    for (std::size_t j = 0; j < count; ++j) ++out.words[list[j]];
  }
  for (const NodeId node : graph.upper_nodes()) {
    out.bytes[node] = static_cast<std::uint8_t>(graph.level(node));
  }
  out.first = out.words.data();
  out.second = out.bytes.data();
  return index.node_count();
}

}  // namespace gossamer::wasm
