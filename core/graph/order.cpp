#include "graph/order.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"

namespace gossamer {

namespace {

constexpr std::size_t kLeafSize = 16;
constexpr std::size_t kSampleSize = 1024;
constexpr int kIterations = 6;
// So many ranges are split side by side before each is finished by one thread: more than any
// number of threads, and fixed, so that the order does not depend on it.
constexpr std::size_t kBranches = 64;

// Places [begin, end) of the order, and the direction along which the range around them was split.
struct Range {
  std::size_t begin;
  std::size_t end;
  std::vector<float> direction;

  std::size_t size() const { return end - begin; }
};

struct Scratch {
  std::vector<float> row;
  std::vector<float> sample;
  std::vector<std::pair<float, NodeId>> keys;
};

// Where a row lies between two centers depends only on its dot product with their difference, for
// every metric; so that one dot product a row stands for both distances.
class Sorter {
 public:
  Sorter(const Rows& rows, unsigned threads, std::uint64_t seed, Progress* progress)
      : rows_(rows),
        dim_(rows.space->dim()),
        seed_(seed),
        progress_(progress),
        order_(rows.count),
        scratch_(threads) {
    std::iota(order_.begin(), order_.end(), NodeId{0});
  }

  std::vector<NodeId> run() {
    std::vector<Range> ranges{{0, order_.size(), std::vector<float>(dim_, 0.0f)}};
    const auto threads = static_cast<unsigned>(scratch_.size());
    while (ranges.size() < kBranches && ranges[0].size() > 2 * kLeafSize) {
      std::vector<Range> halves(2 * ranges.size());
      parallel_for(ranges.size(), threads, 1, [&](std::size_t i, unsigned worker) {
        auto [low, high] = split(ranges[i], scratch_[worker]);
        halves[2 * i] = std::move(low);
        halves[2 * i + 1] = std::move(high);
      });
      ranges = std::move(halves);
    }
    parallel_for(ranges.size(), threads, 1,
                 [&](std::size_t i, unsigned worker) { finish(ranges[i], scratch_[worker]); });
    return std::move(order_);
  }

 private:
  void finish(const Range& range, Scratch& scratch) {
    if (range.size() <= kLeafSize) {
      if (progress_ != nullptr) progress_->advance(range.size());
      return;
    }
    const auto [low, high] = split(range, scratch);
    finish(low, scratch);
    finish(high, scratch);
  }

  std::pair<Range, Range> split(const Range& range, Scratch& scratch) {
    if (progress_ != nullptr) progress_->throw_if_cancelled();
    std::vector<float> direction = find_direction(range, scratch);
    auto& keys = scratch.keys;
    keys.resize(range.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const NodeId node = order_[range.begin + i];
      keys[i] = {dot(direction.data(), row(node, scratch)), node};
    }
    const auto half = static_cast<std::ptrdiff_t>(keys.size() / 2);
    if (range.size() <= 2 * kLeafSize)
      std::sort(keys.begin(), keys.end());
    else
      std::nth_element(keys.begin(), keys.begin() + half, keys.end());
    for (std::size_t i = 0; i < keys.size(); ++i) order_[range.begin + i] = keys[i].second;
    const std::size_t middle = range.begin + keys.size() / 2;
    return {Range{range.begin, middle, direction}, Range{middle, range.end, std::move(direction)}};
  }

