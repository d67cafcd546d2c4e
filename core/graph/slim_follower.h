#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bitmap.h"
#include "base/types.h"
#include "distance/space.h"
#include "graph/graph.h"
#include "graph/in_links.h"
#include "graph/insert.h"
#include "graph/layers.h"
#include "graph/slim.h"
#include "graph/slim_parameters.h"
#include "graph/slim_rule.h"

namespace gossamer {

// A pruned copy of a graph that follows its changes. After every update it equals what prune_slim()
// would give, bit for bit, for work that depends on the changes and not on the size of the graph
// (but for one sweep over a byte a node). Beside the pruned graph it keeps what each node selected
// and who selected it.
class SlimFollower {
 public:
  SlimFollower(const Graph& base, const Rows& rows, const SlimParameters& parameters,
               unsigned max_degree, unsigned threads,
               SlimVariant variant = SlimVariant::kReverseLinks);

  const Graph& graph() const { return slim_; }

  // Takes in what insert_node() and unlink_nodes() changed in `base` since the last update, and
  // gives the nodes whose pruned lists or level changed, sorted.
  std::vector<NodeId> update(const Graph& base, const Rows& rows, const ChangedLists& changed);

  std::size_t memory_bytes() const;

 private:
  using List = ChangedLists::List;

  // What one layer is judged by.
  struct Layer {
    SlimLayer rules;
    Degrees degrees;
    HubCut hubs;
    Bitmap weak;  // by in-degree only: nodes that too few select
  };

  // One update in progress.
  struct Update {
    const Graph& base;
    const Rows& rows;
    std::vector<List> dirty;    // select again
    std::vector<List> touched;  // link again
    std::vector<NodeId> changed;
    std::vector<List> counted;  // by in-degree only: in-links changed
  };

  void start(const Graph& base, const Rows& rows, unsigned threads);
  void grow(Update& update);
  void renew(Update& update, NodeId node);
  void mark_dirty(Update& update, NodeId node);
  void recount_degrees(Update& update);
  void find_flipped_hubs(Update& update);
  void select_again(Update& update, List list);
  void replace_selected(Update& update, List list, std::span<const NodeId> selected);
  void replace_unique(const Update& update, List list);
  void find_flipped_weak(Update& update);
  void link_again(Update& update, List list);
  void find_weak(Layer& layer, const LayerLists& reverse);
  bool by_in_degree() const { return variant_ == SlimVariant::kByInDegree; }

  SlimParameters parameters_;
  unsigned max_degree_;
  SlimVariant variant_;
  std::vector<std::uint8_t> levels_;
  std::vector<Layer> layers_;
  Graph selected_;           // each node's own choice
  InLinks in_links_;         // its reverse
  Graph unique_;             // by in-degree only: lists after hierarchical pruning,
  InLinks unique_in_links_;  // and their reverse
  Graph slim_;
  SelectScratch scratch_;
  std::vector<NodeId> list_;
  std::vector<NodeId> reverse_;
};

}  // namespace gossamer
