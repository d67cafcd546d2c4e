#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "base/random.h"
#include "graph/delta.h"
#include "graph/delta_pack.h"
#include "tests/clustered.h"
#include "tests/reason.h"

namespace gossamer {
namespace {

using testing::neighbors_of;
using testing::reason_of;

Graph graph_of(std::size_t node_count) {
  Graph graph;
  for (std::size_t i = 0; i < node_count; ++i) graph.add_node(0);
  if (node_count > 0) graph.set_entry(0);
  return graph;
}

void link(Graph& graph, NodeId a, NodeId b, unsigned layer) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    std::vector<NodeId> list = neighbors_of(graph, from, layer);
    if (std::count(list.begin(), list.end(), to) > 0) continue;
    list.push_back(to);
    graph.set_neighbors(from, layer, list);
  }
}

// A graph that changes at random, and what changed since the last cut.
class Changing {
 public:
  explicit Changing(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 40; ++i) graph_.add_node(random_level());
    for (int i = 0; i < 200; ++i) relink();
    settle();
  }

  const Graph& graph() const { return graph_; }

  // Clears and reuses some nodes, adds others, and changes lists of all.
  void step() {
    for (std::size_t left = random_.below(4); left > 0; --left) clear(random_node());
    for (std::size_t left = random_.below(6); left > 0; --left) graph_.add_node(random_level());
    for (std::size_t left = random_.below(60); left > 0; --left) relink();
    settle();
  }

  GraphDelta cut(Graph& shadow) {
    GraphDelta delta = diff_graphs(shadow, graph_, changed_, cleared_);
    changed_.clear();
    cleared_.clear();
    return delta;
  }

 private:
  unsigned random_level() {
    return random_.below(4) == 0 ? 1 + static_cast<unsigned>(random_.below(3)) : 0;
  }
  NodeId random_node() { return static_cast<NodeId>(random_.below(graph_.node_count())); }

  // Some links run both ways, some do not; some are undone again.
  void relink() {
    const NodeId from = random_node();
    const NodeId to = random_node();
    const auto layer =
        static_cast<unsigned>(random_.below(std::min(graph_.level(from), graph_.level(to)) + 1));
    if (from == to) return;
    set(from, to, layer);
    if (random_.below(3) > 0) set(to, from, layer);
  }

  void set(NodeId from, NodeId to, unsigned layer) {
    std::vector<NodeId> list = neighbors_of(graph_, from, layer);
    if (std::erase(list, to) == 0) list.push_back(to);
    graph_.set_neighbors(from, layer, list);
    changed_.push_back(from);
  }

  void clear(NodeId gone) {
    for (NodeId node = 0; node < graph_.node_count(); ++node) {
      for (unsigned layer = 0; layer <= graph_.level(node); ++layer) {
        std::vector<NodeId> list = neighbors_of(graph_, node, layer);
        if (std::erase(list, gone) == 0) continue;
        graph_.set_neighbors(node, layer, list);
        changed_.push_back(node);
      }
    }
    graph_.reset_node(gone, random_level());
    cleared_.push_back(gone);
  }

  void settle() {
    NodeId highest = 0;
    for (const NodeId node : graph_.upper_nodes()) {
      if (graph_.level(node) > graph_.level(highest)) highest = node;
    }
    graph_.set_entry(highest);
  }

  Random random_;
  Graph graph_;
  std::vector<NodeId> changed_;
  std::vector<NodeId> cleared_;
};

TEST_CASE("a delta leads from one state of a graph to the next") {
  Changing changing(1);
  Graph shadow = changing.graph();
  Graph follower = changing.graph();
  for (int i = 0; i < 200; ++i) {
    changing.step();

    const GraphDelta delta = changing.cut(shadow);
    const GraphDelta received = unpack_delta(pack_delta(delta));
    apply_delta(follower, received);

    REQUIRE(received == delta);
    REQUIRE(shadow == changing.graph());
    REQUIRE(follower == changing.graph());
  }
}

TEST_CASE("deltas joined in any groups are the delta over each group") {
  Changing changing(2);
  Graph first = changing.graph();
  Graph shadow = changing.graph();
  Graph coarse_shadow = changing.graph();
  Changing same(2);
  for (std::size_t group = 1; group < 12; ++group) {
    GraphDelta joined;
    for (std::size_t i = 0; i < group; ++i) {
      changing.step();
      same.step();
      const GraphDelta delta = changing.cut(shadow);
      joined = i == 0 ? delta : join_deltas(joined, delta);
    }

    apply_delta(first, joined);

    REQUIRE(first == changing.graph());
    REQUIRE(joined == same.cut(coarse_shadow));
  }
}

TEST_CASE("where nothing changed the delta says so in a few bytes") {
  const Graph graph = Changing(3).graph();
  Graph shadow = graph;

  const GraphDelta delta = diff_graphs(shadow, graph, {}, {});

  CHECK(delta.layers.empty());
  CHECK(pack_delta(delta).size() < 40);
}

