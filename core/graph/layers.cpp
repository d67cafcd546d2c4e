#include "graph/layers.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "graph/select.h"

namespace gossamer {
namespace {

constexpr std::size_t kBlock = 256;

}  // namespace

std::size_t LayerLists::index_of(NodeId member) const {
  if (member < members.size() && members[member] == member) return member;  // the base layer
  return static_cast<std::size_t>(std::lower_bound(members.begin(), members.end(), member) -
                                  members.begin());
}

LayerLists make_lists(std::vector<NodeId> members, unsigned threads, const ListMaker& maker) {
  const std::size_t count = members.size();
  std::vector<std::vector<NodeId>> blocks((count + kBlock - 1) / kBlock);
  std::vector<std::size_t> starts(count + 1, 0);
  parallel_for(blocks.size(), threads, 1, [&](std::size_t block, unsigned worker) {
    std::vector<NodeId>& targets = blocks[block];
    const std::size_t end = std::min(count, (block + 1) * kBlock);
    for (std::size_t i = block * kBlock; i < end; ++i) {
      const std::size_t before = targets.size();
      maker(i, members[i], worker, targets);
      starts[i + 1] = targets.size() - before;
    }
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<NodeId> targets;
  targets.reserve(starts.back());
  for (std::vector<NodeId>& block : blocks) {
    targets.insert(targets.end(), block.begin(), block.end());
    block = {};
  }
  return {std::move(members), std::move(starts), std::move(targets)};
}

LayerLists reverse_lists(const LayerLists& forward) {
  const std::size_t count = forward.members.size();
  LayerLists reverse{forward.members, std::vector<std::size_t>(count + 1, 0),
                     std::vector<NodeId>(forward.targets.size())};
  for (const NodeId target : forward.targets) ++reverse.starts[forward.index_of(target) + 1];
  std::partial_sum(reverse.starts.begin(), reverse.starts.end(), reverse.starts.begin());
  std::vector<std::size_t> ends(reverse.starts.begin(), reverse.starts.end() - 1);
  for (std::size_t i = 0; i < count; ++i) {
    for (const NodeId target : forward.list(i)) {
      reverse.targets[ends[forward.index_of(target)]++] = forward.members[i];
    }
  }
  return reverse;
}

void append_selected(const Rows& rows, NodeId node, std::span<const NodeId> nodes,
                     std::size_t limit, SelectScratch& scratch, std::vector<NodeId>& out) {
  measure_candidates(rows, node, nodes, scratch.candidates);
  select_neighbors(rows, scratch.candidates, limit, scratch.kept);
  for (const Candidate& neighbor : scratch.kept) out.push_back(neighbor.node);
}

void append_mirrored(const Rows& rows, NodeId node, std::span<const NodeId> forward,
                     std::span<const NodeId> reverse, std::size_t limit, SelectScratch& scratch,
                     std::vector<NodeId>& out) {
  std::vector<NodeId>& both = scratch.nodes;
  both.assign(forward.begin(), forward.end());
  both.insert(both.end(), reverse.begin(), reverse.end());
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  if (both.size() > limit) return append_selected(rows, node, both, limit, scratch, out);
  out.insert(out.end(), both.begin(), both.end());
}

LayerLists mirror_lists(const Rows& rows, const LayerLists& forward, std::size_t limit,
                        unsigned threads) {
  const LayerLists reverse = reverse_lists(forward);
  std::vector<SelectScratch> scratch(threads);
  return make_lists(forward.members, threads,
                    [&](std::size_t index, NodeId node, unsigned worker, std::vector<NodeId>& out) {
                      append_mirrored(rows, node, forward.list(index), reverse.list(index), limit,
                                      scratch[worker], out);
                    });
}

std::vector<std::vector<NodeId>> layer_members(const Graph& graph) {
  std::vector<std::vector<NodeId>> layers(graph.max_level() + 1);
  layers[0].resize(graph.node_count());
  std::iota(layers[0].begin(), layers[0].end(), NodeId{0});
  for (const NodeId node : graph.upper_nodes()) {
    for (unsigned layer = 1; layer <= graph.level(node); ++layer) layers[layer].push_back(node);
  }
  return layers;
}

std::vector<std::uint8_t> level_bytes(const Graph& graph) {
  std::vector<std::uint8_t> levels(graph.node_count(), 0);
  for (const NodeId node : graph.upper_nodes()) {
    levels[node] = static_cast<std::uint8_t>(graph.level(node));
  }
  return levels;
}

Graph assemble_graph(const Graph& shape, std::span<const LayerLists> layers) {
  Graph graph = Graph::from_lists(level_bytes(shape), [&](NodeId node, unsigned layer) {
    return layers[layer].list(layers[layer].index_of(node));
  });
  graph.set_entry(shape.entry());
  graph.set_tradeoff_layer(shape.tradeoff_layer());
  return graph;
}

}  // namespace gossamer
