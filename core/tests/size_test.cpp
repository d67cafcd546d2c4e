#include "graph/size.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/pack.h"

namespace gossamer {
namespace {

// Every node linked with those up to `reach` after and before it: what a perfect order gives.
Graph ring(std::size_t node_count, NodeId reach) {
  std::vector<NodeId> list;
  return Graph::from_lists(std::vector<std::uint8_t>(node_count, 0), [&](NodeId node, unsigned) {
    list.clear();
    for (NodeId step = 1; step <= reach; ++step) {
      list.push_back(static_cast<NodeId>((node + step) % node_count));
      list.push_back(static_cast<NodeId>((node + node_count - step) % node_count));
    }
    return std::span<const NodeId>(list);
  });
}

TEST_CASE("the paper's layout is estimated by the paper's formula") {
  const double p = 1.0 / 32;
  const double links = 0.02 * 16 + 0.98 * 4;
  const double base_kept = 16 + 2 * p / (1 - p) + 4 * links * (2 + p);
  const double layer_one_kept = 16 + 2 * p / (1 - p) + 4 * links * (2 - p + p * p);
  SlimParameters slim;
  CHECK(static_cast<double>(estimate_slim_bytes(1'000'000, slim).chal_bytes) ==
        doctest::Approx(1e6 * base_kept));

  slim.tradeoff_layer = 1;
  CHECK(static_cast<double>(estimate_slim_bytes(1'000'000, slim).chal_bytes) ==
        doctest::Approx(1e6 * layer_one_kept));
}

TEST_CASE("the defaults take what was measured on 62,797 real vectors, within a quarter") {
  const SlimSize size = estimate_slim_bytes(62'797, SlimParameters{});

  CHECK(size.base_degree == doctest::Approx(10.3).epsilon(0.25));
  CHECK(static_cast<double>(size.memory_bytes) / 62'797 == doctest::Approx(19.6).epsilon(0.25));
  CHECK(static_cast<double>(size.disk_bytes) / 62'797 == doctest::Approx(7.5).epsilon(0.25));
}

TEST_CASE("the estimate is above what a graph in perfect order takes") {
  const Graph graph = ring(20'000, 5);
  SlimParameters slim;
  slim.low_degree0 = 8;

  const SlimSize size = estimate_slim_bytes(20'000, slim);

  CHECK(graph.memory_bytes() < size.memory_bytes);
  CHECK(pack_graph(graph).size() < size.disk_bytes);
}

TEST_CASE("more nodes and more links take more, less than CHAL in any case") {
  SlimParameters rich;
  rich.low_degree0 = 16;
  rich.hub_degree0 = 64;
  const SlimSize few = estimate_slim_bytes(10'000, SlimParameters{});
  const SlimSize many = estimate_slim_bytes(1'000'000, SlimParameters{});
  const SlimSize linked = estimate_slim_bytes(10'000, rich);

  CHECK(many.memory_bytes > 100 * few.memory_bytes);
  CHECK(linked.memory_bytes > few.memory_bytes);
  CHECK(linked.edge_count > few.edge_count);
  CHECK(many.disk_bytes < many.memory_bytes);
  CHECK(many.memory_bytes < many.chal_bytes);
}

TEST_CASE("no nodes take next to nothing") {
  CHECK(estimate_slim_bytes(0, SlimParameters{}).memory_bytes == 0);
  CHECK(estimate_slim_bytes(1, SlimParameters{}).edge_count == 0);
}

TEST_CASE("a proposal fits its budget and no richer one does") {
  for (const std::uint64_t budget : {900'000u, 1'500'000u, 2'600'000u}) {
    const SlimParameters slim = propose_slim(100'000, budget);
    SlimParameters richer = slim;
    ++richer.low_degree0;
    richer.hub_degree0 += 4;

    CHECK(estimate_slim_bytes(100'000, slim).memory_bytes <= budget);
    CHECK(estimate_slim_bytes(100'000, richer).memory_bytes > budget);
  }
}

TEST_CASE("a budget for the defaults proposes the defaults") {
  const std::uint64_t budget = estimate_slim_bytes(100'000, SlimParameters{}).memory_bytes;

  CHECK(propose_slim(100'000, budget) == SlimParameters{});
}

TEST_CASE("a budget below the leanest graph is refused") {
  CHECK_THROWS_AS(propose_slim(100'000, 100'000), Error);
}

TEST_CASE("parameters that no graph can have are refused") {
  SlimParameters share;
  share.hub_share0 = 1.5;
  SlimParameters degree;
  degree.hub_degree0 = kMaxDegree + 1;

  CHECK_THROWS_AS(estimate_slim_bytes(10, share), Error);
  CHECK_THROWS_AS(estimate_slim_bytes(10, degree), Error);
}

}  // namespace
}  // namespace gossamer
