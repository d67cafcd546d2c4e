#include "graph/insert.h"

#include <algorithm>
#include <array>

#include "base/bitmap.h"
#include "graph/select.h"

namespace gossamer {
namespace {

// A Graph as the linker's store: one writer, so no locks, and every write is noted.
class GraphStore {
 public:
  GraphStore(Graph& graph, ChangedLists* changed) : graph_(graph), changed_(changed) {}

  std::size_t neighbors(NodeId node, unsigned layer, NodeId* out) const {
    return graph_.neighbors(node, layer, out);
  }
  void prefetch(NodeId node) const { graph_.prefetch(node); }
  void set_neighbors(NodeId node, unsigned layer, std::span<const NodeId> neighbors) {
    graph_.set_neighbors(node, layer, neighbors);
    if (changed_ != nullptr) changed_->add(node, layer);
  }
  void lock(NodeId) {}
  void unlock(NodeId) {}

 private:
  Graph& graph_;
  ChangedLists* changed_;
};

LinkOptions link_options(const BuildOptions& options) {
  return {2 * std::size_t{options.max_degree}, options.max_degree, options.effort,
          options.simple_shrink, options.pick_degree > 0 ? options.pick_degree : kMaxDegree};
}

// Mends the lists that a batch of removals tears.
class Mender {
 public:
  Mender(Graph& graph, const Rows& rows, std::span<const NodeId> nodes, const LinkOptions& options)
      : graph_(graph), rows_(rows), options_(options), removed_(graph.node_count()) {
    for (const NodeId node : nodes) removed_.insert(node);
  }

  bool is_removed(NodeId node) const { return removed_.contains(node); }

  // Replaces the removed nodes in one list by what they were linked to; false if it held none.
  bool mend(NodeId node, unsigned layer) {
    std::array<NodeId, kMaxDegree> list;
    const std::size_t count = graph_.neighbors(node, layer, list.data());
    const auto end = list.begin() + count;
    const auto torn = std::partition(list.begin(), end, [&](NodeId n) { return !is_removed(n); });
    if (torn == end) return false;
    const std::span<const NodeId> staying(list.begin(), torn);
    gather(node, layer, staying, {torn, end});
    kept_.clear();
    for (const NodeId neighbor : staying) kept_.push_back({0, neighbor});
    const auto between = [this](NodeId a, NodeId b) { return rows_.between(a, b); };
    select_neighbors(candidates_, options_.limit(layer), between, kept_);
    for (std::size_t i = 0; i < kept_.size(); ++i) list[i] = kept_[i].node;
    graph_.set_neighbors(node, layer, {list.data(), kept_.size()});
    return true;
  }

 private:
  // The other neighbors of the removed ones, nearest first.
  void gather(NodeId node, unsigned layer, std::span<const NodeId> staying,
              std::span<const NodeId> removed) {
    std::array<NodeId, kMaxDegree> list;
    nodes_.clear();
    for (const NodeId gone : removed) {
      const std::size_t count = graph_.neighbors(gone, layer, list.data());
      for (const NodeId other : std::span(list).first(count)) {
        const bool is_known = std::find(staying.begin(), staying.end(), other) != staying.end();
        if (other != node && !is_removed(other) && !is_known) nodes_.push_back(other);
      }
    }
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    measure_candidates(rows_, node, nodes_, candidates_);
  }

  Graph& graph_;
  const Rows& rows_;
  LinkOptions options_;
  Bitmap removed_;
  std::vector<NodeId> nodes_;
  std::vector<Candidate> candidates_;
  std::vector<Candidate> kept_;
};

// The first of the highest nodes that still have neighbors. Where none has, at most the last node
// is left, and it has just lost its last neighbor: `mended`.
NodeId find_entry(const Graph& graph, NodeId mended) {
  std::array<NodeId, kMaxDegree> list;
  NodeId best = kNoNode;
  unsigned best_level = 0;
  for (const NodeId node : graph.upper_nodes()) {
    if (graph.level(node) <= best_level || graph.neighbors(node, 0, list.data()) == 0) continue;
    best = node;
    best_level = graph.level(node);
  }
  for (NodeId node = 0; best == kNoNode && node < graph.node_count(); ++node) {
    if (graph.neighbors(node, 0, list.data()) > 0) best = node;
  }
  return best == kNoNode ? mended : best;
}

// The first of the nodes above `node`, or it if there are none. kNoNode is below all.
NodeId find_highest(const Graph& graph, NodeId node) {
  for (const NodeId upper : graph.upper_nodes()) {
    if (node == kNoNode || graph.level(upper) > graph.level(node)) node = upper;
  }
  return node;
}

void note(ChangedLists* changed, NodeId node, unsigned layer) {
  if (changed != nullptr) changed->add(node, layer);
}

void note_renewed(ChangedLists* changed, NodeId node, unsigned level) {
  if (changed == nullptr) return;
  changed->add_renewed(node);
  for (unsigned layer = 0; layer <= level; ++layer) changed->add(node, layer);
}

}  // namespace

std::vector<ChangedLists::List> ChangedLists::lists() const {
  std::vector<List> sorted;
  sorted.reserve(lists_.size());
  for (const std::uint64_t key : lists_) {
    sorted.push_back({static_cast<NodeId>(key), static_cast<unsigned>(key >> 32)});
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::vector<NodeId> ChangedLists::renewed() const {
  std::vector<NodeId> sorted(renewed_.begin(), renewed_.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

void insert_node(Graph& graph, const Rows& rows, NodeId node, unsigned level,
                 const BuildOptions& options, InsertScratch& scratch, ChangedLists* changed) {
  expect(node < rows.count && node < graph.node_count() && graph.level(node) == level,
         Reason::kInvalidArgument, "a node is added to the graph and the rows before it is linked");
  note_renewed(changed, node, level);
  const NodeId entry = graph.entry();
  if (entry == kNoNode || entry == node) return graph.set_entry(node);
  const unsigned top = graph.level(entry);
  GraphStore store(graph, changed);
  Linker<GraphStore> linker(store, rows, link_options(options), scratch);
  linker.link(node, level, entry, top);
  if (level > top) graph.set_entry(node);
}

void unlink_nodes(Graph& graph, const Rows& rows, std::span<const NodeId> nodes,
                  const BuildOptions& options, ChangedLists* changed) {
  if (nodes.empty()) return;
  Mender mender(graph, rows, nodes, link_options(options));
  NodeId mended = kNoNode;
  for (NodeId node = 0; node < graph.node_count(); ++node) {
    if (mender.is_removed(node) || !mender.mend(node, 0)) continue;
    note(changed, node, 0);
    if (mended == kNoNode) mended = node;
  }
  for (const NodeId node : graph.upper_nodes()) {
    if (mender.is_removed(node)) continue;
    for (unsigned layer = 1; layer <= graph.level(node); ++layer) {
      if (mender.mend(node, layer)) note(changed, node, layer);
    }
  }
  for (const NodeId node : nodes) {
    note_renewed(changed, node, graph.level(node));
    graph.reset_node(node, 0);
  }
  const NodeId entry = graph.entry();
  if (entry == kNoNode || !mender.is_removed(entry)) return;
  const NodeId linked = find_entry(graph, mended);
  const NodeId highest = find_highest(graph, linked);
  if (highest != linked && linked != kNoNode) {
    // The removals cut the highest node off, but no node may be above the entry: it leads on.
    graph.set_neighbors(highest, 0, {&linked, 1});
    note(changed, highest, 0);
  }
  graph.set_entry(highest);
}

}  // namespace gossamer
