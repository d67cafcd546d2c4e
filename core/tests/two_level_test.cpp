#include "search/two_level.h"

#include <doctest/doctest.h>

#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

struct Totals {
  std::size_t wanted = 0;
  std::size_t rounds = 0;
  std::size_t found = 0;
};

Totals run_all(const Index& index, const World& world, const Model& model, Strategy strategy,
               const Effort& effort) {
  Totals totals;
  for (std::size_t q = 0; q < ClusteredData::kQueries; ++q) {
    const Outcome outcome =
        run_search(index, model, world.query(q), request_of(10, strategy, effort));
    const Ids truth = model.nearest_ids(world.query(q), 10);
    totals.wanted += outcome.wanted_count();
    totals.rounds += outcome.rounds.size();
    for (const std::uint64_t id : outcome.hits) {
      totals.found += static_cast<std::size_t>(std::count(truth.begin(), truth.end(), id));
    }
  }
  return totals;
}

}  // namespace

TEST_CASE("two levels ask for fewer vectors than best-first for as many true hits") {
  const World world(1500, 16);
  const Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kFull));
  Effort effort;
  effort.beam = 40;
  effort.ratio = 0.2f;

  const Totals best_first = run_all(*index, world, model, Strategy::kBestFirst, effort);
  const Totals two_level = run_all(*index, world, model, Strategy::kTwoLevel, effort);

  CHECK(two_level.wanted * 2 < best_first.wanted);
  CHECK(two_level.rounds < best_first.rounds);
  CHECK(two_level.found + 10 >= best_first.found);
}

TEST_CASE("lazy loading asks in fewer rounds than best-first for as many true hits") {
  const World world(1500, 16);
  const Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kFull));
  Effort effort;
  effort.beam = 40;

  const Totals best_first = run_all(*index, world, model, Strategy::kBestFirst, effort);
  const Totals lazy = run_all(*index, world, model, Strategy::kLazy, effort);

  CHECK(lazy.rounds * 2 < best_first.rounds);
  CHECK(lazy.found + 10 >= best_first.found);
}

TEST_CASE("larger batches take fewer rounds") {
  const World world(800, 8);
  const Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kFull));
  Effort small;
  small.batch = 1;
  Effort large;
  large.batch = 64;

  CHECK(run_all(*index, world, model, Strategy::kTwoLevel, large).rounds <
        run_all(*index, world, model, Strategy::kTwoLevel, small).rounds);
}

TEST_CASE("a hot vector that makes room while the host fetches others keeps its distance") {
  const World world(300);
  const Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kHot, GraphKind::kFull));
  for (std::size_t q = 0; q < 20; ++q) {
    const Ids near = model.nearest_ids(world.query(q), 15);
    index->remember(near, model.vectors_of(near).data());
    SearchBatch search(*index, world.query(q), 1, request_of(10, Strategy::kTwoLevel));
    while (!search.wanted().empty()) {
      const Ids wanted = search.wanted();
      index->remember(wanted, model.vectors_of(wanted).data());
      search.supply(model.vectors_of(wanted));
    }

    const auto truth = model.nearest(world.query(q), 10);
    for (std::size_t i = 0; i < 10; ++i) CHECK(search.nearest(0)[i].distance == truth[i].first);
  }
}
