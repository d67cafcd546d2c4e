#include "base/top_k.h"

#include <doctest/doctest.h>

#include "base/random.h"

using namespace gossamer;

TEST_CASE("the k nearest of a stream are those that sorting gives") {
  Random random(3);
  std::vector<Candidate> all;
  for (NodeId node = 0; node < 500; ++node) {
    all.push_back({static_cast<float>(random.below(40)), node});
  }
  TopK nearest(25);

  for (const Candidate& candidate : all) nearest.offer(candidate);

  std::sort(all.begin(), all.end());
  CHECK(std::equal(nearest.items().begin(), nearest.items().end(), all.begin(), all.begin() + 25));
}

TEST_CASE("of equally near candidates the lower node stays, whenever it comes") {
  TopK nearest(2);
  for (const NodeId node : {5u, 9u, 7u, 2u}) nearest.offer({1.0f, node});

  CHECK(nearest.items()[0].node == 2);
  CHECK(nearest.items()[1].node == 5);
}

TEST_CASE("a full set takes only what is nearer than its last") {
  TopK nearest(1);
  CHECK(nearest.takes(100.0f));

  nearest.offer({3.0f, 1});

  CHECK(nearest.is_full());
  CHECK(nearest.takes(2.0f));
  CHECK_FALSE(nearest.takes(3.0f));
  CHECK(nearest.last() == Candidate{3.0f, 1});
}

TEST_CASE("the nearest none of anything are none") {
  TopK nearest(0);

  nearest.offer({1.0f, 1});

  CHECK(nearest.size() == 0);
  CHECK(nearest.is_full());
}
