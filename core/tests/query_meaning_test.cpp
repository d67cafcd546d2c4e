#include <doctest/doctest.h>

#include <limits>

#include "index_fixture.h"
#include "query/meaning.h"
#include "query/needs.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

const std::string kQuestion = "word3 word4 word5";

// A search over a library, and a host that gives it what it wants.
struct Meaning {
  explicit Meaning(const Library& searched, const std::string& asked = kQuestion)
      : library(searched),
        collection(searched.catalogue(), {kFolder}),
        host(searched),
        index(searched.index()),
        reader(collection),
        search(*index, reader, vector_of(asked), {}) {
    query.k = 3;
    query.mode = QueryMode::kSemantic;
  }

  void begin() { search.begin(query, scope); }
  // Everything is embedded, but for what `states` say of.
  void supply_vectors() {
    const Ids ids(search.wanted().begin(), search.wanted().end());
    wanted.insert(wanted.end(), ids.begin(), ids.end());
    std::vector<Supplied> said;
    for (const std::uint64_t id : ids) {
      const auto known = states.find(id);
      said.push_back(known != states.end() ? known->second
                     : search.is_away()    ? otherwise_away
                                           : otherwise);
    }
    search.supply(said, host.vectors_of(ids));
  }
  void supply_texts() {
    NeedsWriter needs;
    needs.texts(reader.texts());
    const JsonTree documents = at(read_back(needs.take()).items.at(0), "documents");
    reader.supply_texts(host.read(documents).views());
    if (reader.is_over()) search.take_texts();
  }
  void supply_embeddings() {
    const Ids ids(search.to_embed().begin(), search.to_embed().end());
    for (std::size_t i = 0; i < ids.size(); ++i)
      CHECK(search.texts()[i] == library.written.at(ids[i]).embedded);
    embedded.insert(embedded.end(), ids.begin(), ids.end());
    search.supply_embeddings(host.vectors_of(ids), {});
  }
  void run() {
    for (; search.stage() != MeaningSearch::Stage::kOver; ++steps) {
      if (search.stage() == MeaningSearch::Stage::kVectors) supply_vectors();
      if (search.stage() == MeaningSearch::Stage::kTexts) supply_texts();
      if (search.stage() == MeaningSearch::Stage::kEmbeddings) supply_embeddings();
    }
  }
  // The truth.
  Ids nearest(const std::string& question, std::size_t k) const {
    Model model(kWordDim, Metric::kL2);
    for (const std::uint64_t id : collection.catalogue().ids())
      model.add(id, vector_of(library.written.at(id).embedded).data());
    return model.nearest_ids(vector_of(question).data(), k);
  }
  Ids found() const { return {search.ids().begin(), search.ids().end()}; }

  const Library& library;
  Collection collection;
  QueryHost host;
  std::unique_ptr<Index> index;
  PassageReader reader;
  MeaningSearch search;
  Query query;
  Scope scope;
  std::map<std::uint64_t, Supplied> states;
  Supplied otherwise = Supplied::kEmbed, otherwise_away = Supplied::kMissing;
  Ids wanted, embedded;
  int steps = 0;
};

bool has_no_duplicates(Ids ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

}  // namespace

TEST_CASE("the nearest chunks are embedded again, each once, and ranked by their distance") {
  const LargeLibrary library;
  Meaning meaning(library);

  meaning.begin();
  meaning.run();

  CHECK(meaning.found() == meaning.nearest(kQuestion, 3));
  CHECK(meaning.embedded.size() >= 3);
  CHECK(meaning.embedded.size() < library.catalogue()->counts().chunks);
  CHECK(has_no_duplicates(meaning.embedded));
  CHECK(meaning.search.counters().rounds >= 1);
  CHECK(meaning.search.strategy() == "scan");
  float before = 0;
  for (const std::uint64_t id : meaning.found()) {
    REQUIRE(meaning.search.distance_of(id));
    CHECK(before <= *meaning.search.distance_of(id));
    before = *meaning.search.distance_of(id);
  }
  CHECK(!meaning.search.distance_of(99999));
}

TEST_CASE("vectors at hand are not embedded again") {
  const LargeLibrary library;
  Meaning meaning(library);
  meaning.otherwise = Supplied::kGiven;

  meaning.begin();
  meaning.run();

  CHECK(meaning.found() == meaning.nearest(kQuestion, 3));
  CHECK(meaning.embedded.empty());
}

