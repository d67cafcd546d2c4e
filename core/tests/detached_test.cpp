#include <doctest/doctest.h>

#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

// A file that keeps all vectors, and what a host that leaves them outside does with it.
struct Detached {
  explicit Detached(Bytes bytes) : file(std::move(bytes)), whole(Container::parse(file)) {}

  std::unique_ptr<Index> open(std::size_t resident_bytes) const {
    Container container = Container::parse_head(ByteView(file).first(1024), file.size());
    for (const Container::Entry& entry : whole.entries()) {
      if (entry.kind != SectionKind::kVectors) container.attach(entry.kind, entry.bytes);
    }
    return Index::open(std::move(container), nullptr, resident_bytes);
  }
  ByteView row(const Index& index, NodeId node) const {
    const std::size_t row_bytes = index.space().row_bytes();
    return whole.bytes(SectionKind::kVectors).subspan(node * row_bytes, row_bytes);
  }
  void fill_slot(const Index& index, std::size_t slot, NodeId node) const {
    const ByteView bytes = row(index, node);
    std::copy(bytes.begin(), bytes.end(), index.resident()->bytes_of(slot));
    index.resident()->place(slot, node);
  }

  Bytes file;
  Container whole;
};

// Supplies rows from outside; the first of each round go into slots, in turn, as a host does.
Outcome run_outside(const Detached& detached, const Index& index, const float* query,
                    SearchRequest request) {
  SearchBatch search(index, query, 1, std::move(request));
  Outcome outcome;
  std::size_t slot = 0;
  while (!search.wanted_nodes().empty()) {
    outcome.rounds.push_back(search.wanted());
    Bytes others;
    std::size_t placed = 0;  // none twice in a round
    for (const NodeId node : search.wanted_nodes()) {
      if (index.is_detached() && placed < index.resident()->capacity()) {
        detached.fill_slot(index, slot++ % index.resident()->capacity(), node);
        ++placed;
      } else {
        const ByteView bytes = detached.row(index, node);
        others.insert(others.end(), bytes.begin(), bytes.end());
      }
    }
    search.supply_rows(others);
  }
  for (const SearchHit& hit : search.nearest(0)) {
    outcome.hits.push_back(hit.id);
    outcome.distances.push_back(hit.distance);
  }
  outcome.counters = search.counters();
  return outcome;
}

Bytes file_of(const World& world, GraphKind graph, Scalar scalar, bool has_codes = true) {
  IndexOptions options = small_options(world, Keep::kAll, graph);
  options.scalar = scalar;
  BuildRun run;
  run.calibration_queries = 60;
  const auto index =
      Index::build(options, has_codes ? world.codebook : nullptr, world.vectors.data(),
                   world.count(), nullptr, nullptr, 0, run, nullptr);
  index->remove(Ids{3, 8, 20});
  index->add(Ids{5000}, world.vector(3), nullptr);
  return saved(*index);
}

Effort narrow_effort() {
  Effort effort;
  effort.beam = 24;
  return effort;
}

}  // namespace

TEST_CASE("a detached index answers as the same index in memory, however much is resident") {
  const World world(400);
  for (const Scalar scalar : {Scalar::kF32, Scalar::kF16, Scalar::kI8}) {
    const Detached detached(file_of(world, GraphKind::kFull, scalar));
    const auto whole = Index::open(detached.file, nullptr);
    for (const Strategy strategy : kStrategies) {
      for (const std::size_t share : {100, 50, 20, 0}) {
        const std::size_t rows = whole->node_count() * share / 100;
        const auto index = detached.open(rows * whole->space().row_bytes());
        REQUIRE(index->is_detached());
        REQUIRE(index->resident()->capacity() == rows);
        for (std::size_t slot = 0; slot < rows; ++slot) {
          detached.fill_slot(*index, slot, static_cast<NodeId>(slot));
        }
        const Effort effort = strategy == Strategy::kLazy ? full_effort() : narrow_effort();
        for (std::size_t q = 0; q < 12; ++q) {
          const SearchRequest request = request_of(5, strategy, effort);

          const Outcome outside = run_outside(detached, *index, world.query(q), request);
          const Outcome inside = run_outside(detached, *whole, world.query(q), request);

          CAPTURE(strategy_name(strategy));
          CAPTURE(share);
          CHECK(outside.hits == inside.hits);
          CHECK(outside.distances == inside.distances);
          CHECK((share < 100 || outside.rounds.empty()));
        }
      }
    }
  }
}

