#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/random.h"
#include "index/delta.h"
#include "index_fixture.h"

namespace gossamer {
namespace {

using namespace testing;

// The kinds of index that deltas are made for.
struct Kind {
  std::string name;
  Keep keep = Keep::kAll;
  GraphKind graph = GraphKind::kSlim;
  Scalar scalar = Scalar::kF16;
  bool with_source = true;
  bool by_in_degree = false;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"slim f16"},
      {"slim int8", Keep::kAll, GraphKind::kSlim, Scalar::kI8},
      {"slim by in-degree", Keep::kAll, GraphKind::kSlim, Scalar::kF16, true, true},
      {"slim without source", Keep::kAll, GraphKind::kSlim, Scalar::kF32, false},
      {"full", Keep::kAll, GraphKind::kFull, Scalar::kF16, false},
      {"hub", Keep::kAll, GraphKind::kHub, Scalar::kF16, false},
      {"full, no vectors", Keep::kNone, GraphKind::kFull, Scalar::kF32, false},
      {"codes", Keep::kNone, GraphKind::kNone, Scalar::kF32, false},
      {"vectors alone", Keep::kAll, GraphKind::kNone, Scalar::kF32, false},
  };
  return all;
}

const World& world() {
  static const World small(400);
  return small;
}

// An index and the bytes that it may look into.
class Place {
 public:
  explicit Place(Bytes file) { open(std::move(file)); }

  Index& operator*() { return *index_; }
  Index* operator->() { return index_.get(); }
  void reopen() { open(saved(*index_)); }
  // Without what those that follow it do not have.
  Bytes state() const { return saved(*index_, true, false); }

 private:
  void open(Bytes file) {
    index_.reset();
    file_ = std::move(file);
    index_ = Index::open(file_, nullptr);
  }

  Bytes file_;
  std::unique_ptr<Index> index_;
};

Bytes first_file(const Kind& kind) {
  IndexOptions options = small_options(world(), kind.keep, kind.graph);
  options.scalar = kind.scalar;
  options.keep_source = kind.with_source;
  options.slim_by_in_degree = kind.by_in_degree;
  BuildRun run;
  run.calibration_queries = 0;
  return saved(*Index::build(options, world().codebook, world().vectors.data(), 200, nullptr,
                             nullptr, 0, run, nullptr));
}

// The same changes for every server that is given them.
struct Batch {
  Ids removed;
  Ids added;
  std::vector<float> vectors;
};

class Batches {
 public:
  Batches(Model& model, std::uint64_t seed) : model_(model), random_(seed) {
    for (std::size_t i = 0; i < 200; ++i) model_.add(i, world().vector(i));
  }

  // Ids come back, and vectors go as soon as they came.
  Batch next() {
    Batch batch;
    const Ids held = model_.ids();
    for (const std::uint64_t id : held) {
      if (random_.below(8) == 0) batch.removed.push_back(id);
    }
    for (const std::uint64_t id : batch.removed) model_.remove(id);
    for (std::size_t left = random_.below(40); left > 0; --left) {
      const std::uint64_t id = random_.below(3) == 0 ? random_.below(200) : next_id_++;
      if (model_.contains(id)) continue;
      const float* vector = world().vector(random_.below(world().count()));
      batch.added.push_back(id);
      batch.vectors.insert(batch.vectors.end(), vector, vector + world().dim);
      model_.add(id, vector);
    }
    return batch;
  }

 private:
  Model& model_;
  Random random_;
  std::uint64_t next_id_ = 200;
};

void change(Index& index, const Model& model, const Batch& batch) {
  index.remove(batch.removed);
  add_to(index, model, batch.added, batch.vectors.data());
}

Bytes join(const std::vector<Bytes>& deltas) {
  return join_packed_deltas(std::vector<ByteView>(deltas.begin(), deltas.end()));
}

void check_same_answers(const Index& a, const Index& b, const Model& model) {
  for (const Strategy strategy : {Strategy::kExact, Strategy::kBestFirst}) {
    if (needs_graph(strategy) && a.options().graph == GraphKind::kNone) continue;
    Effort effort;
    effort.beam = 12;
    const auto request = request_of(5, strategy, effort);
    const Outcome ours = run_search(a, model, world().query(0), request);
    const Outcome theirs = run_search(b, model, world().query(0), request);
    REQUIRE(ours.hits == theirs.hits);
    REQUIRE(ours.distances == theirs.distances);
  }
}

