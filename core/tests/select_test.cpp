#include "graph/select.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/beam.h"

namespace gossamer {
namespace {

// Points on a line: node i lies at position i, the node being connected at 0.
float on_a_line(NodeId a, NodeId b) {
  return std::abs(static_cast<float>(a) - static_cast<float>(b));
}

std::vector<Candidate> select_on_a_line(const std::vector<Candidate>& candidates, std::size_t limit,
                                        std::vector<Candidate> kept = {}) {
  select_neighbors(candidates, limit, on_a_line, kept);
  return kept;
}

TEST_CASE("a candidate behind a kept neighbor is dropped") {
  const auto kept = select_on_a_line({{1, 1}, {2, 2}, {3, 3}}, 8);

  CHECK(kept == std::vector<Candidate>{{1, 1}});
}

TEST_CASE("a candidate as near to a kept neighbor as to the node is kept") {
  const auto kept = select_on_a_line({{1, 1}, {1, 2}}, 8);

  CHECK(kept == std::vector<Candidate>{{1, 1}, {1, 2}});
}

TEST_CASE("selection stops at the limit") {
  const auto kept = select_on_a_line({{1, 10}, {1, 20}, {1, 30}}, 2);

  CHECK(kept == std::vector<Candidate>{{1, 10}, {1, 20}});
}

TEST_CASE("neighbors kept from before shadow candidates and count towards the limit") {
  const auto kept = select_on_a_line({{3, 11}, {3, 20}, {3, 30}}, 2, {{5, 10}});

  CHECK(kept == std::vector<Candidate>{{5, 10}, {3, 20}});
}

TEST_CASE("nodes differ in the order they look at equally near candidates") {
  std::vector<Candidate> candidates;
  for (NodeId node = 0; node < 64; ++node) candidates.push_back({1, node});
  std::vector<Candidate> others = candidates;

  std::sort(candidates.begin(), candidates.end(), NearerTo(1));
  std::sort(others.begin(), others.end(), NearerTo(2));

  CHECK(candidates != others);
}

TEST_CASE("candidates are measured and sorted") {
  const Space space(Metric::kL2, Scalar::kF32, 1);
  const std::vector<float> points{0, 2, -3, 1};
  const Rows rows{&space, reinterpret_cast<Row>(points.data()), points.size()};
  std::vector<Candidate> candidates;

  measure_candidates(rows, 0, std::vector<NodeId>{2, 1, 3}, candidates);

  CHECK(candidates == std::vector<Candidate>{{1, 3}, {4, 1}, {9, 2}});
}

TEST_CASE("a beam holds the nearest candidates in order and expands each once") {
  Beam beam;
  beam.start(2);
  for (const Candidate& candidate : {Candidate{3, 1}, Candidate{1, 2}, Candidate{2, 3}}) {
    beam.offer(candidate);
  }

  CHECK(beam.next() == 2);
  CHECK(beam.peek() == 3);
  CHECK(beam.next() == 3);
  CHECK(beam.next() == kNoNode);
  const auto held = beam.finish();
  CHECK(std::vector<Candidate>(held.begin(), held.end()) == std::vector<Candidate>{{1, 2}, {2, 3}});
}

TEST_CASE("a beam goes back to a nearer candidate that comes late") {
  Beam beam;
  beam.start(4);
  beam.offer({5, 5});
  beam.next();

  beam.offer({1, 1});

  CHECK(beam.next() == 1);
  CHECK(beam.next() == kNoNode);
}

}  // namespace
}  // namespace gossamer
