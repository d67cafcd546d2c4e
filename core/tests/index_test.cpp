#include "index/index.h"

#include <doctest/doctest.h>

#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

// Every strategy that the index can serve, with enough effort, gives what the model says.
void check_answers(const Index& index, const Model& model, const World& world) {
  CHECK(index.count() == model.size());
  for (const Strategy strategy : kStrategies) {
    if (needs_graph(strategy) && index.options().graph == GraphKind::kNone) continue;
    CAPTURE(describe(index.options()));
    CAPTURE(strategy_name(strategy));
    for (std::size_t q = 0; q < 3; ++q) {
      const Outcome outcome = run_search(index, model, world.query(q), request_of(10, strategy));
      CHECK(outcome.hits.size() == std::min<std::size_t>(10, model.size()));
      for (const std::uint64_t id : outcome.hits) CHECK(model.contains(id));
    }
  }
  const Outcome exact = run_search(index, model, world.query(0), request_of(10, Strategy::kExact));
  CHECK(exact.hits == model.nearest_ids(world.query(0), 10));
}

void remove_from(Index& index, Model& model, const Ids& ids) {
  index.remove(ids);
  for (const std::uint64_t id : ids) model.remove(id);
}

// Adds vectors of the world again under ids that count up from `first`.
void add_more(Index& index, Model& model, const World& world, std::uint64_t first,
              std::size_t count) {
  Ids ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = first + i;
  std::vector<float> vectors(world.vectors.begin(),
                             world.vectors.begin() + static_cast<long>(count * world.dim));
  for (float& value : vectors) value += 0.125f;
  add_to(index, model, ids, vectors.data());
  for (std::size_t i = 0; i < count; ++i) model.add(ids[i], vectors.data() + i * world.dim);
}

template <class Check>
void for_each_built(const World& world, const Check& check) {
  for (const Keep keep : kKeeps) {
    for (const GraphKind graph : kGraphs) {
      for (const bool with_source : {false, true}) {
        if (with_source && (graph != GraphKind::kSlim || keep != Keep::kAll)) continue;
        IndexOptions options = small_options(world, keep, graph);
        options.keep_source = with_source;
        check(build_small(world, options));
      }
    }
  }
}

Ids range(std::uint64_t first, std::uint64_t end, std::uint64_t step = 1) {
  Ids ids;
  for (std::uint64_t id = first; id < end; id += step) ids.push_back(id);
  return ids;
}

}  // namespace

TEST_CASE("deleted vectors never come back: after deleting, adding, compacting, adding again") {
  const World world(300);
  for_each_built(world, [&](const std::unique_ptr<Index>& index) {
    Model model(world);

    remove_from(*index, model, range(0, 300, 3));
    check_answers(*index, model, world);
    add_more(*index, model, world, 1000, 80);
    check_answers(*index, model, world);
    remove_from(*index, model, range(1000, 1080, 2));
    index->compact(1);
    check_answers(*index, model, world);
    CHECK(index->stats().deleted == 0);
    add_more(*index, model, world, 0, 1);
    check_answers(*index, model, world);
  });
}

TEST_CASE("places of deleted vectors are used again where vectors are kept") {
  const World world(300);
  for (const GraphKind graph : kGraphs) {
    const auto index = build_small(world, small_options(world, Keep::kAll, graph));
    Model model(world);

    remove_from(*index, model, range(0, 100));
    add_more(*index, model, world, 500, 100);

    CHECK(index->stats().deleted == 0);
    CHECK(index->stats().kept == 300);
    check_answers(*index, model, world);
  }
}

TEST_CASE("an index whose vectors were all deleted can be filled again, compacted or not") {
  const World world(80);
  for_each_built(world, [&](const std::unique_ptr<Index>& index) {
    for (const bool compacts : {false, true}) {
      Model model(world);
      for (const std::uint64_t id : range(0, 80)) model.remove(id);
      index->remove(index->ids());
      check_answers(*index, model, world);

      if (compacts) index->compact(1);
      check_answers(*index, model, world);
      add_more(*index, model, world, 7, 30);

      check_answers(*index, model, world);
      const Bytes file = saved(*index);
      check_answers(*Index::open(file, nullptr), model, world);
    }
  });
}

TEST_CASE("a saved index answers like the one it was saved from") {
  const World world(250);
  for_each_built(world, [&](const std::unique_ptr<Index>& index) {
    Model model(world);
    remove_from(*index, model, range(0, 60, 2));
    add_more(*index, model, world, std::uint64_t{1} << 40, 5);

    const Bytes file = saved(*index);
    const auto opened = Index::open(file, nullptr);

    CHECK(opened->ids() == index->ids());
    CHECK(opened->graph() == index->graph());
    for (const Strategy strategy : kStrategies) {
      if (needs_graph(strategy) && index->options().graph == GraphKind::kNone) continue;
      const SearchRequest request = request_of(10, strategy, Effort());
      const Outcome before = run_search(*index, model, world.query(5), request);
      const Outcome after = run_search(*opened, model, world.query(5), request);
      CHECK(before.hits == after.hits);
      CHECK(before.distances == after.distances);
      CHECK(before.rounds == after.rounds);
    }
    CHECK(saved(*opened) == file);
    remove_from(*opened, model, {1, 3});
    add_more(*opened, model, world, 2000, 10);
    check_answers(*opened, model, world);
  });
}