TEST_CASE("what a detached index chooses by itself reaches the recall asked for") {
  const World world(3000);
  for (const bool has_codes : {true, false}) {
    const Detached detached(file_of(world, GraphKind::kFull, Scalar::kF32, has_codes));
    const auto whole = Index::open(detached.file, nullptr);
    const auto index = detached.open(whole->node_count() / 5 * whole->space().row_bytes());
    SearchRequest request;
    request.recall = 0.95;
    std::size_t found = 0;
    std::size_t asked = 0;
    for (std::size_t q = 0; q < 40; ++q) {
      const Outcome outcome = run_outside(detached, *index, world.query(q), request);
      const Outcome truth =
          run_outside(detached, *whole, world.query(q), request_of(10, Strategy::kExact));
      for (const std::uint64_t id : truth.hits) {
        found += static_cast<std::size_t>(std::count(outcome.hits.begin(), outcome.hits.end(), id));
      }
      asked += outcome.wanted_count();
    }

    CHECK(found >= 380);
    CHECK(asked < 40 * world.count() / 8);
  }
}

TEST_CASE("a walk by codes that was not calibrated reaches the recall of what was") {
  const World world(3000);
  const Detached detached(file_of(world, GraphKind::kFull, Scalar::kF32));
  const auto whole = Index::open(detached.file, nullptr);
  const auto index = detached.open(0);
  SearchRequest request;
  request.recall = 0.95;
  request.strategy = Strategy::kWalk;
  std::size_t found = 0;
  for (std::size_t q = 0; q < 40; ++q) {
    const Outcome outcome = run_outside(detached, *index, world.query(q), request);
    const Outcome truth =
        run_outside(detached, *whole, world.query(q), request_of(10, Strategy::kExact));
    for (const std::uint64_t id : truth.hits) {
      found += static_cast<std::size_t>(std::count(outcome.hits.begin(), outcome.hits.end(), id));
    }
  }

  CHECK(found >= 380);
}

TEST_CASE("a detached index walks by vectors once most of them are in memory") {
  const World world(3000);
  const Detached detached(file_of(world, GraphKind::kFull, Scalar::kF32));
  const auto index = detached.open(detached.file.size());
  const auto chosen = [&] { return SearchBatch(*index, world.query(0), 1, {}).strategy(); };

  CHECK(chosen() == Strategy::kScan);
  for (NodeId node = 0; node < 2700; ++node) detached.fill_slot(*index, node, node);
  CHECK(chosen() == Strategy::kLazy);
}

TEST_CASE("vectors that cannot be had are walked around, with codes and without") {
  const World world(300);
  for (const bool has_codes : {true, false}) {
    const Detached detached(file_of(world, GraphKind::kFull, Scalar::kF32, has_codes));
    const auto index = detached.open(0);
    for (const Strategy strategy : {Strategy::kBestFirst, Strategy::kLazy, Strategy::kExact}) {
      SearchBatch search(*index, world.query(0), 1, request_of(5, strategy));
      while (!search.wanted_nodes().empty()) {
        const std::size_t count = search.wanted_nodes().size();
        const auto missing = std::make_unique<bool[]>(count);
        for (std::size_t i = 0; i < count; ++i) {
          missing[i] = search.wanted_nodes()[i] % 2 == 1;
        }
        Bytes rows;
        for (const NodeId node : search.wanted_nodes()) {
          const ByteView row = detached.row(*index, node);
          rows.insert(rows.end(), row.begin(), row.end());
        }
        search.supply_rows(rows, {missing.get(), count});
      }

      CHECK(search.nearest(0).size() == 5);
    }
  }
}