TEST_CASE("an index that follows by deltas is saved as the one that it follows") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    Model model(world().dim, world().metric);
    Batches batches(model, 7);
    Random random(3);
    Place server(first_file(kind));
    Place rare_server(first_file(kind));
    Place edge(server.state());
    Place rare_edge(server.state());
    std::vector<Bytes> waiting;
    std::size_t fills = 0;
    for (int i = 0; i < 50; ++i) {
      server->track();
      rare_server->track();
      const Batch batch = batches.next();
      fills += batch.added.size();
      change(*server, model, batch);
      change(*rare_server, model, batch);

      waiting.push_back(server->take_delta());
      edge->apply_delta(waiting.back());

      REQUIRE(edge.state() == server.state());
      check_same_answers(*edge, *server, model);
      if (random.below(4) > 0) continue;
      const Bytes joined = join(waiting);
      REQUIRE(joined == rare_server->take_delta());
      rare_edge->apply_delta(joined);
      REQUIRE(rare_edge.state() == server.state());
      waiting.clear();
      if (random.below(2) == 0) edge.reopen();
      if (random.below(2) > 0) continue;
      server.reopen();
      rare_server.reopen();
    }
    // Places are used again, also where that means to take nodes out of the graph.
    if (kind.keep == Keep::kAll) REQUIRE(server->stats().deleted + server->count() < 200 + fills);
  }
}

TEST_CASE("an index that loses everything and begins anew is followed") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    const Model model(world());
    Place server(first_file(kind));
    Place edge(server.state());
    server->track();
    server->remove(server->ids());
    edge->apply_delta(server->take_delta());
    REQUIRE(edge.state() == server.state());

    add_to(*server, model, Ids{7, 300, 301}, world().vector(300));
    edge->apply_delta(server->take_delta());

    REQUIRE(edge.state() == server.state());
    REQUIRE(edge->count() == 3);
  }
}

TEST_CASE("an index that grows from nothing is followed") {
  const auto server = Index::create(world().codebook, {});
  Place edge(saved(*server));
  server->track();

  server->add(Ids{5, 6, 9}, world().vector(0), nullptr);
  edge->apply_delta(server->take_delta());

  CHECK(edge.state() == saved(*server));
  CHECK(edge->ids() == Ids{5, 6, 9});
}

TEST_CASE("an empty delta is small and changes nothing") {
  Place server(first_file(kinds()[0]));
  Place edge(server.state());
  server->track();

  const Bytes delta = server->take_delta();
  edge->apply_delta(delta);

  CHECK(delta.size() < 120);
  CHECK(edge.state() == server.state());
}

TEST_CASE("changes that are not recorded make no delta") {
  Place server(first_file(kinds()[0]));
  CHECK(reason_of([&] { server->take_delta(); }) == "wrong state");

  server->track();
  server->remove(Ids{3});
  server->compact(1);

  CHECK(reason_of([&] { server->take_delta(); }) == "wrong state");
  server->track();
  CHECK(reason_of([&] { server->take_delta(); }) == "none");
}

TEST_CASE("a compaction that changes nothing does not end the recording") {
  Place server(first_file(kinds()[0]));
  server->track();
  server->compact(1);

  CHECK(reason_of([&] { server->take_delta(); }) == "none");
}

TEST_CASE("track goes on with what it recorded") {
  Place server(first_file(kinds()[0]));
  Place edge(server.state());
  server->track();
  server->remove(Ids{3});

  server->track();
  edge->apply_delta(server->take_delta());

  CHECK(edge.state() == server.state());
}

TEST_CASE("hot vectors are not sent") {
  World all(200);
  const auto index = build_small(all, small_options(all, Keep::kHot, GraphKind::kNone));

  CHECK(reason_of([&] { index->track(); }) == "wrong state");
}

Bytes some_delta(Place& server) {
  server->track();
  server->remove(Ids{1, 2, 3});
  server->add(Ids{1000, 1001}, world().vector(300), nullptr);
  return server->take_delta();
}

TEST_CASE("a delta is taken only by an index that it fits, and changes no other") {
  Place server(first_file(kinds()[0]));
  Place edge(server.state());
  Place other(first_file(kinds()[3]));
  const Bytes delta = some_delta(server);
  const auto refuses = [&](Place& place, const Bytes& bytes) {
    const Bytes before = place.state();
    const std::string reason = reason_of([&] { place->apply_delta(bytes); });
    CHECK(place.state() == before);
    return reason;
  };

  CHECK(refuses(server, delta) == "wrong state");
  CHECK(refuses(other, delta) == "wrong state");
  edge->apply_delta(delta);
  CHECK(refuses(edge, delta) == "wrong state");
}