TEST_CASE("a ranking with words goes on below the k-th, by the codes that were scanned") {
  const LargeLibrary library;
  Meaning meaning(library);
  meaning.query.mode = QueryMode::kHybrid;
  meaning.query.reranks = false;

  meaning.begin();
  meaning.run();

  const Ids found = meaning.found();
  const std::size_t all = library.catalogue()->counts().chunks;
  CHECK(found.size() == std::min<std::size_t>(all, 103));
  CHECK(has_no_duplicates(found));
  CHECK(Ids(found.begin(), found.begin() + 3) == meaning.nearest(kQuestion, 3));
  CHECK(!meaning.search.distance_of(found[3]));
  CHECK(meaning.search.counters().codes_touched == all);
}

TEST_CASE("what is missing is never a hit, and others take its place") {
  const LargeLibrary library;
  Meaning meaning(library);
  const Ids nearest = meaning.nearest(kQuestion, 5);
  meaning.states = {{nearest[0], Supplied::kMissing}, {nearest[2], Supplied::kMissing}};

  meaning.begin();
  meaning.run();

  CHECK(meaning.found() == Ids{nearest[1], nearest[3], nearest[4]});
  CHECK(meaning.search.out_of_reach() == 0);
}

TEST_CASE("a search begins again with the vectors that it knows") {
  const LargeLibrary library;
  Meaning meaning(library);
  const Ids nearest = meaning.nearest(kQuestion, 4);
  meaning.begin();
  meaning.run();
  const Ids before = meaning.embedded;

  meaning.scope.excluded = {nearest[0]};
  meaning.begin();
  meaning.run();

  CHECK(meaning.found() == Ids{nearest[1], nearest[2], nearest[3]});
  CHECK(has_no_duplicates(meaning.embedded));
  CHECK(meaning.embedded.size() < before.size() + 30);
}

TEST_CASE("stale sources, excluded chunks and filters are left out, together and alone") {
  const LargeLibrary library;
  Meaning meaning(library);
  const Ids nearest = meaning.nearest(kQuestion, 1);
  const std::size_t row = library.catalogue()->chunk(nearest[0]).document_row;
  const std::size_t source = library.catalogue()->source_of(row);
  Scope stale, filtered, nothing;
  stale.stale = {source};
  auto allowed = std::make_shared<Allowed>(library.catalogue()->counts().documents, true);
  (*allowed)[row] = false;
  filtered.allowed = allowed;
  filtered.excluded = {meaning.nearest(kQuestion, 9)[8]};

  for (const Scope& scope : {stale, filtered}) {
    meaning.scope = scope;
    meaning.query.k = 20;
    meaning.begin();
    meaning.run();
    CHECK(meaning.found().size() == 20);
    for (const std::uint64_t id : meaning.found()) {
      CHECK(library.catalogue()->chunk(id).document_row != row);
      CHECK(!scope.excluded.contains(id));
    }
  }
  nothing.allowed = std::make_shared<Allowed>(library.catalogue()->counts().documents);
  meaning.scope = nothing;
  meaning.begin();
  CHECK(meaning.search.stage() == MeaningSearch::Stage::kOver);
  CHECK(meaning.found().empty());
}

TEST_CASE("texts that a server keeps are embedded there, and missed where it does not answer") {
  const SmallLibrary library;
  const std::uint64_t away = library.id_of("away");
  Meaning meaning(library, "Nobody drinks tea there");
  meaning.query.k = 4;
  meaning.otherwise_away = Supplied::kGiven;

  meaning.begin();
  meaning.run();
  CHECK(meaning.found()[0] == away + 1);
  CHECK(meaning.search.out_of_reach() == 0);
  CHECK(std::count(meaning.embedded.begin(), meaning.embedded.end(), away + 1) == 0);

  Meaning cut(library, "Nobody drinks tea there");
  cut.query.k = 12;
  cut.otherwise_away = Supplied::kOutOfReach;
  cut.begin();
  cut.run();
  CHECK(cut.search.out_of_reach() == 2);
  CHECK(!cut.search.distance_of(away + 1));
  // By its code it is among them all the same.
  CHECK(std::count(cut.search.ids().begin(), cut.search.ids().end(), away + 1) == 1);
  cut.begin();
  cut.run();
  CHECK(cut.search.out_of_reach() == 2);
}

