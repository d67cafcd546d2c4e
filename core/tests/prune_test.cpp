#include <doctest/doctest.h>

#include "graph/prune_hub.h"
#include "graph/prune_random.h"
#include "tests/clustered.h"

namespace gossamer {
namespace {

using namespace testing;

HubOptions small_hubs() {
  HubOptions options;
  options.max_degree = 16;
  options.low_degree = 4;
  options.effort = 40;
  return options;
}

TEST_CASE("hub pruning drops many links and little recall") {
  const ClusteredData data(2000, 16);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);

  const Graph pruned = prune_hub(full, data.rows(), small_hubs(), nullptr);

  CHECK(is_sound(pruned, 16, 8));
  CHECK(pruned.edge_count(0) < full.edge_count(0) * 3 / 4);
  CHECK(recall(pruned, data, 60) > 0.95);
}

TEST_CASE("hubs keep more links than their share of nodes") {
  const ClusteredData data(2000, 16);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);
  HubOptions without = small_hubs();
  without.hub_share = 0;
  HubOptions with = small_hubs();
  with.hub_share = 0.1;

  const Graph plain = prune_hub(full, data.rows(), without, nullptr);
  const Graph hubs = prune_hub(full, data.rows(), with, nullptr);

  CHECK(hubs.edge_count(0) > plain.edge_count(0));
}

TEST_CASE("hub pruning gives the same graph on any number of threads") {
  const ClusteredData data(1500, 8);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);
  HubOptions threaded = small_hubs();
  threaded.threads = 3;

  CHECK(prune_hub(full, data.rows(), small_hubs(), nullptr) ==
        prune_hub(full, data.rows(), threaded, nullptr));
}

TEST_CASE("links of a hub-pruned graph go both ways unless a list was full") {
  const ClusteredData data(1000, 8);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);
  HubOptions roomy = small_hubs();
  roomy.max_degree = 200;

  const Graph pruned = prune_hub(full, data.rows(), roomy, nullptr);

  std::size_t one_way = 0;
  for (NodeId node = 0; node < 1000; ++node) {
    for (const NodeId neighbor : neighbors_of(pruned, node, 0)) {
      const std::vector<NodeId> back = neighbors_of(pruned, neighbor, 0);
      one_way += std::count(back.begin(), back.end(), node) == 0;
    }
  }
  CHECK(one_way == 0);
}

TEST_CASE("a hub-pruned graph keeps the layers above the base") {
  const ClusteredData data(1000, 8);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);

  const Graph pruned = prune_hub(full, data.rows(), small_hubs(), nullptr);

  CHECK(pruned.entry() == full.entry());
  CHECK(pruned.edge_count(1) == full.edge_count(1));
}

TEST_CASE("an empty graph is pruned to an empty graph") {
  const ClusteredData data(1, 8);

  CHECK(prune_hub(Graph(), data.rows(0), small_hubs(), nullptr) == Graph());
  CHECK(prune_random(Graph(), 0.5, 1) == Graph());
}

TEST_CASE("a low degree above the high one is refused") {
  const ClusteredData data(10, 8);
  HubOptions wrong = small_hubs();
  wrong.low_degree = 17;

  CHECK_THROWS_AS(prune_hub(Graph(), data.rows(0), wrong, nullptr), Error);
}

TEST_CASE("random pruning keeps the share of links asked for, the same for the same seed") {
  const ClusteredData data(2000, 8);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);

  const Graph pruned = prune_random(full, 0.5, 1);

  const double share =
      static_cast<double>(pruned.edge_count(0)) / static_cast<double>(full.edge_count(0));
  CHECK(share == doctest::Approx(0.5).epsilon(0.05));
  CHECK(pruned == prune_random(full, 0.5, 1));
  CHECK_FALSE(pruned == prune_random(full, 0.5, 2));
  CHECK(is_sound(pruned, 16, 8));
}

}  // namespace
}  // namespace gossamer
