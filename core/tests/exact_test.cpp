#include "search/exact.h"

#include <doctest/doctest.h>

#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

TEST_CASE("brute force over many queries gives what sorting all distances gives") {
  const ClusteredData data(700, 8);
  const World world(700, 8);
  const Model model(world);

  const auto results =
      exact_nearest(data.rows(), world.queries.data(), 50, 10, nullptr, nullptr, 2);

  for (std::size_t q = 0; q < 50; ++q) {
    Ids found;
    for (const Candidate& candidate : results[q]) found.push_back(candidate.node);
    CHECK(found == model.nearest_ids(world.query(q), 10));
  }
}

TEST_CASE("a query does not find the row that it must skip, nor rows that are not allowed") {
  const ClusteredData data(300, 8);
  const World world(300, 8);
  Bitmap allowed(300);
  for (NodeId node = 0; node < 300; node += 3) allowed.insert(node);
  std::vector<NodeId> skip(40, 6);
  skip[35] = kNoNode;

  const auto results =
      exact_nearest(data.rows(), world.queries.data(), 40, 300, &allowed, skip.data(), 1);

  for (std::size_t q = 0; q < 40; ++q) {
    CHECK(results[q].size() == (q == 35 ? 100 : 99));
    for (const Candidate& candidate : results[q]) {
      CHECK(allowed.contains(candidate.node));
      CHECK(candidate.node != skip[q]);
    }
  }
}

TEST_CASE("looking at everything asks for everything once, a batch at a time") {
  const World world(2500, 4);
  const Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kNone));

  const Outcome outcome =
      run_search(*index, model, world.query(0), request_of(10, Strategy::kExact));

  CHECK(outcome.hits == model.nearest_ids(world.query(0), 10));
  CHECK(outcome.wanted().size() == 2500);
  CHECK(outcome.wanted_count() == 2500);
  CHECK(outcome.rounds.size() == 3);
}
