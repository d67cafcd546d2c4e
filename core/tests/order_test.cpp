#include "graph/order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace gossamer {
namespace {

constexpr std::size_t kDim = 16;
constexpr std::size_t kClusters = 50;

struct Set {
  Space space;
  std::vector<std::uint8_t> data;
  std::vector<std::size_t> cluster;  // of each row

  Rows rows() const { return {&space, data.data(), cluster.size()}; }
};

// Rows around random centers, in random order.
Set clustered_rows(std::size_t count, Scalar scalar) {
  Random random(21);
  Set set{Space(Metric::kL2, scalar, kDim, scalar == Scalar::kI8 ? 0.05f : 1.0f), {}, {}};
  std::vector<float> centers(kClusters * kDim);
  for (float& value : centers) value = static_cast<float>(random.normal());
  set.data.resize(count * set.space.row_bytes());
  std::vector<float> vector(kDim);
  for (std::size_t i = 0; i < count; ++i) {
    set.cluster.push_back(random.below(kClusters));
    for (std::size_t j = 0; j < kDim; ++j)
      vector[j] = centers[set.cluster[i] * kDim + j] + 0.05f * static_cast<float>(random.normal());
    set.space.encode_row(vector.data(), set.data.data() + i * set.space.row_bytes());
  }
  return set;
}

bool is_permutation_of(std::vector<NodeId> order, std::size_t count) {
  std::sort(order.begin(), order.end());
  std::vector<NodeId> all(count);
  std::iota(all.begin(), all.end(), NodeId{0});
  return order == all;
}

// How often the next row belongs to another cluster.
std::size_t cluster_changes(const Set& set, const std::vector<NodeId>& order) {
  std::size_t changes = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    changes += set.cluster[order[i]] != set.cluster[order[i - 1]];
  return changes;
}

TEST_CASE("an order names every row once") {
  for (const std::size_t count : {0u, 1u, 2u, 33u, 64u, 65u, 1000u}) {
    const Set set = clustered_rows(count, Scalar::kF32);

    CHECK(is_permutation_of(order_by_locality(set.rows(), 1, 3, nullptr), count));
  }
}

TEST_CASE("an order puts near rows side by side, whatever their scalar type") {
  for (const Scalar scalar : {Scalar::kF32, Scalar::kF16, Scalar::kI8}) {
    const Set set = clustered_rows(4000, scalar);

    const auto order = order_by_locality(set.rows(), 1, 3, nullptr);

    CHECK(is_permutation_of(order, 4000));
    CHECK(cluster_changes(set, order) < 600);
  }
}

TEST_CASE("the order depends on the seed but not on the number of threads") {
  const Set set = clustered_rows(5000, Scalar::kF32);

  const auto order = order_by_locality(set.rows(), 1, 3, nullptr);

  CHECK(order == order_by_locality(set.rows(), 2, 3, nullptr));
  CHECK(order == order_by_locality(set.rows(), 7, 3, nullptr));
  CHECK_FALSE(order == order_by_locality(set.rows(), 1, 4, nullptr));
}

TEST_CASE("rows that are all equal are ordered too") {
  Set set = clustered_rows(500, Scalar::kF32);
  std::fill(set.data.begin(), set.data.end(), std::uint8_t{0});

  CHECK(is_permutation_of(order_by_locality(set.rows(), 2, 3, nullptr), 500));
}

TEST_CASE("ordering counts every row and stops when it is cancelled") {
  const Set set = clustered_rows(2000, Scalar::kF32);
  Progress progress;
  order_by_locality(set.rows(), 2, 3, &progress);

  CHECK(progress.done == 2000);
  CHECK(progress.total == 2000);
  progress.is_cancelled = true;
  CHECK_THROWS_AS(order_by_locality(set.rows(), 2, 3, &progress), Error);
}

TEST_CASE("renumbering keeps every edge, level and the entry") {
  Random random(5);
  Graph graph;
  const std::size_t count = 300;
  for (std::size_t i = 0; i < count; ++i) graph.add_node(i % 10 == 3 ? 2 : 0);
  for (NodeId node = 0; node < count; ++node)
    graph.set_neighbors(node, 0,
                        std::vector<NodeId>{static_cast<NodeId>((node + 1) % count),
                                            static_cast<NodeId>((node + 7) % count)});
  graph.set_neighbors(3, 2, std::vector<NodeId>{13, 23});
  graph.set_entry(3);
  graph.set_tradeoff_layer(1);
  std::vector<NodeId> order(count), back(count);
  std::iota(order.begin(), order.end(), NodeId{0});
  for (std::size_t i = count - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  for (NodeId i = 0; i < count; ++i) back[order[i]] = i;

  const Graph renumbered = renumber(graph, order);

  CHECK_FALSE(renumbered == graph);
  CHECK(renumber(renumbered, back) == graph);
  CHECK(order[renumbered.entry()] == 3);
  CHECK(renumbered.edge_count(2) == 2);
  CHECK(renumbered.level(back[13]) == 2);
}

TEST_CASE("an order that is no permutation is refused") {
  Graph graph;
  graph.add_node(0);
  graph.add_node(0);

  CHECK_THROWS_AS(renumber(graph, std::vector<NodeId>{0}), Error);
  CHECK_THROWS_AS(renumber(graph, std::vector<NodeId>{1, 1}), Error);
  CHECK_THROWS_AS(renumber(graph, std::vector<NodeId>{0, 2}), Error);
}

// Nodes on a ring, each linked with the two on either side, in the order of `place`.
Graph ring(const std::vector<NodeId>& place) {
  const std::size_t count = place.size();
  const auto at = invert_order(place);
  std::vector<NodeId> list;
  return Graph::from_lists(std::vector<std::uint8_t>(count, 0), [&](NodeId node, unsigned) {
    list.clear();
    for (const std::size_t step : {std::size_t{1}, std::size_t{2}, count - 2, count - 1})
      list.push_back(at[(place[node] + step) % count]);
    return std::span<const NodeId>(list);
  });
}

std::vector<NodeId> shuffled(std::size_t count) {
  Random random(17);
  std::vector<NodeId> order(count);
  std::iota(order.begin(), order.end(), NodeId{0});
  for (std::size_t i = count - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  return order;
}

TEST_CASE("a refined order makes lists smaller and is the same for any number of threads") {
  const Graph graph = ring(shuffled(3000));
  std::vector<NodeId> as_it_is(3000);
  std::iota(as_it_is.begin(), as_it_is.end(), NodeId{0});

  const auto order = refine_order(graph, as_it_is, 1, nullptr);

  CHECK(is_permutation_of(order, 3000));
  CHECK(order == refine_order(graph, as_it_is, 5, nullptr));
  CHECK(10 * renumber(graph, order).memory_bytes() < 8 * graph.memory_bytes());
}

TEST_CASE("small graphs and one-way edges can be refined too") {
  for (const NodeId count : {0u, 1u, 17u, 40u}) {
    Graph graph;
    std::vector<NodeId> order(count);
    std::iota(order.begin(), order.end(), NodeId{0});
    for (NodeId node = 0; node < count; ++node) graph.add_node(0);
    for (NodeId node = 1; node < count; ++node)
      graph.set_neighbors(node, 0, std::vector<NodeId>{0});

    CHECK(is_permutation_of(refine_order(graph, order, 2, nullptr), count));
  }
}

TEST_CASE("an order that is no permutation cannot be refined") {
  const Graph graph = ring(shuffled(5));

  CHECK_THROWS_AS(refine_order(graph, {0, 1, 2, 3}, 1, nullptr), Error);
  CHECK_THROWS_AS(refine_order(graph, {0, 1, 2, 3, 3}, 1, nullptr), Error);
  CHECK_THROWS_AS(refine_order(graph, {0, 1, 2, 3, 5}, 1, nullptr), Error);
}

}  // namespace
}  // namespace gossamer