TEST_CASE("an id that is in use is given to no second vector") {
  Place server(first_file({"codes", Keep::kNone, GraphKind::kNone, Scalar::kF32, false}));
  Place edge(server.state());
  server->track();
  server->remove(Ids{5});
  server->add(Ids{300}, world().vector(300), nullptr);
  IndexDelta delta = unpack_index_delta(server->take_delta());
  delta.slots[0].id = 7;

  CHECK(reason_of([&] { edge->apply_delta(pack_delta(delta)); }) == "wrong state");
}

TEST_CASE("vectors that are not numbers are refused") {
  Place server(first_file({"slim", Keep::kAll, GraphKind::kSlim, Scalar::kF32, false}));
  Place edge(server.state());
  IndexDelta delta = unpack_index_delta(some_delta(server));
  std::fill_n(delta.rows.begin(), 4, std::uint8_t{0xff});
  const Bytes before = edge.state();

  CHECK(reason_of([&] { edge->apply_delta(pack_delta(delta)); }) == "damaged");
  CHECK(edge.state() == before);
}

TEST_CASE("a delta that was changed on its way is refused") {
  Place server(first_file(kinds()[0]));
  Place edge(server.state());
  const Bytes delta = some_delta(server);
  const Bytes before = edge.state();

  for (std::size_t size = 0; size < delta.size(); ++size) {
    const Bytes cut(delta.begin(), delta.begin() + static_cast<std::ptrdiff_t>(size));
    REQUIRE(reason_of([&] { edge->apply_delta(cut); }) == "damaged");
  }
  for (std::size_t i = 12; i < delta.size(); ++i) {
    Bytes wrong = delta;
    wrong[i] ^= 1;
    REQUIRE(reason_of([&] { edge->apply_delta(wrong); }) == "damaged");
  }
  CHECK(edge.state() == before);
}

TEST_CASE("a later release's delta is refused by its version") {
  Place server(first_file(kinds()[0]));
  Bytes delta = some_delta(server);
  delta[8] = 2;

  CHECK(reason_of([&] { unpack_index_delta(delta); }) == "unknown version");
}

TEST_CASE("deltas of other indexes, or out of order, are not joined") {
  Place server(first_file(kinds()[0]));
  Place other(first_file(kinds()[3]));
  const Bytes first = some_delta(server);
  server->remove(Ids{1000});
  const Bytes second = server->take_delta();

  CHECK(reason_of([&] { join({second, first}); }) == "wrong state");
  CHECK(reason_of([&] { join({second, second}); }) == "wrong state");
  CHECK(reason_of([&] { join({first, some_delta(other)}); }) == "wrong state");
  CHECK(reason_of([&] { join({}); }) == "empty");
}

TEST_CASE("the parts of a delta add up to its length") {
  Place server(first_file({"f16", Keep::kAll, GraphKind::kSlim, Scalar::kF16, true}));
  const Bytes delta = some_delta(server);

  const DeltaBytes parts = measure_delta(delta);

  CHECK(parts.vectors == 2 * 2 * world().dim);
  CHECK(parts.codes == 2 * world().codebook->code_bytes());
  CHECK(parts.graph + parts.nodes + parts.codes + parts.vectors == delta.size());
}

TEST_CASE("a search does not outlive a delta") {
  Place server(first_file(kinds()[0]));
  Place edge(server.state());
  const Bytes delta = some_delta(server);
  SearchBatch search(*edge, world().query(0), 1, request_of(3, Strategy::kExact));

  edge->apply_delta(delta);

  CHECK(reason_of([&] { search.nearest(0); }) == "wrong state");
}

TEST_CASE("ids that lie far apart arrive as they were") {
  Place server(first_file({"codes", Keep::kNone, GraphKind::kNone, Scalar::kF32, false}));
  Place edge(server.state());
  server->track();
  server->add(Ids{kMaxId, 1000, kMaxId - 1, 201}, world().vector(300), nullptr);

  edge->apply_delta(server->take_delta());

  CHECK(edge->ids() == server->ids());
  CHECK(edge->contains(kMaxId));
  CHECK(edge.state() == server.state());
}

}  // namespace
}  // namespace gossamer
