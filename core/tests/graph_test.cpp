#include "graph/graph.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "tests/clustered.h"

namespace gossamer {
namespace {

using testing::neighbors_of;

using Lists = std::map<std::pair<NodeId, unsigned>, std::set<NodeId>>;

Graph graph_of(std::size_t node_count) {
  Graph graph;
  for (std::size_t i = 0; i < node_count; ++i) graph.add_node(0);
  return graph;
}

std::vector<NodeId> random_list(Random& random, NodeId self, std::size_t node_count,
                                std::size_t largest) {
  std::set<NodeId> list;
  for (std::size_t left = random.below(largest + 1); left > 0; --left)
    list.insert(static_cast<NodeId>(random.below(node_count)));
  list.erase(self);
  std::vector<NodeId> shuffled(list.begin(), list.end());
  std::rotate(shuffled.begin(), shuffled.begin() + static_cast<std::ptrdiff_t>(list.size() / 2),
              shuffled.end());
  return shuffled;
}

Reason reason_of(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.reason();
  }
  return Reason::kCancelled;
}

bool holds(const Graph& graph, const std::vector<unsigned>& levels, const Lists& lists) {
  if (graph.node_count() != levels.size()) return false;
  for (NodeId node = 0; node < levels.size(); ++node) {
    if (graph.level(node) != levels[node]) return false;
    for (unsigned layer = 0; layer <= levels[node] + 1; ++layer) {
      const auto found = lists.find({node, layer});
      const std::set<NodeId> expected = found == lists.end() ? std::set<NodeId>{} : found->second;
      const auto got = neighbors_of(graph, node, layer);
      if (!std::equal(got.begin(), got.end(), expected.begin(), expected.end())) return false;
    }
  }
  return true;
}

TEST_CASE("an empty graph has no nodes, no entry and no edges") {
  const Graph graph;

  CHECK(graph.node_count() == 0);
  CHECK(graph.max_level() == 0);
  CHECK(graph.entry() == kNoNode);
  CHECK(graph.edge_count(0) == 0);
  CHECK(graph == Graph());
}

TEST_CASE("neighbors come back sorted by id") {
  Graph graph = graph_of(100);

  graph.set_neighbors(50, 0, std::vector<NodeId>{99, 0, 51, 49});

  CHECK(neighbors_of(graph, 50, 0) == std::vector<NodeId>{0, 49, 51, 99});
  CHECK(graph.edge_count(0) == 4);
}

TEST_CASE("any sequence of changes leaves what was written last") {
  Random random(7);
  Graph graph;
  std::vector<unsigned> levels;
  Lists lists;
  for (int step = 0; step < 6000; ++step) {
    if (levels.size() < 2 || (levels.size() < 300 && random.below(10) == 0)) {
      levels.push_back(static_cast<unsigned>(random.below(8) == 0 ? 1 + random.below(3) : 0));
      CHECK(graph.add_node(levels.back()) == levels.size() - 1);
    }
    const auto node = static_cast<NodeId>(random.below(levels.size()));
    if (random.below(40) == 0) {
      levels[node] = static_cast<unsigned>(random.below(3));
      for (unsigned layer = 0; layer <= 3; ++layer) lists.erase({node, layer});
      graph.reset_node(node, levels[node]);
    }
    const auto layer = static_cast<unsigned>(random.below(levels[node] + 1));
    const std::size_t largest = random.below(30) == 0 ? kMaxDegree : 20;
    const auto list = random_list(random, node, levels.size(), largest);
    graph.set_neighbors(node, layer, list);
    lists[{node, layer}] = {list.begin(), list.end()};
    if (step % 500 == 0) REQUIRE(holds(graph, levels, lists));
  }

  CHECK(holds(graph, levels, lists));
  CHECK(graph.max_level() == *std::max_element(levels.begin(), levels.end()));
  const Graph before = graph;
  graph.compact();
  CHECK(graph == before);
}

TEST_CASE("a list may be as long as the largest degree, with ids far apart") {
  const std::size_t node_count = 40'000;
  Graph graph = graph_of(node_count);
  std::vector<NodeId> list;
  for (NodeId i = 0; i < kMaxDegree; ++i) list.push_back(i * 150 + 1);

  for (NodeId node = 302; node < 310; ++node) graph.set_neighbors(node, 0, list);
  graph.set_neighbors(305, 0, std::vector<NodeId>{1});

  CHECK(neighbors_of(graph, 304, 0) == list);
  CHECK(neighbors_of(graph, 305, 0) == std::vector<NodeId>{1});
  CHECK(neighbors_of(graph, 309, 0) == list);
  CHECK(neighbors_of(graph, 310, 0).empty());
}

TEST_CASE("lists that no graph may hold are refused") {
  Graph graph = graph_of(600);
  std::vector<NodeId> too_long(kMaxDegree + 1);
  for (NodeId i = 0; i <= kMaxDegree; ++i) too_long[i] = i + 1;
  const auto refuses = [&](NodeId node, unsigned layer, const std::vector<NodeId>& list) {
    return reason_of([&] { graph.set_neighbors(node, layer, list); }) == Reason::kInvalidArgument;
  };

  CHECK(refuses(0, 0, {600}));
  CHECK(refuses(0, 0, {0}));
  CHECK(refuses(0, 0, {3, 2, 3}));
  CHECK(refuses(0, 0, too_long));
  CHECK(refuses(600, 0, {1}));
  CHECK(refuses(0, 1, {1}));
  CHECK(reason_of([&] { graph.set_entry(600); }) == Reason::kInvalidArgument);
  CHECK(reason_of([&] { graph.add_node(kMaxLevel + 1); }) == Reason::kInvalidArgument);
  CHECK(graph == graph_of(600));
}

TEST_CASE("a graph made at once equals one made node by node") {
  Random random(11);
  std::vector<std::uint8_t> levels(1000);
  for (std::uint8_t& level : levels)
    level = static_cast<std::uint8_t>(random.below(20) == 0 ? 1 + random.below(2) : 0);
  std::map<std::pair<NodeId, unsigned>, std::vector<NodeId>> lists;
  Graph graph;
  for (const std::uint8_t level : levels) graph.add_node(level);
  for (NodeId node = 0; node < levels.size(); ++node)
    for (unsigned layer = 0; layer <= levels[node]; ++layer) {
      lists[{node, layer}] = random_list(random, node, levels.size(), 30);
      graph.set_neighbors(node, layer, lists[{node, layer}]);
    }

  const Graph at_once = Graph::from_lists(levels, [&](NodeId node, unsigned layer) {
    return std::span<const NodeId>(lists[{node, layer}]);
  });

  CHECK(at_once == graph);
  CHECK(at_once.max_level() == graph.max_level());
  CHECK(at_once.edge_count(1) == graph.edge_count(1));
}

TEST_CASE("a copy is not changed with its original") {
  Graph graph = graph_of(10);
  graph.set_neighbors(1, 0, std::vector<NodeId>{2, 3});
  const Graph copy = graph;

  graph.set_neighbors(1, 0, std::vector<NodeId>{4});

  CHECK(neighbors_of(copy, 1, 0) == std::vector<NodeId>{2, 3});
  CHECK_FALSE(copy == graph);
}

TEST_CASE("graphs that differ in one thing only are not equal") {
  Graph first = graph_of(4);
  first.set_entry(0);
  Graph other_entry = first;
  Graph other_layer = first;
  Graph other_level = first;
  other_entry.set_entry(1);
  other_layer.set_tradeoff_layer(1);
  other_level.reset_node(2, 1);

  CHECK_FALSE(first == other_entry);
  CHECK_FALSE(first == other_layer);
  CHECK_FALSE(first == other_level);
  CHECK_FALSE(first == graph_of(5));
}

TEST_CASE("a node used again has its new level and no lists") {
  Graph graph;
  graph.add_node(3);
  graph.add_node(1);
  graph.set_neighbors(0, 2, std::vector<NodeId>{1});

  graph.reset_node(0, 2);
  CHECK(neighbors_of(graph, 0, 2).empty());
  CHECK(graph.max_level() == 2);
  graph.reset_node(0, 0);
  CHECK(graph.max_level() == 1);
  CHECK(graph.upper_nodes() == std::vector<NodeId>{1});
}

}  // namespace
}  // namespace gossamer
