#include "graph/build.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "graph/flat.h"
#include "graph/link.h"

namespace gossamer {
namespace {

constexpr unsigned kLevelLimit = 15;
// Workers stay this far apart, because a node cannot link to one that is inserted at the same time.
constexpr std::size_t kNodesPerBlock = 64;
constexpr std::size_t kMinSample = 1024;
constexpr std::size_t kSampleShare = 16;

std::vector<std::uint8_t> draw_levels(std::size_t count, const BuildOptions& options) {
  std::vector<std::uint8_t> levels(count);
  for (std::size_t i = 0; i < count; ++i) {
    levels[i] = static_cast<std::uint8_t>(random_level(options, static_cast<NodeId>(i)));
  }
  return levels;
}

// The first node of the highest level: inserted first, it is the entry from the beginning, and no
// worker ever has to move it.
NodeId highest_node(const std::vector<std::uint8_t>& levels) {
  return static_cast<NodeId>(std::max_element(levels.begin(), levels.end()) - levels.begin());
}

// The entry, then a random sample of all rows, then the rest by id. The sample spans the space, so
// that no later node is built into a corner; after it, near rows with near ids come one after
// another and find what they need in the cache, which halves the time of a build.
std::vector<NodeId> insertion_order(std::size_t count, NodeId entry, std::uint64_t seed) {
  std::vector<NodeId> order(count);
  std::iota(order.begin(), order.end(), NodeId{0});
  std::swap(order[0], order[entry]);
  const std::size_t sample = std::min(count, std::max(kMinSample, count / kSampleShare));
  Random random(seed);
  for (std::size_t i = 1; i < sample; ++i) {
    std::swap(order[i], order[i + static_cast<std::size_t>(random.below(count - i))]);
  }
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(sample), order.end());
  return order;
}

Graph to_graph(const FlatGraph& flat, const std::vector<std::uint8_t>& levels, NodeId entry) {
  std::array<NodeId, kMaxDegree> list;
  Graph graph = Graph::from_lists(levels, [&](NodeId node, unsigned layer) {
    return std::span<const NodeId>(list.data(), flat.neighbors(node, layer, list.data()));
  });
  graph.set_entry(entry);
  return graph;
}

}  // namespace

void check_build_options(const BuildOptions& options) {
  expect(options.max_degree >= 2 && 2 * options.max_degree < kMaxDegree, Reason::kInvalidArgument,
         "max_degree must be between 2 and 127");
  expect(options.effort >= 1 && options.effort <= kMaxEffort, Reason::kInvalidArgument,
         "effort must be at least 1 and at most 2^20");
  expect(options.level_probability >= 0 && options.level_probability < 1, Reason::kInvalidArgument,
         "level_probability must be in [0, 1)");
}

unsigned random_level(const BuildOptions& options, NodeId node) {
  const double probability =
      options.level_probability > 0 ? options.level_probability : 1.0 / options.max_degree;
  Random seeds(options.seed);
  Random random(seeds.next() ^ (std::uint64_t{node} * 0xd1342543de82ef95ULL));
  const double draw = random.unit();
  unsigned level = 0;
  for (double bound = probability; draw <= bound && level < kLevelLimit; bound *= probability) {
    ++level;
  }
  return level;
}

Graph build_graph(const Rows& rows, const BuildOptions& options, Progress* progress) {
  check_build_options(options);
  expect(rows.count < Beam::kMaxNodes, Reason::kTooLarge, "a graph holds at most 2^31 nodes");
  if (progress != nullptr) progress->start(rows.count);
  if (rows.count == 0) return Graph();

  const std::vector<std::uint8_t> levels = draw_levels(rows.count, options);
  const NodeId entry = highest_node(levels);
  const std::vector<NodeId> order = insertion_order(rows.count, entry, options.seed);
  const LinkOptions link_options{2 * std::size_t{options.max_degree}, options.max_degree,
                                 options.effort, false};
  FlatGraph flat(levels, link_options.base_degree, link_options.upper_degree);
  const unsigned threads = resolve_threads(options.threads);
  std::vector<InsertScratch> scratch(threads);
  parallel_for(rows.count - 1, threads, kNodesPerBlock, [&](std::size_t item, unsigned worker) {
    const NodeId node = order[item + 1];
    Linker<FlatGraph> linker(flat, rows, link_options, scratch[worker]);
    linker.link(node, levels[node], entry, levels[entry]);
    if (progress == nullptr) return;
    progress->throw_if_cancelled();
    progress->advance();
  });
  if (progress != nullptr) progress->advance();
  return to_graph(flat, levels, entry);
}

}  // namespace gossamer
