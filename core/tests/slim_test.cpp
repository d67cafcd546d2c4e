#include "graph/slim.h"

#include <doctest/doctest.h>

#include "graph/insert.h"
#include "graph/merge.h"
#include "graph/slim_follower.h"
#include "tests/clustered.h"
#include "tests/reachable.h"

namespace gossamer {
namespace {

using namespace testing;

SlimParameters small_slim(unsigned tradeoff_layer = 0) {
  SlimParameters parameters;
  parameters.hub_share0 = 0.05;
  parameters.hub_degree0 = 10;
  parameters.low_degree0 = 4;
  parameters.hub_share = 0.1;
  parameters.hub_degree = 6;
  parameters.low_degree = 3;
  parameters.tradeoff_layer = tradeoff_layer;
  return parameters;
}

TEST_CASE("slim pruning drops many links and little recall") {
  const ClusteredData data(2000, 16, Metric::kL2, 1);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);

  const Graph slim = prune_slim(full, data.rows(), small_slim(), 8, 1);

  CHECK(is_sound(slim, 16, 8));
  CHECK(slim.edge_count(0) < full.edge_count(0) * 3 / 4);
  CHECK(recall(slim, data, 60) > 0.95);
}

TEST_CASE("slim pruning by in-degree keeps no list over the limit of selection") {
  const ClusteredData data(2000, 16);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);

  SlimParameters parameters = small_slim();
  parameters.low_degree0 = 7;

  const Graph slim = prune_slim(full, data.rows(), parameters, 8, 1, SlimVariant::kByInDegree);

  CHECK(is_sound(slim, 10, 6));
  CHECK(recall(slim, data, 80) > 0.85);
}

TEST_CASE("slim pruning gives the same graph on any number of threads") {
  const ClusteredData data(1500, 8);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);

  CHECK(prune_slim(full, data.rows(), small_slim(1), 8, 1) ==
        prune_slim(full, data.rows(), small_slim(1), 8, 3));
}

TEST_CASE("layers other than the trade-off layer keep only neighbors that end there") {
  const ClusteredData data(1500, 8);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);

  const Graph slim = prune_slim(full, data.rows(), small_slim(1), 8, 1, SlimVariant::kByInDegree);

  std::size_t redundant = 0;
  for (NodeId node = 0; node < 1500; ++node) {
    for (const NodeId neighbor : neighbors_of(slim, node, 0)) redundant += slim.level(neighbor) > 0;
  }
  CHECK(redundant == 0);
  CHECK(slim.tradeoff_layer() == 1);
}

TEST_CASE("hubs of the base layer select more than the others") {
  const ClusteredData data(2000, 16);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);
  SlimParameters without = small_slim();
  without.hub_share0 = 0;

  const Graph plain = prune_slim(full, data.rows(), without, 8, 1, SlimVariant::kByInDegree);
  const Graph hubs = prune_slim(full, data.rows(), small_slim(), 8, 1, SlimVariant::kByInDegree);

  CHECK(is_sound(plain, 4, 6));
  CHECK_FALSE(is_sound(hubs, 4, 6));
}

TEST_CASE("exactly the asked-for share of a layer are hubs, of equal nodes the first") {
  const Degrees degrees{5, 7, kNotOnLayer, 7, 7, 9, 1, 1, 1, 1, 1};

  const HubCut hubs = cut_hubs(degrees, 0.3);

  std::vector<NodeId> found;
  for (NodeId node = 0; node < degrees.size(); ++node) {
    if (hubs.contains(node, degrees[node])) found.push_back(node);
  }
  CHECK(found == std::vector<NodeId>{1, 3, 5});
  CHECK(cut_hubs({}, 0.3) == HubCut{});
  CHECK(cut_hubs({3, 3}, 1.0).contains(1, 3));
}

TEST_CASE("parameters that contradict each other are refused") {
  const ClusteredData data(10, 4);
  SlimParameters wrong = small_slim();
  wrong.low_degree0 = 20;

  CHECK_THROWS_AS(prune_slim(Graph(), data.rows(0), wrong, 8, 1), Error);
}

TEST_CASE("a node that more select than a list can hold loses links, not the graph") {
  ClusteredData data(600, 2, Metric::kInnerProduct);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);

  const Graph slim = prune_slim(full, data.rows(), small_slim(), 8, 1);
  const SlimFollower follower(full, data.rows(), small_slim(), 8, 1);

  CHECK(is_sound(slim, 16, 8));
  CHECK(follower.graph() == slim);
}

TEST_CASE("copies of one vector stay reachable when pruned") {
  ClusteredData data(400, 4);
  for (NodeId node = 1; node < 400; ++node) data.copy_row(node, 0);
  const Graph full = build_graph(data.rows(), small_build(), nullptr);

  const Graph slim = prune_slim(full, data.rows(), small_slim(), 8, 1);

  CHECK(reachable_share(slim) > 0.95);
}

// A graph that lives: nodes come, go, and come back under their old ids with other vectors.
class ChangingGraph {
 public:
  ChangingGraph(SlimVariant variant, unsigned tradeoff_layer, Metric metric, std::uint64_t seed)
      : data_(900, 6, metric, seed),
        options_(small_build()),
        graph_(build_graph(data_.rows(300), options_, nullptr)),
        parameters_(small_slim(tradeoff_layer)),
        variant_(variant),
        random_(seed),
        follower_(graph_, rows(), parameters_, 8, 1, variant) {}

