#include "index/insert_batch.h"

#include <doctest/doctest.h>

#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

// The first 300 vectors of a world of 400, in an index that does not keep them.
struct Growing {
  explicit Growing(GraphKind graph, Keep keep = Keep::kNone) : model(world.dim, world.metric) {
    BuildRun run;
    run.calibration_queries = 0;
    index = Index::build(small_options(world, keep, graph), world.codebook, world.vectors.data(),
                         300, nullptr, nullptr, 0, run, nullptr);
    for (std::size_t i = 0; i < 300; ++i) model.add(i, world.vector(i));
    for (std::uint64_t id = 300; id < 400; ++id) fresh.push_back(id);
  }
  void note_added() {
    for (const std::uint64_t id : fresh) model.add(id, world.vector(id));
  }
  double recall(Strategy strategy) const {
    std::size_t found = 0;
    for (std::size_t q = 0; q < ClusteredData::kQueries; ++q) {
      const Ids truth = model.nearest_ids(world.query(q), 10);
      for (const std::uint64_t id :
           run_search(*index, model, world.query(q), request_of(10, strategy, Effort())).hits) {
        found += static_cast<std::size_t>(std::count(truth.begin(), truth.end(), id));
      }
    }
    return static_cast<double>(found) / (10.0 * ClusteredData::kQueries);
  }

  World world{400};
  Model model;
  std::unique_ptr<Index> index;
  Ids fresh;
};

}  // namespace

TEST_CASE("vectors added to a graph that keeps none are found by walking it") {
  for (const GraphKind graph : {GraphKind::kFull, GraphKind::kHub, GraphKind::kSlim}) {
    Growing growing(graph);
    const auto batch = growing.index->begin_add(growing.fresh, growing.world.vector(300));

    batch->supply(growing.model.vectors_of(batch->wanted()));
    batch->finish();
    growing.note_added();

    CHECK(growing.index->count() == 400);
    CHECK(growing.recall(Strategy::kBestFirst) > 0.9);
  }
}

TEST_CASE("where the host supplies nothing, codes serve instead") {
  Growing growing(GraphKind::kFull);
  const auto batch = growing.index->begin_add(growing.fresh, growing.world.vector(300));

  batch->finish();
  growing.note_added();

  CHECK(growing.recall(Strategy::kBestFirst) > 0.85);
}

TEST_CASE("what is wanted is live, not kept, and named once") {
  Growing growing(GraphKind::kFull, Keep::kHot);
  for (std::uint64_t id = 0; id < 100; ++id) growing.model.remove(id);
  Ids gone;
  for (std::uint64_t id = 0; id < 100; ++id) gone.push_back(id);
  growing.index->remove(gone);

  const auto batch = growing.index->begin_add(growing.fresh, growing.world.vector(300));

  const std::set<std::uint64_t> wanted(batch->wanted().begin(), batch->wanted().end());
  CHECK(wanted.size() == batch->wanted().size());
  CHECK_FALSE(wanted.empty());
  for (const std::uint64_t id : wanted) {
    CHECK(growing.model.contains(id));
    CHECK(reason_of([&] { growing.index->vectors_of(Ids{id}); }) == "unknown id");
  }
}

TEST_CASE("nothing changes before a batch is finished, and it can be finished once") {
  Growing growing(GraphKind::kFull);
  const auto batch = growing.index->begin_add(growing.fresh, growing.world.vector(300));
  CHECK(growing.index->count() == 300);
  CHECK_FALSE(growing.index->contains(300));

  batch->finish();

  CHECK(growing.index->count() == 400);
  CHECK(reason_of([&] { batch->finish(); }) == "wrong state");
  CHECK(growing.index->count() == 400);
}

TEST_CASE("a batch begun before another change is refused") {
  Growing growing(GraphKind::kFull);
  const auto batch = growing.index->begin_add(growing.fresh, growing.world.vector(300));

  growing.index->remove(Ids{5});

  CHECK(reason_of([&] { batch->finish(); }) == "wrong state");
  CHECK(growing.index->count() == 299);
}

TEST_CASE("a batch takes vectors of the right number and length only") {
  Growing growing(GraphKind::kFull);
  const auto batch = growing.index->begin_add(growing.fresh, growing.world.vector(300));
  std::vector<float> vectors = growing.model.vectors_of(batch->wanted());

  vectors.pop_back();

  CHECK(reason_of([&] { batch->supply(vectors); }) == "invalid argument");
}

TEST_CASE("a graph whose vectors are kept takes vectors by add alone, any other by a batch alone") {
  Growing keeps(GraphKind::kFull, Keep::kAll);
  Growing asks(GraphKind::kFull, Keep::kNone);

  CHECK(reason_of([&] { keeps.index->begin_add(Ids{900}, keeps.world.vector(0)); }) ==
        "wrong state");
  CHECK(reason_of([&] { asks.index->add(Ids{900}, asks.world.vector(0), nullptr); }) ==
        "wrong state");
}