TEST_CASE("lazy loading stops for what is missing only when it has to") {
  const World world(2000);
  const Detached detached(file_of(world, GraphKind::kFull, Scalar::kF32));
  const auto index = detached.open(0);
  std::size_t lazy = 0;
  std::size_t eager = 0;
  for (std::size_t q = 0; q < 10; ++q) {
    for (const Ids& round : run_outside(detached, *index, world.query(q),
                                        request_of(5, Strategy::kLazy, narrow_effort()))
                                .rounds) {
      // One more list than `beam` at most was read before the walk stopped.
      CHECK(round.size() <= 24 + 2 * 8 + 1);
      ++lazy;
    }
    eager += run_outside(detached, *index, world.query(q),
                         request_of(5, Strategy::kBestFirst, narrow_effort()))
                 .rounds.size();
  }

  CHECK(lazy < eager);
}

TEST_CASE("a detached index cannot be changed, saved or read from, and says why") {
  const World world(60);
  const Detached detached(file_of(world, GraphKind::kSlim, Scalar::kF32));
  const auto index = detached.open(0);

  CHECK(reason_of([&] { saved(*index); }) == "wrong state");
  CHECK(reason_of([&] { index->add(Ids{900}, world.vector(0), nullptr); }) == "wrong state");
  CHECK(reason_of([&] { index->remove(Ids{1}); }) == "wrong state");
  CHECK(reason_of([&] { index->compact(1); }) == "wrong state");
  CHECK(reason_of([&] { index->vectors_of(Ids{1}); }) == "wrong state");
  CHECK(reason_of([&] { index->track(); }) == "wrong state");
  CHECK(reason_of([&] { index->apply_delta({}); }) == "wrong state");
  CHECK(reason_of([&] { index->begin_add(Ids{900}, world.vector(0)); }) == "wrong state");
  CHECK(reason_of([&] { index->recalibrate(nullptr, 0, {}, nullptr); }) == "wrong state");
  index->verify();
}

TEST_CASE("sections are attached with the length that the table says") {
  const World world(60);
  const Detached detached(file_of(world, GraphKind::kFull, Scalar::kF32));
  Container container =
      Container::parse_head(ByteView(detached.file).first(1024), detached.file.size());
  const ByteView codes = detached.whole.bytes(SectionKind::kCodes);

  CHECK(container.lists(SectionKind::kCodes));
  CHECK_FALSE(container.has(SectionKind::kCodes));
  CHECK(container.length_of(SectionKind::kCodes) == codes.size());
  const auto attach = [&](SectionKind kind, ByteView bytes) {
    return reason_of([&] { container.attach(kind, bytes); });
  };
  CHECK(attach(SectionKind::kCodes, codes.first(codes.size() - 1)) == "truncated");
  CHECK(attach(SectionKind::kMeta, codes) == "damaged");
  CHECK(attach(SectionKind::kHotNodes, {}) == "invalid argument");
  CHECK(attach(SectionKind::kCodes, codes) == "none");
  CHECK(container.verified(SectionKind::kCodes).size() == codes.size());
}

TEST_CASE("an index opens without what a search does not read, and not without the rest") {
  const World world(60);
  const Detached detached(file_of(world, GraphKind::kFull, Scalar::kF32));
  const auto open_without = [&](SectionKind left_out, std::optional<std::size_t> resident) {
    Container container =
        Container::parse_head(ByteView(detached.file).first(1024), detached.file.size());
    for (const Container::Entry& entry : detached.whole.entries()) {
      if (entry.kind != left_out) container.attach(entry.kind, entry.bytes);
    }
    return Index::open(std::move(container), world.codebook, resident);
  };
  const auto reason = [&](SectionKind left_out) {
    return reason_of([&] { open_without(left_out, std::nullopt); });
  };

  CHECK(reason(SectionKind::kVectors) == "invalid argument");
  CHECK(reason(SectionKind::kCodes) == "invalid argument");
  CHECK(reason(SectionKind::kIds) == "invalid argument");
  CHECK(reason(SectionKind::kMeta) == "damaged");
  CHECK(reason(SectionKind::kCodebook) == "none");
  const auto index = open_without(SectionKind::kGraph, 0);
  CHECK(SearchBatch(*index, world.query(0), 1, {}).strategy() == Strategy::kScan);
  CHECK(reason_of([&] {
          SearchBatch(*index, world.query(0), 1, request_of(3, Strategy::kLazy));
        }) == "wrong state");
  index->verify();
}

