#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/types.h"
#include "distance/space.h"
#include "graph/build.h"
#include "graph/graph.h"
#include "graph/link.h"

namespace gossamer {

// Which neighbor lists an update touched: what a pruned copy of the graph has to look at again.
// A list stays named even if later changes undo the first.
class ChangedLists {
 public:
  struct List {
    NodeId node;
    unsigned layer;

    friend auto operator<=>(const List&, const List&) = default;
  };

  void add(NodeId node, unsigned layer) { lists_.insert((std::uint64_t{layer} << 32) | node); }
  // Names a node that has another vector or level than before: it was taken out, or put in.
  void add_renewed(NodeId node) { renewed_.insert(node); }
  void clear() {
    lists_.clear();
    renewed_.clear();
  }
  // In order of node, then layer.
  std::vector<List> lists() const;
  // In order of id.
  std::vector<NodeId> renewed() const;

 private:
  std::unordered_set<std::uint64_t> lists_;
  std::unordered_set<NodeId> renewed_;
};

// Links a node that was just added (add_node) or, after unlink_nodes(), reset (reset_node) with
// `level`. Its row must be there. The graph's entry follows when the node is higher than it.
// `changed` may be null.
void insert_node(Graph& graph, const Rows& rows, NodeId node, unsigned level,
                 const BuildOptions& options, InsertScratch& scratch, ChangedLists* changed);

// Takes nodes out of the graph: no list names them any more, theirs are empty, their level is 0,
// and the entry is another node (kNoNode when none is left). Whoever was linked to one of them is
// offered its other neighbors instead, through the selector. Links may be one-way, so this reads
// every list once: unlink many nodes at a time. The rows of the nodes themselves are not read.
void unlink_nodes(Graph& graph, const Rows& rows, std::span<const NodeId> nodes,
                  const BuildOptions& options, ChangedLists* changed);

}  // namespace gossamer
