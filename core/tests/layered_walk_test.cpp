// g++ 12 takes the beam of the plain walk for one that an insertion could overrun.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#include "search/layered_walk.h"

#include <doctest/doctest.h>

#include <set>

#include "clustered.h"
#include "graph/slim.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

const ClusteredData& data() {
  static const ClusteredData points(800, 8);
  return points;
}

Graph slim_graph(unsigned tradeoff_layer) {
  SlimParameters parameters;
  parameters.tradeoff_layer = tradeoff_layer;
  const Graph full = build_graph(data().rows(), small_build(), nullptr);
  return prune_slim(full, data().rows(), parameters, small_build().max_degree, 1);
}

// The nearest nodes by the plain walk that others are compared with.
std::vector<NodeId> plain_walk(const Graph& graph, std::size_t query) {
  return walk(graph, data().rows(), data().query(query), 40);
}

// A walk whose distances are at hand only after they were missing once.
struct Asking {
  std::set<NodeId> known;
  std::size_t rounds = 0;
  std::size_t asked = 0;
  std::vector<NodeId> found;

  std::vector<NodeId> run(const Graph& graph, NodeId query, std::size_t width,
                          std::size_t patience) {
    WalkScratch scratch;
    LayeredWalk walk(graph, width, patience, kNoNode, scratch);
    const auto measure = [&](NodeId node, float& distance) {
      distance = data().rows().between(query, node);
      return known.contains(node);
    };
    const auto note = [&](const Candidate& candidate) { found.push_back(candidate.node); };
    while (!walk.resume(measure, [](NodeId) {}, note)) {
      ++rounds;
      asked += walk.missing().size();
      known.insert(walk.missing().begin(), walk.missing().end());
    }
    std::vector<NodeId> nearest;
    for (const Candidate& candidate : walk.nearest()) nearest.push_back(candidate.node);
    return nearest;
  }
};

}  // namespace

TEST_CASE("a walk finds what the plain walk finds, on graphs with either trade-off layer") {
  for (const unsigned tradeoff_layer : {0u, 1u}) {
    const Graph graph = slim_graph(tradeoff_layer);
    REQUIRE(graph.tradeoff_layer() == tradeoff_layer);
    for (std::size_t q = 0; q < 20; ++q) {
      WalkScratch scratch;
      LayeredWalk layered(graph, 40, 0, kNoNode, scratch);
      const auto measure = [&](NodeId node, float& distance) {
        distance = data().rows().between(data().query(q), node);
        return true;
      };

      CHECK(layered.resume(measure, [](NodeId) {}, [](const Candidate&) {}));

      std::vector<NodeId> nearest;
      for (const Candidate& candidate : layered.nearest()) nearest.push_back(candidate.node);
      CHECK(nearest == plain_walk(graph, q));
    }
  }
}

TEST_CASE("a walk that stops for every distance goes where one that has them all goes") {
  for (const unsigned tradeoff_layer : {0u, 1u}) {
    const Graph graph = slim_graph(tradeoff_layer);
    Asking asking;

    const std::vector<NodeId> nearest = asking.run(graph, data().query(3), 40, 0);

    CHECK(nearest == plain_walk(graph, 3));
    CHECK(asking.asked == asking.known.size());
  }
}

TEST_CASE("every node of the beam layers is reported once") {
  for (const unsigned tradeoff_layer : {0u, 1u}) {
    const Graph graph = slim_graph(tradeoff_layer);
    Asking asking;

    const std::vector<NodeId> nearest = asking.run(graph, data().query(5), 40, 40);

    const std::set<NodeId> found(asking.found.begin(), asking.found.end());
    CHECK(found.size() == asking.found.size());
    for (const NodeId node : nearest) CHECK(found.contains(node));
  }
}

TEST_CASE("a patient walk asks in fewer rounds and finds nearly as much") {
  const Graph graph = build_graph(data().rows(), small_build(), nullptr);
  std::size_t rounds = 0;
  std::size_t patient_rounds = 0;
  std::size_t common = 0;
  for (std::size_t q = 0; q < 20; ++q) {
    Asking asking;
    Asking patient;
    const std::vector<NodeId> a = asking.run(graph, data().query(q), 40, 0);
    const std::vector<NodeId> b = patient.run(graph, data().query(q), 40, 40);
    rounds += asking.rounds;
    patient_rounds += patient.rounds;
    for (std::size_t i = 0; i < 10; ++i) {
      common += static_cast<std::size_t>(std::count(b.begin(), b.end(), a[i]));
    }
  }

  CHECK(patient_rounds * 2 < rounds);
  CHECK(common >= 190);
}

TEST_CASE("a hidden node is passed by") {
  const Graph graph = build_graph(data().rows(), small_build(), nullptr);
  WalkScratch scratch;
  const NodeId hidden = plain_walk(graph, 0).front();
  LayeredWalk walk(graph, 40, 0, hidden, scratch);
  bool was_measured = false;
  const auto measure = [&](NodeId node, float& distance) {
    was_measured = was_measured || node == hidden;
    distance = data().rows().between(data().query(0), node);
    return true;
  };

  walk.resume(measure, [](NodeId) {}, [](const Candidate&) {});

  CHECK_FALSE(was_measured);
  CHECK(walk.nearest().size() == 40);
}

TEST_CASE("a walk over an empty graph is over at once") {
  const Graph graph;
  WalkScratch scratch;
  LayeredWalk walk(graph, 10, 0, kNoNode, scratch);

  CHECK(walk.resume([](NodeId, float&) { return false; }, [](NodeId) {}, [](const Candidate&) {}));
  CHECK(walk.nearest().empty());
}