TEST_CASE("every start of a file that is too short for its table is refused") {
  const World world(30);
  const Bytes file = file_of(world, GraphKind::kNone, Scalar::kF32);
  const std::size_t table_end = kHeaderBytes + file[12] * kEntryBytes;
  for (std::size_t size = 0; size < table_end; ++size) {
    CHECK(reason_of([&] { Container::parse_head(ByteView(file).first(size), file.size()); }) ==
          "truncated");
  }
  CHECK(reason_of([&] { Container::parse_head(file, file.size() + 1); }) == "damaged");
  CHECK(reason_of([&] { Container::parse_head(file, file.size() - 1); }) == "truncated");
}

TEST_CASE("resident rows say whose they are, whatever was placed, forgotten or resized") {
  ResidentRows rows(4, 10, 3);
  const auto fill = [&](std::size_t slot, NodeId node) {
    std::fill_n(rows.bytes_of(slot), 4, static_cast<std::uint8_t>(node));
    rows.place(slot, node);
  };
  fill(0, 7);
  fill(1, 8);
  rows.begin_search();
  fill(0, 9);
  fill(2, 8);

  CHECK(rows.find(7) == nullptr);
  CHECK(rows.find(9)[3] == 9);
  CHECK(rows.slot_of(8) == 2);
  CHECK(rows.node_at(1) == kNoNode);
  CHECK(rows.used() == 2);
  CHECK(rows.stamps()[0] == 1);
  CHECK(reason_of([&] { rows.place(3, 1); }) == "invalid argument");
  CHECK(reason_of([&] { rows.place(0, 10); }) == "invalid argument");

  rows.resize(1);
  CHECK(rows.find(8) == nullptr);
  CHECK(rows.find(9)[0] == 9);
  CHECK(rows.used() == 1);
  rows.resize(100);
  CHECK(rows.capacity() == 10);
  CHECK(rows.find(9)[0] == 9);
  rows.forget(0);
  CHECK(rows.find(9) == nullptr);
  CHECK(rows.used() == 0);
}

TEST_CASE("rows that stay are neither moved nor changed when there are more slots or fewer") {
  constexpr std::size_t kRowBytes = 1000;
  ResidentRows rows(kRowBytes, 5000, 10);
  const auto fill = [&](std::size_t slot) {
    std::fill_n(rows.bytes_of(slot), kRowBytes, static_cast<std::uint8_t>(slot % 251));
    rows.place(slot, static_cast<NodeId>(slot));
  };
  const auto check = [&](std::size_t count) {
    for (std::size_t slot = 0; slot < count; ++slot) {
      const Row row = rows.find(static_cast<NodeId>(slot));
      REQUIRE(row != nullptr);
      const bool is_same = std::all_of(row, row + kRowBytes, [&](std::uint8_t byte) {
        return byte == static_cast<std::uint8_t>(slot % 251);
      });
      REQUIRE(is_same);
    }
  };
  rows.resize(3000);
  for (std::size_t slot = 0; slot < 3000; ++slot) fill(slot);
  const std::uint8_t* first = rows.bytes_of(0);
  rows.resize(5000);
  CHECK(rows.bytes_of(0) == first);
  for (std::size_t slot = 3000; slot < 5000; ++slot) fill(slot);

  check(5000);
  rows.resize(1500);
  check(1500);
  CHECK(rows.bytes_of(0) == first);
  CHECK(rows.find(1500) == nullptr);
  CHECK(rows.memory_bytes() == 1500 * kRowBytes + 4 * (5000 + 2 * 1500));
  rows.resize(0);
  CHECK(rows.block_count() == 0);
  rows.resize(7);
  CHECK(rows.used() == 0);
}
