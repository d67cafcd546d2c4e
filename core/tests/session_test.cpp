#include "search/session.h"

#include <doctest/doctest.h>

#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

// Calls check(index, strategy) for each strategy that each index can serve.
template <class Check>
void for_each_search(const World& world, const Check& check) {
  for_each_index(world, [&](const Index& index, const IndexOptions& options) {
    for (const Strategy strategy : kStrategies) {
      if (needs_graph(strategy) && options.graph == GraphKind::kNone) continue;
      CAPTURE(describe(options));
      CAPTURE(strategy_name(strategy));
      check(index, strategy);
    }
  });
}

}  // namespace

TEST_CASE("with enough effort every strategy gives the exact answer, whatever is kept") {
  for (const Metric metric : {Metric::kL2, Metric::kInnerProduct, Metric::kCosine}) {
    const World world(300, 8, metric);
    const Model model(world);
    for_each_search(world, [&](const Index& index, Strategy strategy) {
      for (std::size_t q = 0; q < 4; ++q) {
        const Outcome outcome = run_search(index, model, world.query(q), request_of(10, strategy));

        CHECK(outcome.hits == model.nearest_ids(world.query(q), 10));
      }
    });
  }
}

TEST_CASE("distances of hits are the exact ones") {
  const World world(200);
  const Model model(world);
  for_each_search(world, [&](const Index& index, Strategy strategy) {
    const Outcome outcome = run_search(index, model, world.query(1), request_of(5, strategy));

    const auto truth = model.nearest(world.query(1), 5);
    REQUIRE(outcome.distances.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(outcome.distances[i] == truth[i].first);
  });
}

TEST_CASE("no vector is asked for twice") {
  const World world(300);
  const Model model(world);
  for_each_search(world, [&](const Index& index, Strategy strategy) {
    for (const Effort& effort : {full_effort(), Effort()}) {
      const Outcome outcome =
          run_search(index, model, world.query(2), request_of(10, strategy, effort));

      CHECK(outcome.wanted().size() == outcome.wanted_count());
      CHECK(outcome.counters.rounds == outcome.rounds.size());
      CHECK(outcome.counters.vectors_asked == outcome.wanted_count());
    }
  });
}

TEST_CASE("a kept vector is never asked for") {
  const World world(300);
  const Model model(world);
  for_each_search(world, [&](const Index& index, Strategy strategy) {
    const Outcome outcome = run_search(index, model, world.query(3), request_of(10, strategy));

    const auto is_kept = [&](std::uint64_t id) {
      return reason_of([&] { index.vectors_of(Ids{id}); }) == "none";
    };
    const std::set<std::uint64_t> wanted = outcome.wanted();
    CHECK(std::none_of(wanted.begin(), wanted.end(), is_kept));
    CHECK(wanted.empty() == (index.options().keep == Keep::kAll));
  });
}

TEST_CASE("a filter of any selectivity gives as many hits as match, all of them allowed") {
  const World world(300);
  const Model model(world);
  const Ids all = model.ids();
  Ids half;
  for (std::size_t i = 0; i < all.size(); i += 2) half.push_back(all[i]);
  for_each_search(world, [&](const Index& index, Strategy strategy) {
    for (const Ids& allowed : {Ids{}, Ids{17}, Ids{4, 80, 150, 151, 299}, half}) {
      for (const Effort& effort : {full_effort(), Effort()}) {
        SearchRequest request = request_of(10, strategy, effort);
        request.allowed = index.allow_ids(allowed);

        const Outcome outcome = run_search(index, model, world.query(4), request);

        CHECK(outcome.hits.size() == std::min<std::size_t>(10, allowed.size()));
        const std::set<std::uint64_t> permitted(allowed.begin(), allowed.end());
        for (const std::uint64_t id : outcome.hits) CHECK(permitted.contains(id));
        if (allowed.size() <= 10) {
          CHECK(outcome.hits == model.nearest_ids(world.query(4), 10, &allowed));
        }
      }
    }
  });
}

TEST_CASE("a filter that allows nothing ends the narrowest search at once") {
  const World world(100);
  const Model model(world);
  Effort narrow;
  narrow.beam = 0;
  for_each_search(world, [&](const Index& index, Strategy strategy) {
    SearchRequest request = request_of(3, strategy, narrow);
    request.allowed = index.allow_ids({});

    CHECK(run_search(index, model, world.query(0), request).hits.empty());
  });
}

TEST_CASE("more hits than there are vectors gives every vector, however much more") {
  const World world(60);
  const Model model(world);
  for_each_search(world, [&](const Index& index, Strategy strategy) {
    for (const std::size_t k : {std::size_t{61}, std::size_t{1} << 60, ~std::size_t{0}}) {
      const Outcome outcome =
          run_search(index, model, world.query(0), request_of(k, strategy, Effort()));

      CHECK(outcome.hits == model.nearest_ids(world.query(0), 60));
    }
  });
}

TEST_CASE("equal vectors come in the order of nodes, filtered or not") {
  World world(120);
  for (std::size_t i = 1; i < 40; ++i) {
    std::copy_n(world.vector(0), world.dim,
                world.vectors.begin() + static_cast<long>(i * world.dim));
  }
  const Model model(world);
  for_each_search(world, [&](const Index& index, Strategy strategy) {
    const Ids order = index.ids();
    const auto place = [&](std::uint64_t id) { return std::find(order.begin(), order.end(), id); };
    SearchRequest filtered = request_of(10, strategy);
    filtered.allowed = index.allow_ids(order);

    for (const SearchRequest& request : {request_of(10, strategy), filtered}) {
      const Ids hits = run_search(index, model, world.vector(0), request).hits;

      REQUIRE(hits.size() == 10);
      for (std::size_t i = 1; i < 10; ++i) CHECK(place(hits[i - 1]) < place(hits[i]));
      CHECK(std::count_if(order.begin(), place(hits[9]),
                          [](std::uint64_t id) { return id < 40; }) == 9);
    }
  });
}

TEST_CASE("a strategy without what it needs is refused") {
  const World world(50);
  BuildRun run;
  run.calibration_queries = 0;
  const auto plain =
      Index::build(small_options(world, Keep::kAll, GraphKind::kNone), nullptr,
                   world.vectors.data(), world.count(), nullptr, nullptr, 0, run, nullptr);
  for (const Strategy strategy : {Strategy::kScan, Strategy::kWalk, Strategy::kTwoLevel,
                                  Strategy::kBestFirst, Strategy::kLazy}) {
    CHECK(reason_of([&] { SearchBatch(*plain, world.query(0), 1, request_of(1, strategy)); }) ==
          "invalid argument");
  }
  CHECK(run_search(*plain, Model(world), world.query(0), {}).hits.size() == 10);
}
