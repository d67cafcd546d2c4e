#include "base/bitmap.h"

#include <doctest/doctest.h>

using namespace gossamer;

TEST_CASE("a node is in the set from its insertion until it is erased") {
  Bitmap set(130);
  for (const NodeId node : {0u, 63u, 64u, 129u}) {
    CHECK_FALSE(set.contains(node));
    set.insert(node);
    CHECK(set.contains(node));
  }
  CHECK(set.count() == 4);

  set.erase(64);

  CHECK_FALSE(set.contains(64));
  CHECK(set.contains(63));
  CHECK(set.count() == 3);
}

TEST_CASE("filling takes every node and no other, whatever the size") {
  for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 200u}) {
    Bitmap set(size);
    set.fill();

    CHECK(set.count() == size);
  }
}

TEST_CASE("a set that grows keeps its nodes and gains none") {
  Bitmap set(10);
  set.fill();

  set.resize(100);

  CHECK(set.size() == 100);
  CHECK(set.count() == 10);
  CHECK_FALSE(set.contains(10));
}

TEST_CASE("subtracting leaves what the other set does not hold") {
  Bitmap set(100);
  set.fill();
  Bitmap other(100);
  other.insert(3);
  other.insert(99);

  set.subtract(other);

  CHECK(set.count() == 98);
  CHECK_FALSE(set.contains(99));
  CHECK(other.count() == 2);
}