  // The difference of the two centers of a sample, pointing the way the range around was split, so
  // that halves side by side in the order are near each other too.
  std::vector<float> find_direction(const Range& range, Scratch& scratch) const {
    Random random(seed_ ^ (range.begin * 0x9e3779b97f4a7c15ULL + range.end));
    const std::size_t count = take_sample(range, random, scratch);
    const float* const sample = scratch.sample.data();
    std::vector<float> direction(dim_);
    const float* const a = sample + random.below(count) * dim_;
    const float* const b = sample + random.below(count) * dim_;
    for (std::size_t j = 0; j < dim_; ++j) direction[j] = b[j] - a[j];
    std::vector<std::pair<float, NodeId>> keys(count);
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      for (std::size_t i = 0; i < count; ++i)
        keys[i] = {dot(direction.data(), sample + i * dim_), static_cast<NodeId>(i)};
      const auto half = static_cast<std::ptrdiff_t>(count / 2);
      std::nth_element(keys.begin(), keys.begin() + half, keys.end());
      std::fill(direction.begin(), direction.end(), 0.0f);
      for (std::size_t i = 0; i < count; ++i) {
        const float* const member = sample + keys[i].second * dim_;
        const float sign = i < count / 2 ? -1.0f : 1.0f;
        for (std::size_t j = 0; j < dim_; ++j) direction[j] += sign * member[j];
      }
    }
    if (dot(direction.data(), range.direction.data()) < 0.0f)
      for (float& value : direction) value = -value;
    return direction;
  }

  // Decodes an even number of the range's rows, so that both centers are means of as many.
  std::size_t take_sample(const Range& range, Random& random, Scratch& scratch) const {
    const std::size_t count = std::min(range.size(), kSampleSize) & ~std::size_t{1};
    scratch.sample.resize(count * dim_);
    for (std::size_t i = 0; i < count; ++i) {
      // One from each stretch of the range: no row twice, without keeping account.
      const std::size_t from = range.size() * i / count;
      const std::size_t to = range.size() * (i + 1) / count;
      const NodeId node = order_[range.begin + from + random.below(to - from)];
      rows_.space->decode_row(rows_.row(node), scratch.sample.data() + i * dim_);
    }
    return count;
  }

  const float* row(NodeId node, Scratch& scratch) const {
    scratch.row.resize(dim_);
    rows_.space->decode_row(rows_.row(node), scratch.row.data());
    return scratch.row.data();
  }

  float dot(const float* a, const float* b) const {
    return -kernels().inner_product_f32(a, b, dim_);
  }

  const Rows& rows_;
  std::size_t dim_;
  std::uint64_t seed_;
  Progress* progress_;
  std::vector<NodeId> order_;
  std::vector<Scratch> scratch_;
};

}  // namespace

std::vector<NodeId> order_by_locality(const Rows& rows, unsigned threads, std::uint64_t seed,
                                      Progress* progress) {
  if (progress != nullptr) progress->start(rows.count);
  return Sorter(rows, resolve_threads(threads), seed, progress).run();
}

std::vector<NodeId> invert_order(std::span<const NodeId> position_to_old) {
  std::vector<NodeId> old_to_position(position_to_old.size(), kNoNode);
  for (std::size_t i = 0; i < position_to_old.size(); ++i) {
    const NodeId old = position_to_old[i];
    expect(old < old_to_position.size() && old_to_position[old] == kNoNode,
           Reason::kInvalidArgument, "an order must name each of its nodes once");
    old_to_position[old] = static_cast<NodeId>(i);
  }
  return old_to_position;
}

Graph renumber(const Graph& graph, std::span<const NodeId> position_to_old) {
  expect(position_to_old.size() == graph.node_count(), Reason::kInvalidArgument,
         "an order must name each node of the graph");
  invert_order(position_to_old);  // for its check only
  return take_nodes(graph, position_to_old);
}

Graph take_nodes(const Graph& graph, std::span<const NodeId> nodes) {
  std::vector<NodeId> renamed(graph.node_count(), kNoNode);
  std::vector<std::uint8_t> levels(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    renamed[nodes[i]] = static_cast<NodeId>(i);
    levels[i] = static_cast<std::uint8_t>(graph.level(nodes[i]));
  }
  std::array<NodeId, kMaxDegree> list;
  Graph taken = Graph::from_lists(levels, [&](NodeId node, unsigned layer) {
    const std::size_t count = graph.neighbors(nodes[node], layer, list.data());
    for (std::size_t i = 0; i < count; ++i) list[i] = renamed[list[i]];
    return std::span<const NodeId>(list.data(), count);
  });
  if (graph.entry() != kNoNode) taken.set_entry(renamed[graph.entry()]);
  taken.set_tradeoff_layer(graph.tradeoff_layer());
  return taken;
}

}  // namespace gossamer