TEST_CASE("whatever few vectors are left, the index can be saved and opened") {
  const World world(120);
  for_each_built(world, [&](const std::unique_ptr<Index>& built) {
    const Bytes file = saved(*built);
    for (std::uint64_t first = 0; first < 120; first += 5) {
      const auto index = Index::open(file, nullptr);
      Model model(world);
      Ids gone = range(0, 120);
      gone.erase(gone.begin() + static_cast<long>(first),
                 gone.begin() + static_cast<long>(first + 5));

      remove_from(*index, model, gone);
      index->compact(1);

      const Bytes small = saved(*index);
      check_answers(*Index::open(small, nullptr), model, world);
    }
  });
}

TEST_CASE("an index saved without its codebook opens only with that codebook") {
  const World world(60);
  const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kFull));
  const Bytes file = saved(*index, false);
  const World other(61);

  CHECK(reason_of([&] { Index::open(file, nullptr); }) == "missing codebook");
  CHECK(reason_of([&] { Index::open(file, other.codebook); }) == "codebook mismatch");
  check_answers(*Index::open(file, world.codebook), Model(world), world);
}

TEST_CASE("a slim index saved without its source is smaller and can still be updated") {
  const World world(200);
  IndexOptions options = small_options(world, Keep::kAll, GraphKind::kSlim);
  options.keep_source = true;
  const auto index = build_small(world, options);
  const Bytes whole = saved(*index);
  const Bytes bare = saved(*index, true, false);
  Model model(world);

  const auto opened = Index::open(bare, nullptr);
  remove_from(*opened, model, range(0, 90));
  add_more(*opened, model, world, 300, 90);

  CHECK(bare.size() < whole.size());
  check_answers(*opened, model, world);
}

TEST_CASE("a search under way fails once the index has changed") {
  const World world(100);
  for (const bool removes : {true, false}) {
    const auto index = build_small(world, small_options(world, Keep::kNone, GraphKind::kNone));
    const Model model(world);
    SearchBatch search(*index, world.query(0), 1, request_of(5, Strategy::kScan));
    const std::vector<float> vectors = model.vectors_of(search.wanted());

    if (removes) {
      index->remove(Ids{3});
    } else {
      index->add(Ids{500}, world.vector(0), nullptr);
    }

    CHECK(reason_of([&] { search.supply(vectors); }) == "wrong state");
    CHECK(reason_of([&] { search.nearest(0); }) == "wrong state");
  }
}

TEST_CASE("a filter made before the index grew is refused") {
  const World world(64);
  const auto index = build_small(world, small_options(world, Keep::kAll, GraphKind::kNone));
  SearchRequest request = request_of(5, Strategy::kExact);
  request.allowed = index->allow_ids(Ids{1, 2});

  index->add(Ids{100}, world.vector(0), nullptr);

  CHECK(reason_of([&] { SearchBatch(*index, world.query(0), 1, request); }) == "wrong state");
}

TEST_CASE("a mask allows the ids whose places are true, and no others") {
  const World world(50);
  const auto index = build_small(world, small_options(world, Keep::kAll, GraphKind::kFull));
  const std::array<bool, 5> mask = {false, true, false, false, true};
  SearchRequest request = request_of(5, Strategy::kExact);
  request.allowed = index->allow_mask(mask);

  Ids hits = run_search(*index, Model(world), world.query(0), request).hits;

  std::sort(hits.begin(), hits.end());
  CHECK(hits == Ids{1, 4});
}

TEST_CASE(
    "ids must be new to be added and known to be deleted, and a failed call changes nothing") {
  const World world(40);
  for_each_built(world, [&](const std::unique_ptr<Index>& index) {
    const Model model(world);
    const auto add = [&](const Ids& ids) {
      return reason_of([&] { add_to(*index, model, ids, world.vectors.data()); });
    };

    CHECK(add({5}) == "duplicate id");
    CHECK(add({100, 100}) == "duplicate id");
    CHECK(reason_of([&] { index->remove(Ids{1, 99}); }) == "unknown id");
    CHECK(reason_of([&] { index->remove(Ids{1, 1}); }) == "duplicate id");
    CHECK(index->contains(1));
    CHECK_FALSE(index->contains(99));
    CHECK(index->count() == 40);
  });
}