  void change() {
    ChangedLists changed;
    const std::uint64_t steps = 1 + random_.below(4);
    for (std::uint64_t step = 0; step < steps; ++step) {
      switch (random_.below(3)) {
        case 0:
          insert(changed);
          break;
        case 1:
          remove(changed);
          break;
        default:
          reuse(changed);
          break;
      }
    }
    before_ = follower_.graph();
    named_ = follower_.update(graph_, rows(), changed);
  }
  bool follows() const {
    return follower_.graph() == prune_slim(graph_, rows(), parameters_, 8, 1, variant_);
  }
  // Whether the last update named exactly the nodes that differ.
  bool names_what_changed() const {
    std::vector<NodeId> changed;
    const Graph& after = follower_.graph();
    for (NodeId node = 0; node < after.node_count(); ++node) {
      bool is_same = node < before_.node_count() && before_.level(node) == after.level(node);
      for (unsigned layer = 0; is_same && layer <= after.level(node); ++layer) {
        is_same = neighbors_of(before_, node, layer) == neighbors_of(after, node, layer);
      }
      if (!is_same) changed.push_back(node);
    }
    return std::includes(named_.begin(), named_.end(), changed.begin(), changed.end());
  }

 private:
  Rows rows() const { return data_.rows(graph_.node_count()); }

  void insert(ChangedLists& changed) {
    for (int i = 0; i < 6 && graph_.node_count() < 900; ++i) {
      const unsigned level = random_level(options_, static_cast<NodeId>(graph_.node_count()));
      const NodeId node = graph_.add_node(level);
      insert_node(graph_, rows(), node, level, options_, scratch_, &changed);
    }
  }
  void remove(ChangedLists& changed) {
    std::set<NodeId> nodes;
    for (int i = 0; i < 6; ++i) {
      const auto node = static_cast<NodeId>(random_.below(graph_.node_count()));
      if (std::count(free_.begin(), free_.end(), node) == 0) nodes.insert(node);
    }
    const std::vector<NodeId> list(nodes.begin(), nodes.end());
    unlink_nodes(graph_, rows(), list, options_, &changed);
    free_.insert(free_.end(), list.begin(), list.end());
  }
  void reuse(ChangedLists& changed) {
    for (int i = 0; i < 5 && !free_.empty(); ++i) {
      const NodeId node = free_.back();
      free_.pop_back();
      data_.copy_row(node, static_cast<NodeId>(random_.below(900)));
      const auto level = static_cast<unsigned>(random_.below(4) == 0 ? random_.below(4) : 0);
      graph_.reset_node(node, level);
      insert_node(graph_, rows(), node, level, options_, scratch_, &changed);
    }
  }

  ClusteredData data_;
  BuildOptions options_;
  Graph graph_;
  SlimParameters parameters_;
  SlimVariant variant_;
  Random random_;
  SlimFollower follower_;
  Graph before_;
  InsertScratch scratch_;
  std::vector<NodeId> free_;
  std::vector<NodeId> named_;
};

void check_that_it_follows(SlimVariant variant, unsigned tradeoff_layer, Metric metric) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    ChangingGraph graph(variant, tradeoff_layer, metric, seed);
    for (int round = 0; round < 25; ++round) {
      CAPTURE(seed);
      CAPTURE(round);
      graph.change();
      REQUIRE(graph.follows());
      REQUIRE(graph.names_what_changed());
    }
  }
}

TEST_CASE("a follower equals a full pruning after any changes, with reverse links") {
  check_that_it_follows(SlimVariant::kReverseLinks, 0, Metric::kL2);
}

TEST_CASE("a follower equals a full pruning after any changes, with the base layer pruned too") {
  check_that_it_follows(SlimVariant::kReverseLinks, 1, Metric::kL2);
}

TEST_CASE("a follower equals a full pruning after any changes, by in-degree") {
  check_that_it_follows(SlimVariant::kByInDegree, 0, Metric::kL2);
}

TEST_CASE("a follower equals a full pruning after any changes, by in-degree and layer 1 whole") {
  check_that_it_follows(SlimVariant::kByInDegree, 1, Metric::kL2);
}

TEST_CASE("a follower equals a full pruning after any changes of inner products") {
  check_that_it_follows(SlimVariant::kReverseLinks, 0, Metric::kInnerProduct);
}

TEST_CASE("a follower grows from nothing") {
  const ClusteredData data(60, 4);
  Graph graph;
  SlimFollower follower(graph, data.rows(0), small_slim(), 8, 1);
  InsertScratch scratch;
  ChangedLists changed;

  for (NodeId node = 0; node < 60; ++node) {
    graph.add_node(node % 3);
    insert_node(graph, data.rows(), node, node % 3, small_build(), scratch, &changed);
  }
  follower.update(graph, data.rows(), changed);

  CHECK(follower.graph() == prune_slim(graph, data.rows(), small_slim(), 8, 1));
}

}  // namespace
}  // namespace gossamer
