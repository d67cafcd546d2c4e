#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "graph/order.h"

namespace gossamer {

namespace {

constexpr std::size_t kLeafSize = 16;
constexpr int kIterations = 8;
// As in order_by_locality(): fixed, so that the order does not depend on the number of threads.
constexpr std::size_t kBranches = 64;
constexpr std::size_t kTableSize = 512;

using Range = std::pair<std::size_t, std::size_t>;
using Gains = std::vector<std::pair<float, std::size_t>>;  // gain of moving, place in the order

struct Scratch {
  // How many of the range's nodes in either half link to each node; 0 between ranges.
  std::array<std::vector<std::uint32_t>, 2> counts;
  std::array<Gains, 2> gains;
};

// Recursive graph bisection (Dhulipala et al., 2016): the gaps of a list with a members in one half
// and b in the other cost about a log(n / (a + 1)) + b log(n / (b + 1)) bits, so that lists want
// to have all of their members in one half.
class Bisection {
 public:
  Bisection(const Graph& graph, std::vector<NodeId> order, unsigned threads, Progress* progress)
      : progress_(progress), order_(std::move(order)), scratch_(threads) {
    std::array<NodeId, kMaxDegree> list;
    starts_.reserve(order_.size() + 1);
    for (NodeId node = 0; node < order_.size(); ++node) {
      const std::size_t count = graph.neighbors(node, 0, list.data());
      ids_.insert(ids_.end(), list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
      starts_.push_back(ids_.size());
    }
    for (std::size_t a = 0; a < kTableSize; ++a)
      table_[a] = static_cast<float>(a) * std::log2(static_cast<float>(a + 1));
  }

  std::vector<NodeId> run() {
    const auto threads = static_cast<unsigned>(scratch_.size());
    std::vector<Range> ranges{{0, order_.size()}};
    while (ranges.size() < kBranches) {
      parallel_for(ranges.size(), threads, 1,
                   [&](std::size_t i, unsigned worker) { split(ranges[i], scratch_[worker]); });
      std::vector<Range> halves;
      for (const Range& range : ranges) {
        halves.emplace_back(range.first, middle_of(range));
        halves.emplace_back(middle_of(range), range.second);
      }
      ranges = std::move(halves);
    }
    parallel_for(ranges.size(), threads, 1, [&](std::size_t i, unsigned worker) {
      finish(ranges[i], scratch_[worker]);
      if (progress_ != nullptr) progress_->advance(ranges[i].second - ranges[i].first);
    });
    return std::move(order_);
  }

 private:
  static std::size_t middle_of(const Range& range) {
    return range.first + (range.second - range.first) / 2;
  }

  void finish(const Range& range, Scratch& scratch) {
    if (range.second - range.first <= kLeafSize) return;
    split(range, scratch);
    finish({range.first, middle_of(range)}, scratch);
    finish({middle_of(range), range.second}, scratch);
  }

  void split(const Range& range, Scratch& scratch) {
    if (progress_ != nullptr) progress_->throw_if_cancelled();
    if (range.second - range.first <= kLeafSize) return;
    for (auto& counts : scratch.counts) counts.resize(order_.size(), 0);
    const std::size_t middle = middle_of(range);
    for (std::size_t place = range.first; place < range.second; ++place)
      for_each_list(order_[place], [&](NodeId list) { ++scratch.counts[place >= middle][list]; });
    for (int iteration = 0; iteration < kIterations; ++iteration)
      if (!swap_once(range, scratch)) break;
    for (std::size_t place = range.first; place < range.second; ++place)
      for_each_list(order_[place], [&](NodeId list) {
        scratch.counts[0][list] = 0;
        scratch.counts[1][list] = 0;
      });
  }

  // Swaps the nodes that gain most with each other, for as long as a pair gains; says if any did.
  bool swap_once(const Range& range, Scratch& scratch) {
    const std::size_t middle = middle_of(range);
    for (Gains& gains : scratch.gains) gains.clear();
    for (std::size_t place = range.first; place < range.second; ++place) {
      const std::size_t half = place >= middle;
      scratch.gains[half].emplace_back(gain_of(order_[place], half, scratch), place);
    }
    for (Gains& gains : scratch.gains) std::sort(gains.begin(), gains.end(), std::greater<>());
    std::size_t swapped = 0;
    const std::size_t most = std::min(scratch.gains[0].size(), scratch.gains[1].size());
    for (; swapped < most; ++swapped) {
      const auto& [low_gain, low] = scratch.gains[0][swapped];
      const auto& [high_gain, high] = scratch.gains[1][swapped];
      if (low_gain + high_gain <= 0) break;
      move(order_[low], 0, scratch);
      move(order_[high], 1, scratch);
      std::swap(order_[low], order_[high]);
    }
    return swapped > 0;
  }

  void move(NodeId node, std::size_t from, Scratch& scratch) const {
    for_each_list(node, [&](NodeId list) {
      --scratch.counts[from][list];
      ++scratch.counts[1 - from][list];
    });
  }

  float gain_of(NodeId node, std::size_t half, const Scratch& scratch) const {
    float gain = 0;
    for_each_list(node, [&](NodeId list) {
      const std::uint32_t here = scratch.counts[half][list];
      const std::uint32_t there = scratch.counts[1 - half][list];
      gain += weight(here - 1) + weight(there + 1) - weight(here) - weight(there);
    });
    return gain;
  }

  float weight(std::uint32_t count) const {
    if (count < kTableSize) return table_[count];
    return static_cast<float>(count) * std::log2(static_cast<float>(count) + 1.0f);
  }

  // The lists a node is taken to be in: those of its neighbors, since nearly all edges run both
  // ways, and its own, which starts from it.
  template <class Visit>
  void for_each_list(NodeId node, const Visit& visit) const {
    for (std::size_t i = starts_[node]; i < starts_[node + std::size_t{1}]; ++i) visit(ids_[i]);
    visit(node);
  }

  Progress* progress_;
  std::vector<NodeId> order_;
  std::vector<Scratch> scratch_;
  std::vector<std::size_t> starts_{0};
  std::vector<NodeId> ids_;
  std::array<float, kTableSize> table_;
};

}  // namespace

std::vector<NodeId> refine_order(const Graph& graph, std::vector<NodeId> order, unsigned threads,
                                 Progress* progress) {
  expect(order.size() == graph.node_count(), Reason::kInvalidArgument,
         "an order must name each node of the graph");
  invert_order(order);  // for its check only: the places it names are used unchecked
  if (progress != nullptr) progress->start(order.size());
  return Bisection(graph, std::move(order), resolve_threads(threads), progress).run();
}

}  // namespace gossamer