TEST_CASE("a link that was cleared and came back is sent again") {
  Graph before = graph_of(4);
  link(before, 1, 2, 0);
  Graph now = before;
  now.reset_node(2, 0);
  now.set_neighbors(1, 0, {});
  link(now, 1, 2, 0);
  Graph shadow = before;

  const GraphDelta delta = diff_graphs(shadow, now, {}, std::vector<NodeId>{2});
  apply_delta(before, delta);

  CHECK(before == now);
}

TEST_CASE("clearing a node takes every link from or to it without naming them") {
  Graph before = graph_of(50);
  for (NodeId node = 1; node < 50; ++node) link(before, 0, node, 0);
  before.set_entry(1);
  Graph now = graph_of(50);
  now.set_entry(1);
  Graph shadow = before;

  const GraphDelta delta = diff_graphs(shadow, now, {}, std::vector<NodeId>{0});

  CHECK(shadow == now);
  CHECK(delta.layers.empty());
}

TEST_CASE("an edge that was added and then removed is in no joined delta") {
  const Graph before = graph_of(4);
  Graph shadow = before;
  Graph now = before;
  const std::vector<NodeId> changed{1, 2};
  link(now, 1, 2, 0);
  const GraphDelta added = diff_graphs(shadow, now, changed, {});

  const GraphDelta removed = diff_graphs(shadow, before, changed, {});

  CHECK(join_deltas(added, removed).layers.empty());
  CHECK(join_deltas(removed, added).layers.empty());
}

TEST_CASE("a delta that does not fit is refused and changes nothing") {
  Graph graph = graph_of(6);
  link(graph, 1, 2, 0);
  const Graph before = graph;
  GraphDelta delta;
  delta.base_count = delta.node_count = 6;
  delta.entry = 0;
  delta.layers.resize(1);
  GraphDelta::Layer& edges = delta.layers[0];
  const auto reason = [&](const GraphDelta& wrong) {
    const std::string why = reason_of([&] { apply_delta(graph, wrong); });
    CHECK(graph == before);
    return why;
  };

  SUBCASE("an edge to remove is not there") { edges.removed = {{1, 3}}; }
  SUBCASE("an edge to add is there") { edges.added = {{1, 2}}; }
  SUBCASE("a list before it could have been changed") { edges.added = {{0, 1}, {1, 2}}; }
  SUBCASE("its edges are on a layer that a node is not on") {
    delta.layers.resize(2);
    delta.layers[1].added = {{1, 3}};
  }
  SUBCASE("the neighbor is not on the layer") {
    delta.cleared = {3};
    delta.levels = {1};
    delta.entry = 3;
    delta.layers.resize(2);
    delta.layers[1].added = {{3, 4}};
  }
  SUBCASE("its entry is not of the highest level") {
    delta.node_count = 7;
    delta.levels = {2};
  }
  SUBCASE("it starts from another number of nodes") { delta.base_count = 5; }

  CHECK(reason(delta) == "wrong state");
}

TEST_CASE("no delta makes a list longer than lists can be") {
  Graph graph = graph_of(kMaxDegree + 3);
  std::vector<NodeId> list(kMaxDegree);
  std::iota(list.begin(), list.end(), NodeId{1});
  graph.set_neighbors(0, 0, list);
  GraphDelta delta;
  delta.base_count = delta.node_count = graph.node_count();
  delta.entry = 0;
  delta.layers.resize(1);
  delta.layers[0].added = {{0, kMaxDegree + 1}};

  CHECK(reason_of([&] { apply_delta(graph, delta); }) == "wrong state");
}

TEST_CASE("deltas that do not follow each other are not joined") {
  const Graph before = graph_of(4);
  Graph shadow = before;
  Graph now = before;
  link(now, 1, 2, 0);
  const GraphDelta delta = diff_graphs(shadow, now, std::vector<NodeId>{1, 2}, {});
  GraphDelta larger = delta;
  larger.base_count = larger.node_count = 5;

  CHECK(reason_of([&] { join_deltas(delta, delta); }) == "wrong state");
  CHECK(reason_of([&] { join_deltas(delta, larger); }) == "wrong state");
}

TEST_CASE("bytes that end early or were changed never become a delta that harms") {
  Changing changing(4);
  Graph shadow = changing.graph();
  const Graph before = changing.graph();
  for (int i = 0; i < 3; ++i) changing.step();
  const Bytes bytes = pack_delta(changing.cut(shadow));

  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string reason = reason_of([&] { unpack_delta(ByteView(bytes).first(size)); });
    REQUIRE((reason == "truncated" || reason == "damaged"));
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Bytes wrong = bytes;
    wrong[bit / 8] = static_cast<std::uint8_t>(wrong[bit / 8] ^ (1u << (bit % 8)));
    Graph graph = before;
    const std::string reason = reason_of([&] {
      const GraphDelta delta = unpack_delta(wrong);
      REQUIRE(unpack_delta(pack_delta(delta)) == delta);
      apply_delta(graph, delta);
    });
    if (reason != "none") REQUIRE(graph == before);
  }
}

}  // namespace
}  // namespace gossamer