TEST_CASE("a search of which too much is out of reach ends") {
  const LargeLibrary library;
  Meaning meaning(library);
  meaning.otherwise = Supplied::kOutOfReach;

  meaning.begin();
  const std::size_t first = meaning.search.wanted().size();
  meaning.run();

  CHECK(meaning.steps == 1);
  CHECK(meaning.search.out_of_reach() == first);
  CHECK(meaning.found().size() > 3);
  CHECK(!meaning.search.distance_of(meaning.found()[0]));
}

TEST_CASE("vectors that are wrong are refused, and right ones may come afterwards") {
  const LargeLibrary library;
  Meaning meaning(library);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> question(kWordDim, nan);
  const auto begin = [&](std::span<const float> vector) {
    MeaningSearch search(*meaning.index, meaning.reader, vector, {});
    search.begin(meaning.query, meaning.scope);
  };
  CHECK(reason_of([&] { begin({}); }) == "wrong dimension");
  CHECK(reason_of([&] { begin(question); }) == "not finite");
  meaning.begin();

  const Ids wanted(meaning.search.wanted().begin(), meaning.search.wanted().end());
  std::vector<float> rows = meaning.host.vectors_of(wanted), spoilt = rows;
  spoilt[5] = nan;
  const std::vector<Supplied> given(wanted.size(), Supplied::kGiven);
  const auto supply = [&](std::span<const Supplied> states, std::span<const float> vectors) {
    return reason_of([&] { meaning.search.supply(states, vectors); });
  };
  CHECK(supply(given, spoilt) == "not finite");
  CHECK(supply(std::span(given).first(1), rows) == "invalid argument");
  CHECK(supply(given, std::span(rows).first(rows.size() - 1)) == "invalid argument");
  CHECK(supply({}, {}) == "invalid argument");
  CHECK(reason_of([&] { meaning.search.supply_embeddings(rows, {}); }) == "wrong state");
  CHECK(reason_of([&] { meaning.search.search(); }) == "wrong state");
  CHECK(reason_of([&] { meaning.search.finish_rows(); }) == "wrong state");
  meaning.supply_vectors();
  meaning.supply_texts();

  const Ids to_embed(meaning.search.to_embed().begin(), meaning.search.to_embed().end());
  rows = meaning.host.vectors_of(to_embed);
  spoilt = rows;
  spoilt.back() = -std::numeric_limits<float>::infinity();
  CHECK(reason_of([&] { meaning.search.supply_embeddings(spoilt, {}); }) == "not finite");
  CHECK(reason_of([&] { meaning.search.supply_embeddings(std::span(rows).subspan(1), {}); }) ==
        "invalid argument");
  CHECK(supply(given, rows) == "wrong state");
  meaning.run();
  CHECK(meaning.found() == meaning.nearest(kQuestion, 3));
  CHECK(reason_of([&] { meaning.search.supply_embeddings({}, {}); }) == "wrong state");
}

TEST_CASE("where vectors are stored beside the index, the host supplies the search itself") {
  const LargeLibrary library;
  const Bytes file = saved(*library.index(Keep::kAll));
  const Container whole = Container::parse(file);
  Container head = Container::parse_head(ByteView(file).first(1024), file.size());
  for (const Container::Entry& entry : whole.entries())
    if (entry.kind != SectionKind::kVectors) head.attach(entry.kind, entry.bytes);
  const auto detached = Index::open(std::move(head), nullptr, 0);
  Meaning meaning(library);
  MeaningSearch search(*detached, meaning.reader, vector_of(kQuestion), {});

  search.begin(meaning.query, meaning.scope);
  REQUIRE(search.stage() == MeaningSearch::Stage::kRows);
  CHECK(reason_of([&] { search.supply({}, {}); }) == "wrong state");
  while (!search.search().wanted().empty()) {
    CHECK(reason_of([&] { search.finish_rows(); }) == "wrong state");
    search.search().supply(meaning.host.vectors_of(search.search().wanted()));
  }
  search.finish_rows();

  CHECK(Ids(search.ids().begin(), search.ids().end()) == meaning.nearest(kQuestion, 3));
  CHECK(reason_of([&] { search.finish_rows(); }) == "wrong state");
  meaning.query.reads_rows = false;
  search.begin(meaning.query, meaning.scope);
  CHECK(search.stage() == MeaningSearch::Stage::kVectors);
}
