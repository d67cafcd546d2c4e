#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.h"
#include "distance/space.h"
#include "graph/graph.h"

namespace gossamer {

// The neighbor lists of one layer end to end: what a pruning works on before it becomes a Graph.
struct LayerLists {
  std::vector<NodeId> members;      // sorted
  std::vector<std::size_t> starts;  // one more than members
  std::vector<NodeId> targets;

  std::size_t index_of(NodeId member) const;
  std::span<const NodeId> list(std::size_t index) const {
    return std::span(targets).subspan(starts[index], starts[index + 1] - starts[index]);
  }
};

// Appends the list of `node`, the member at `index`, to `out`; called from several workers.
using ListMaker =
    std::function<void(std::size_t index, NodeId node, unsigned worker, std::vector<NodeId>& out)>;

LayerLists make_lists(std::vector<NodeId> members, unsigned threads, const ListMaker& maker);

// Every link turned round: who links to a member, sorted.
LayerLists reverse_lists(const LayerLists& forward);

struct SelectScratch {
  std::vector<NodeId> nodes;
  std::vector<Candidate> candidates;
  std::vector<Candidate> kept;
};

// Appends what `node` keeps of `nodes` under the selector, nearest first.
void append_selected(const Rows& rows, NodeId node, std::span<const NodeId> nodes,
                     std::size_t limit, SelectScratch& scratch, std::vector<NodeId>& out);

// Appends the union of a node's own links and the links to it. Only when that is more than `limit`
// does the selector choose again.
void append_mirrored(const Rows& rows, NodeId node, std::span<const NodeId> forward,
                     std::span<const NodeId> reverse, std::size_t limit, SelectScratch& scratch,
                     std::vector<NodeId>& out);

// append_mirrored() for all members.
LayerLists mirror_lists(const Rows& rows, const LayerLists& forward, std::size_t limit,
                        unsigned threads);

// The nodes of each layer, from the base up; one empty layer for an empty graph.
std::vector<std::vector<NodeId>> layer_members(const Graph& graph);

// Levels of all nodes, a byte each.
std::vector<std::uint8_t> level_bytes(const Graph& graph);

// A graph with the nodes, levels and entry of `shape` and these lists, one for each of its layers.
Graph assemble_graph(const Graph& shape, std::span<const LayerLists> layers);

}  // namespace gossamer