TEST_CASE("what is not finite is refused wherever it enters") {
  World world(40);
  const auto index = build_small(world, small_options(world, Keep::kHot, GraphKind::kNone));
  std::vector<float> bad(world.dim, 1.0f);
  bad[3] = std::numeric_limits<float>::quiet_NaN();

  CHECK(reason_of([&] { SearchBatch(*index, bad.data(), 1, {}); }) == "not finite");
  CHECK(reason_of([&] { index->add(Ids{77}, bad.data(), nullptr); }) == "not finite");
  CHECK(reason_of([&] { index->remember(Ids{7}, bad.data()); }) == "not finite");
  CHECK(reason_of([&] { index->begin_add(Ids{77}, bad.data()); }) == "not finite");
  world.vectors[9] = bad[3];
  CHECK(reason_of([&] { build_small(world, index->options()); }) == "not finite");
}

TEST_CASE("two vectors cannot be built under one id, and none give no index") {
  const World world(3);

  CHECK(reason_of([&] {
          build_small(world, small_options(world, Keep::kAll, GraphKind::kNone), {4, 9, 4});
        }) == "duplicate id");
  CHECK(reason_of([&] {
          Index::build(small_options(world, Keep::kAll, GraphKind::kNone), world.codebook,
                       world.vectors.data(), 0, nullptr, nullptr, 0, {}, nullptr);
        }) == "empty");
}

TEST_CASE("hot mode pins within its budget, and what was asked for is not asked for again") {
  const World world(300);
  const Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kHot, GraphKind::kNone));
  const SearchRequest request = request_of(5, Strategy::kScan, Effort());
  const std::size_t capacity = world.count() / 10;
  CHECK(index->stats().kept == capacity / 2);

  const Outcome first = run_search(*index, model, world.query(0), request);
  const Ids wanted = first.rounds.front();
  index->remember(wanted, model.vectors_of(wanted).data());
  const Outcome second = run_search(*index, model, world.query(0), request);

  CHECK(second.hits == first.hits);
  CHECK(second.wanted_count() < first.wanted_count());
  index->remember(model.ids(), world.vectors.data());
  CHECK(index->stats().kept == capacity);
}

TEST_CASE("a hot vector that is deleted, or replaced under its id, is forgotten") {
  const World world(200);
  Model model(world);
  const auto index = build_small(world, small_options(world, Keep::kHot, GraphKind::kNone));
  index->remember(Ids{11}, world.vector(11));

  index->remove(Ids{11});
  index->add(Ids{11}, world.vector(12), nullptr);

  CHECK(reason_of([&] { index->vectors_of(Ids{11}); }) == "unknown id");
  model.add(11, world.vector(12));
  check_answers(*index, model, world);
}

TEST_CASE("calibration is measured, stored, and gives the recall that is asked for") {
  const World world(1500, 8, Metric::kInnerProduct);
  const Model model(world);
  BuildRun run;
  run.calibration_queries = 100;
  const auto index =
      Index::build(small_options(world, Keep::kNone, GraphKind::kFull), world.codebook,
                   world.vectors.data(), world.count(), nullptr, nullptr, 0, run, nullptr);
  const Bytes file = saved(*index);
  const auto opened = Index::open(file, nullptr);

  const auto effort_of = [](const Index& each) {
    return each.calibration().effort_for(Strategy::kScan, 3, 0.9, each.count());
  };
  const std::optional<Effort> before = effort_of(*index);
  const std::optional<Effort> after = effort_of(*opened);
  REQUIRE(before);
  REQUIRE(after);
  CHECK(after->margin == before->margin);
  for (const Strategy strategy : {Strategy::kScan, Strategy::kWalk, Strategy::kTwoLevel,
                                  Strategy::kBestFirst, Strategy::kLazy}) {
    CAPTURE(strategy_name(strategy));
    std::size_t found = 0;
    for (std::size_t q = 0; q < 40; ++q) {
      SearchRequest request;
      request.strategy = strategy;
      request.recall = 0.95;
      const Ids truth = model.nearest_ids(world.query(q), 10);
      for (const std::uint64_t id : run_search(*opened, model, world.query(q), request).hits) {
        found += static_cast<std::size_t>(std::count(truth.begin(), truth.end(), id));
      }
    }
    CHECK(found >= 360);
  }
}

TEST_CASE("an index assembled from parts answers like the one they came from") {
  const World world(200);
  const Model model(world);
  const IndexOptions options = small_options(world, Keep::kNone, GraphKind::kFull);
  const auto built = build_small(world, options);
  const Ids ids = built->ids();
  RowBytes codes(ids.size() * world.codebook->code_bytes());
  world.codebook->encode(model.vectors_of(ids).data(), ids.size(), codes.data(), 1);

  const Column column(world.codebook->code_bytes(), codes);
  const auto assembled =
      Index::assemble(options, world.codebook, column, built->graph(), ids, Calibration());

  check_answers(*assembled, model, world);
  CHECK(reason_of([&] {
          Index::assemble(options, world.codebook, column, Graph(), ids, Calibration());
        }) == "invalid argument");
}
