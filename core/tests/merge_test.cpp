#include "graph/merge.h"

#include <doctest/doctest.h>

#include "tests/clustered.h"
#include "tests/reachable.h"

namespace gossamer {
namespace {

using namespace testing;

// Two shards: which nodes each holds, in its own order.
struct Shards {
  std::vector<NodeId> first{0, 1, 2};
  std::vector<NodeId> second{3, 2, 1};

  static Graph chain(unsigned top_level) {
    Graph graph;
    graph.add_node(top_level);
    graph.add_node(0);
    graph.add_node(0);
    graph.set_neighbors(0, 0, std::vector<NodeId>{1});
    graph.set_neighbors(1, 0, std::vector<NodeId>{0, 2});
    graph.set_neighbors(2, 0, std::vector<NodeId>{1});
    graph.set_entry(0);
    return graph;
  }
};

TEST_CASE("merging unites the neighbors that a node has in its shards") {
  const Shards shards;
  GraphMerger merger(4, 8, 1);
  merger.add(Shards::chain(0), shards.first);
  merger.add(Shards::chain(0), shards.second);

  const Graph merged = merger.finish();

  CHECK(neighbors_of(merged, 0, 0) == std::vector<NodeId>{1});
  CHECK(neighbors_of(merged, 1, 0) == std::vector<NodeId>{0, 2});
  CHECK(neighbors_of(merged, 2, 0) == std::vector<NodeId>{1, 3});
  CHECK(reachable_share(merged) == 1.0);
}

TEST_CASE("of two levels the higher one counts and becomes the entry") {
  const Shards shards;
  GraphMerger merger(4, 8, 1);
  merger.add(Shards::chain(0), shards.first);
  merger.add(Shards::chain(2), shards.second);

  const Graph merged = merger.finish();

  CHECK(merged.level(3) == 2);
  CHECK(merged.entry() == 3);
  CHECK(neighbors_of(merged, 3, 0) == std::vector<NodeId>{2});
}

TEST_CASE("a node raised by a later shard keeps its neighbors") {
  const Shards shards;
  GraphMerger merger(4, 8, 1);
  merger.add(Shards::chain(0), shards.second);
  merger.add(Shards::chain(1), std::vector<NodeId>{3, 0, 1});

  const Graph merged = merger.finish();

  CHECK(merged.level(3) == 1);
  CHECK(neighbors_of(merged, 3, 0) == std::vector<NodeId>{0, 2});
}

TEST_CASE("overlapping shards merge into a graph that finds nearly as much as one build") {
  const ClusteredData data(2000, 16);
  const BuildOptions options = small_build();
  const std::size_t row_bytes = data.rows().space->row_bytes();
  GraphMerger merger(2000, options.max_degree, 1);
  for (NodeId shard = 0; shard < 4; ++shard) {
    std::vector<NodeId> members;
    for (NodeId node = 0; node < 2000; ++node) {
      if (node % 4 == shard || (node / 4) % 4 == shard) members.push_back(node);
    }
    std::vector<std::uint8_t> rows;
    for (const NodeId node : members) {
      rows.insert(rows.end(), data.rows().row(node), data.rows().row(node) + row_bytes);
    }
    merger.add(build_graph({data.rows().space, rows.data(), members.size()}, options, nullptr),
               members);
  }

  const Graph merged = merger.finish();

  CHECK(is_sound(merged, 16, 8));
  CHECK(reachable_share(merged) > 0.99);
  CHECK(recall(merged, data, 60) > 0.9);
}

TEST_CASE("cutting full lists is random but the same for the same seed") {
  const ClusteredData data(400, 8);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);
  std::vector<NodeId> members(400);
  for (NodeId node = 0; node < 400; ++node) members[node] = node;
  const auto merge_with_seed = [&](std::uint64_t seed) {
    GraphMerger merger(400, 4, seed);
    merger.add(full, members);
    return merger.finish();
  };

  const Graph merged = merge_with_seed(1);

  CHECK(is_sound(merged, 8, 4));
  CHECK(merged == merge_with_seed(1));
  CHECK_FALSE(merged == merge_with_seed(2));
}

TEST_CASE("a shard that names nodes beyond the graph is refused") {
  GraphMerger merger(2, 8, 1);

  CHECK_THROWS_AS(merger.add(Shards::chain(0), std::vector<NodeId>{0, 1, 2}), Error);
  CHECK_THROWS_AS(merger.add(Shards::chain(0), std::vector<NodeId>{0, 1}), Error);
}

TEST_CASE("nothing merged gives an empty graph") {
  GraphMerger merger(0, 8, 1);

  CHECK(merger.finish() == Graph());
}

}  // namespace
}  // namespace gossamer
