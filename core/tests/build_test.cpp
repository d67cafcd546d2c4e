#include "graph/build.h"

#include <doctest/doctest.h>

#include "graph/insert.h"
#include "graph/merge.h"
#include "tests/clustered.h"
#include "tests/reachable.h"

namespace gossamer {
namespace {

using namespace testing;

// Inserts the nodes of `data` that `graph` does not have yet, up to `count`.
void insert_up_to(Graph& graph, const ClusteredData& data, std::size_t count,
                  const BuildOptions& options, ChangedLists* changed) {
  InsertScratch scratch;
  while (graph.node_count() < count) {
    const auto next = static_cast<NodeId>(graph.node_count());
    const unsigned level = random_level(options, next);
    graph.add_node(level);
    insert_node(graph, data.rows(count), next, level, options, scratch, changed);
  }
}

TEST_CASE("a built graph finds the nearest nodes") {
  const ClusteredData data(2000, 16);

  const Graph graph = build_graph(data.rows(), small_build(), nullptr);

  CHECK(is_sound(graph, 16, 8));
  CHECK(recall(graph, data, 40) > 0.97);
  CHECK(reachable_share(graph) > 0.99);
}

TEST_CASE("a graph of inner products finds the nearest nodes") {
  const ClusteredData data(2000, 16, Metric::kInnerProduct);

  const Graph graph = build_graph(data.rows(), small_build(), nullptr);

  CHECK(is_sound(graph, 16, 8));
  CHECK(recall(graph, data, 80) > 0.9);
}

TEST_CASE("one thread and one seed give one graph") {
  const ClusteredData data(800, 8);

  const Graph first = build_graph(data.rows(), small_build(), nullptr);
  const Graph second = build_graph(data.rows(), small_build(), nullptr);

  CHECK(first == second);
}

TEST_CASE("another seed gives another graph") {
  const ClusteredData data(800, 8);
  BuildOptions other = small_build();
  other.seed = 2;

  CHECK_FALSE(build_graph(data.rows(), small_build(), nullptr) ==
              build_graph(data.rows(), other, nullptr));
}

TEST_CASE("several threads build a sound graph that finds as much") {
  const ClusteredData data(2000, 16);
  BuildOptions options = small_build();
  options.threads = 4;

  const Graph graph = build_graph(data.rows(), options, nullptr);

  CHECK(is_sound(graph, 16, 8));
  CHECK(recall(graph, data, 40) > 0.97);
}

TEST_CASE("the entry is on the highest layer") {
  const ClusteredData data(2000, 4);

  const Graph graph = build_graph(data.rows(), small_build(), nullptr);

  CHECK(graph.level(graph.entry()) == graph.max_level());
  CHECK(graph.max_level() > 0);
}

TEST_CASE("no rows give an empty graph, one row a lone entry") {
  const ClusteredData data(2, 4);

  const Graph none = build_graph(data.rows(0), small_build(), nullptr);
  const Graph one = build_graph(data.rows(1), small_build(), nullptr);

  CHECK(none.node_count() == 0);
  CHECK(none.entry() == kNoNode);
  CHECK(one.entry() == 0);
  CHECK(neighbors_of(one, 0, 0).empty());
}

TEST_CASE("rows that are all the same still give a connected graph") {
  ClusteredData data(300, 4);
  for (NodeId node = 1; node < 300; ++node) data.copy_row(node, 0);

  const Graph graph = build_graph(data.rows(), small_build(), nullptr);

  CHECK(is_sound(graph, 16, 8));
  CHECK(reachable_share(graph) > 0.9);
}

TEST_CASE("a cancelled build stops with its reason") {
  const ClusteredData data(500, 4);
  Progress progress;
  progress.is_cancelled = true;

  CHECK_THROWS_AS(build_graph(data.rows(), small_build(), &progress), Error);
}

TEST_CASE("a finished build has counted every node") {
  const ClusteredData data(300, 4);
  Progress progress;

  build_graph(data.rows(), small_build(), &progress);

  CHECK(progress.done == 300);
  CHECK(progress.total == 300);
}

TEST_CASE("a degree that lists cannot hold is refused") {
  const ClusteredData data(10, 4);
  BuildOptions options = small_build();
  options.max_degree = 200;

  CHECK_THROWS_AS(build_graph(data.rows(), options, nullptr), Error);
}

TEST_CASE("levels depend on seed and node, and thin out by the given probability") {
  BuildOptions options;
  options.level_probability = 0.25;
  std::size_t above_base = 0;

  for (NodeId node = 0; node < 10000; ++node) above_base += random_level(options, node) > 0;

  CHECK(above_base > 2300);
  CHECK(above_base < 2700);
  CHECK(random_level(options, 5) == random_level(options, 5));
}

TEST_CASE("a graph grown by inserts finds as much as a built one") {
  const ClusteredData data(2000, 16);
  Graph graph;

  insert_up_to(graph, data, 2000, small_build(), nullptr);

  CHECK(is_sound(graph, 16, 8));
  CHECK(recall(graph, data, 40) > 0.97);
  CHECK(graph.level(graph.entry()) == graph.max_level());
}

TEST_CASE("cutting overfull lists to the nearest keeps the graph usable") {
  const ClusteredData data(2000, 16);
  BuildOptions options = small_build();
  Graph graph = build_graph(data.rows(1500), options, nullptr);
  options.simple_shrink = true;

  insert_up_to(graph, data, 2000, options, nullptr);

  CHECK(is_sound(graph, 16, 8));
  CHECK(recall(graph, data, 40) > 0.95);
}

TEST_CASE("inserting names every list that it changes") {
  const ClusteredData data(600, 8);
  Graph graph = build_graph(data.rows(500), small_build(), nullptr);
  const Graph before = graph;
  ChangedLists changed;

  insert_up_to(graph, data, 600, small_build(), &changed);

  const std::vector<ChangedLists::List> lists = changed.lists();
  std::size_t unnamed = 0;
  for (NodeId node = 0; node < 600; ++node) {
    for (unsigned layer = 0; layer <= graph.level(node); ++layer) {
      const bool is_same =
          node < 500 && neighbors_of(graph, node, layer) == neighbors_of(before, node, layer);
      unnamed +=
          !is_same && std::count(lists.begin(), lists.end(), ChangedLists::List{node, layer}) == 0;
    }
  }
  CHECK(unnamed == 0);
  CHECK(changed.renewed().size() == 100);
}

TEST_CASE("after unlinking no list names a removed node and the rest is still found") {
  const ClusteredData data(2000, 16);
  Graph graph = build_graph(data.rows(), small_build(), nullptr);
  std::vector<NodeId> removed{graph.entry()};
  for (NodeId node = 0; node < 2000; node += 4) removed.push_back(node);

  unlink_nodes(graph, data.rows(), removed, small_build(), nullptr);

  const std::set<NodeId> gone(removed.begin(), removed.end());
  std::size_t links = 0;
  for (NodeId node = 0; node < 2000; ++node) {
    for (unsigned layer = 0; layer <= graph.level(node); ++layer) {
      for (const NodeId neighbor : neighbors_of(graph, node, layer)) links += gone.count(neighbor);
      if (gone.contains(node)) links += neighbors_of(graph, node, layer).size();
    }
  }
  CHECK(links == 0);
  CHECK(is_sound(graph, 16, 8));
  CHECK(gone.count(graph.entry()) == 0);
  CHECK(recall(graph, data, 40, gone) > 0.95);
}

TEST_CASE("ids used again carry their new vectors") {
  ClusteredData data(2000, 16);
  const BuildOptions options = small_build();
  Graph graph = build_graph(data.rows(), options, nullptr);
  InsertScratch scratch;
  std::vector<NodeId> reused;
  for (NodeId node = 0; node < 400; ++node) reused.push_back(node * 3);

  unlink_nodes(graph, data.rows(), reused, options, nullptr);
  for (const NodeId node : reused) data.copy_row(node, 2000 - 1 - node / 3);
  for (const NodeId node : reused) {
    graph.reset_node(node, node % 2);
    insert_node(graph, data.rows(), node, node % 2, options, scratch, nullptr);
  }

  CHECK(is_sound(graph, 16, 8));
  CHECK(recall(graph, data, 40) > 0.95);
}

TEST_CASE("a graph emptied to the last node starts anew") {
  const ClusteredData data(3, 4);
  const BuildOptions options = small_build();
  Graph graph = build_graph(data.rows(), options, nullptr);
  InsertScratch scratch;

  unlink_nodes(graph, data.rows(), std::vector<NodeId>{0, 1}, options, nullptr);
  CHECK(graph.entry() == 2);
  unlink_nodes(graph, data.rows(), std::vector<NodeId>{2}, options, nullptr);
  CHECK(graph.entry() == kNoNode);
  insert_node(graph, data.rows(), 1, 0, options, scratch, nullptr);
  insert_node(graph, data.rows(), 2, 0, options, scratch, nullptr);

  CHECK(graph.entry() == 1);
  CHECK(neighbors_of(graph, 1, 0) == std::vector<NodeId>{2});
}

}  // namespace
}  // namespace gossamer
