#include <doctest/doctest.h>

#include "index/search.h"
#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

std::vector<Ids> run_together(const Index& index, const Model& model, const World& world,
                              std::size_t count, SearchRequest request) {
  SearchBatch search(index, world.queries.data(), count, std::move(request));
  while (!search.wanted().empty()) {
    const std::set<std::uint64_t> once(search.wanted().begin(), search.wanted().end());
    CHECK(once.size() == search.wanted().size());
    search.supply(model.vectors_of(search.wanted()));
  }
  std::vector<Ids> hits(count);
  for (std::size_t q = 0; q < count; ++q) {
    for (const SearchHit& hit : search.nearest(q)) hits[q].push_back(hit.id);
  }
  return hits;
}

}  // namespace

TEST_CASE("many searches side by side find what each finds alone, with any number of threads") {
  const World world(400);
  const Model model(world);
  for_each_index(world, [&](const Index& index, const IndexOptions& options) {
    for (const Strategy strategy : kStrategies) {
      if (needs_graph(strategy) && options.graph == GraphKind::kNone) continue;
      CAPTURE(describe(options));
      CAPTURE(strategy_name(strategy));
      SearchRequest request = request_of(5, strategy, Effort());
      request.threads = 3;

      const std::vector<Ids> together = run_together(index, model, world, 20, request);

      for (std::size_t q = 0; q < 20; ++q) {
        CHECK(together[q] == run_search(index, model, world.query(q), request).hits);
      }
    }
  });
}

TEST_CASE("vectors that several searches want are fetched once") {
  const World world(200);
  const Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kNone));
  std::vector<float> same;
  for (std::size_t i = 0; i < 3; ++i) same.insert(same.end(), world.query(0), world.query(1));

  SearchBatch search(*index, same.data(), 3, request_of(5, Strategy::kScan, Effort()));
  std::size_t fetched = 0;
  while (!search.wanted().empty()) {
    fetched += search.wanted().size();
    search.supply(model.vectors_of(search.wanted()));
  }

  CHECK(search.counters().vectors_fetched == fetched);
  CHECK(search.counters().vectors_asked == 3 * fetched);
}

TEST_CASE("supplying too few or too many vectors fails and can be mended") {
  const World world(100);
  const Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kFull));
  for (const Strategy strategy : kStrategies) {
    SearchBatch search(*index, world.query(0), 1, request_of(5, strategy, Effort()));
    std::vector<float> vectors = model.vectors_of(search.wanted());
    const auto supply = [&](std::size_t numbers) {
      return reason_of([&] { search.supply(std::span(vectors).first(numbers)); });
    };

    CHECK(supply(0) == "invalid argument");
    CHECK(supply(vectors.size() - 1) == "invalid argument");
    CHECK(supply(vectors.size() - world.dim) == "invalid argument");
    vectors.resize(vectors.size() + world.dim);
    CHECK(supply(vectors.size()) == "invalid argument");
    CHECK(supply(vectors.size() - world.dim) == "none");
  }
}

TEST_CASE("a supplied vector that is not finite is refused") {
  const World world(100);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kNone));
  SearchBatch search(*index, world.query(0), 1, request_of(5, Strategy::kScan));
  const std::vector<float> vectors(search.wanted().size() * world.dim,
                                   std::numeric_limits<float>::infinity());

  CHECK(reason_of([&] { search.supply(vectors); }) == "not finite");
}

TEST_CASE("no queries give no answers and want nothing") {
  const World world(30);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kFull));
  for (const Strategy strategy : kStrategies) {
    SearchBatch search(*index, world.queries.data(), 0, request_of(5, strategy));

    CHECK(search.query_count() == 0);
    CHECK(search.wanted().empty());
  }
}

TEST_CASE("a batch for far more hits than there are gives every vector to every query") {
  const World world(300);
  const Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kNone));

  const auto hits = run_together(*index, model, world, 3,
                                 request_of(std::size_t{1} << 60, Strategy::kScan, Effort()));

  for (std::size_t q = 0; q < 3; ++q) CHECK(hits[q] == model.nearest_ids(world.query(q), 300));
}
