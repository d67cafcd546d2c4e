#include "vectors/kept.h"

#include <doctest/doctest.h>

#include <vector>

#include "index_fixture.h"

using namespace gossamer;
using gossamer::testing::reason_of;

namespace {

const Space& plane() {
  static const Space space(Metric::kL2, Scalar::kF32, 2);
  return space;
}

constexpr std::size_t kRow = 2 * sizeof(float);

// The vector of a node in these tests.
std::vector<float> vector_of(NodeId node) {
  return {static_cast<float>(node), static_cast<float>(node) + 0.5f};
}

Kept hot(std::size_t rows) { return Kept(Keep::kHot, plane(), rows * kRow); }

void remember(Kept& kept, NodeId node) { kept.remember(plane(), node, vector_of(node).data()); }
bool pin(Kept& kept, NodeId node) { return kept.pin(plane(), node, vector_of(node).data()); }

bool holds(const Kept& kept, NodeId node) {
  const Row row = kept.find(node);
  if (row == nullptr) return false;
  std::vector<float> vector(2);
  plane().decode_row(row, vector.data());
  CHECK(vector == vector_of(node));
  return true;
}

}  // namespace

TEST_CASE("an index that keeps nothing finds nothing and remembers nothing") {
  Kept kept(Keep::kNone, plane(), 100 * kRow);

  remember(kept, 1);

  CHECK(kept.count() == 0);
  CHECK_FALSE(holds(kept, 1));
}

TEST_CASE("what is pinned stays, within the budget") {
  Kept kept = hot(3);

  CHECK(pin(kept, 10));
  CHECK(pin(kept, 11));
  CHECK(pin(kept, 10));
  CHECK(kept.pinned() == 2);
  for (NodeId node = 20; node < 30; ++node) remember(kept, node);

  CHECK(holds(kept, 10));
  CHECK(holds(kept, 11));
  CHECK(kept.count() == 3);
}

TEST_CASE("nothing is pinned beyond the budget, nor remembered once all of it is pinned") {
  Kept kept = hot(2);
  CHECK(pin(kept, 1));
  CHECK(pin(kept, 2));

  CHECK_FALSE(pin(kept, 3));
  remember(kept, 4);

  CHECK_FALSE(holds(kept, 3));
  CHECK_FALSE(holds(kept, 4));
  CHECK(kept.count() == 2);
}

TEST_CASE("a budget below one row keeps nothing") {
  Kept kept(Keep::kHot, plane(), kRow - 1);

  CHECK_FALSE(pin(kept, 1));
  remember(kept, 1);

  CHECK(kept.count() == 0);
}

TEST_CASE("the vector remembered longest ago makes room first") {
  Kept kept = hot(3);
  for (const NodeId node : {1u, 2u, 3u}) remember(kept, node);

  remember(kept, 4);
  CHECK_FALSE(holds(kept, 1));
  remember(kept, 5);
  CHECK_FALSE(holds(kept, 2));

  for (const NodeId node : {3u, 4u, 5u}) CHECK(holds(kept, node));
}

TEST_CASE("what is kept already is not kept twice") {
  Kept kept = hot(3);
  for (int i = 0; i < 5; ++i) remember(kept, 7);

  CHECK(kept.count() == 1);
}

TEST_CASE("what was forgotten is not found, and can be remembered anew") {
  Kept kept = hot(3);
  pin(kept, 1);
  remember(kept, 2);
  remember(kept, 3);

  kept.forget(1);
  kept.forget(2);
  kept.forget(99);

  CHECK_FALSE(holds(kept, 1));
  CHECK_FALSE(holds(kept, 2));
  CHECK(holds(kept, 3));
  remember(kept, 2);
  CHECK(holds(kept, 2));
  CHECK(holds(kept, 3));
}

TEST_CASE("hot rows that were stored are found again, but for forgotten ones") {
  Kept kept = hot(3);
  pin(kept, 5);
  remember(kept, 6);
  remember(kept, 7);
  kept.forget(6);

  Kept again(plane(), kept.budget(), kept.nodes(), kept.pinned(),
             Column(kRow, kept.column().bytes()));

  CHECK(holds(again, 5));
  CHECK_FALSE(holds(again, 6));
  CHECK(holds(again, 7));
  remember(again, 8);
  CHECK(holds(again, 5));
  CHECK(holds(again, 8));
}

TEST_CASE("stored rows that do not match their nodes are refused") {
  const Bytes rows(2 * kRow, 0);
  const auto make = [&](std::vector<NodeId> nodes, std::size_t pinned) {
    return reason_of([&] { Kept(plane(), 100, nodes, pinned, Column(kRow, ByteView(rows))); });
  };

  CHECK(make({1, 2}, 2) == "none");
  CHECK(make({1, kNoNode}, 0) == "none");
  CHECK(make({1, 2, 3}, 0) == "damaged");
  CHECK(make({1, 1}, 0) == "damaged");
  CHECK(make({1, 2}, 3) == "damaged");
  CHECK(reason_of([&] { Kept(plane(), Column(kRow + 1, ByteView(rows))); }) == "damaged");
}
