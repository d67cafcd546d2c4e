// Questions whose best chunks of both rankings are ranked again, by vectors of tokens too.

#include <doctest/doctest.h>

#include <limits>

#include "index_fixture.h"
#include "query/session.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

const std::string kQuestion = "word3 word4 word5";

// A question of a library, in steps.
template <class Held>
struct Steps : Asked<Held> {
  explicit Steps(const std::string& question = kQuestion, std::size_t k = 5) {
    query = query_of(question, QueryMode::kHybrid, k);
    this->host.question = question;
  }
  void begin() { session.emplace(this->collection, true, query); }
  // Supplies what is needed until that is the first need; false if it never is.
  bool go_on_to(const std::string& name) {
    for (JsonTree needs = this->needs(); !needs.items.empty(); needs = this->needs()) {
      if (at(needs.items[0], "need").text == name) return true;
      this->host.supply(*session, needs.items[0]);
    }
    return false;
  }
  JsonTree needs() const { return read_back(session->needs()); }
  JsonTree need() const { return this->needs().items.at(0); }

  Query query;
  std::optional<QuerySession> session;
};

bool wants_tokens(const JsonTree& need) { return at(need, "tokens").integer != 0; }

// Of all chunks, whose vectors it keeps.
std::unique_ptr<Index> index_without_codes(const QueryHost& host, const Collection& collection,
                                           Metric metric) {
  const Ids ids = collection.catalogue().ids();
  const std::vector<float> vectors = host.vectors_of(ids);
  IndexOptions options;
  options.dim = kWordDim;
  options.metric = metric;
  options.keep = Keep::kAll;
  options.scalar = Scalar::kF32;
  options.graph = GraphKind::kNone;
  BuildRun run;
  run.calibration_queries = 0;
  run.threads = 1;
  return Index::build(options, nullptr, vectors.data(), ids.size(), ids.data(), nullptr, 0, run,
                      nullptr);
}

}  // namespace

TEST_CASE("as many are ranked again as an answer needs") {
  Query query;
  for (const auto& [k, count] : std::initializer_list<std::pair<std::size_t, std::size_t>>{
           {1, 10}, {5, 10}, {10, 14}, {20, 24}, {100, 24}, {~std::size_t{0}, 24}}) {
    query.k = k;
    CHECK(query.candidates() == count);
  }
  CHECK(query.reranks_best());
  query.mode = QueryMode::kSemantic;
  CHECK(!query.reranks_best());
}

TEST_CASE("a query says whether it ranks again") {
  CHECK(Query::read(R"({})").reranks);
  CHECK(!Query::read(R"({})").recall);
  CHECK(!Query::read(R"({"reranks": false})").reranks);
  CHECK(Query::read(R"({"recall": 1})").recall == 1);
  CHECK(reason_of([] { Query::read(R"({"reranks": 1})"); }) == "invalid argument");
}

TEST_CASE("the best of both rankings are embedded in one round, with their tokens") {
  Steps<LargeLibrary> asked;
  asked.begin();

  REQUIRE(asked.go_on_to("vectors"));
  CHECK(wants_tokens(asked.need()));
  const Ids wanted = ids_in(asked.need());
  const JsonTree answer = asked.host.run(*asked.session);

  CHECK(wanted.size() >= 10);
  CHECK(wanted.size() <= 20);
  CHECK(asked.host.asked["vectors"] == 1);
  CHECK(asked.host.asked["embeddings"] == 1);
  CHECK(explained(answer, "candidates") == static_cast<std::int64_t>(wanted.size()));
  CHECK(explained(answer, "rounds") == 1);
  CHECK(hit_ids(answer).size() == 5);
  for (const JsonTree& hit : at(answer, "hits").items) {
    CHECK(at(hit, "tokens").is(JsonTree::Kind::kReal));
    CHECK(at(hit, "distance").is(JsonTree::Kind::kReal));
  }
}

TEST_CASE("a chunk whose tokens match comes to the front") {
  for (const std::size_t place : {0u, 3u, 7u}) {
    Steps<LargeLibrary> asked;
    asked.begin();
    REQUIRE(asked.go_on_to("embeddings"));
    REQUIRE(wants_tokens(asked.need()));
    const Ids ids = ids_in(asked.need());
    const std::uint64_t chosen = ids.at(place);
    const std::vector<float> matching = word_vectors_of(kQuestion).rows;
    std::vector<float> rows;
    std::vector<std::uint32_t> counts;
    for (const std::uint64_t id : ids) {
      for (const float value : matching) rows.push_back(id == chosen ? value : -value);
      counts.push_back(3);
    }
    // All are equally far, so that words and tokens tell.
    std::vector<float> vectors;
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (const float value : vector_of(kQuestion)) vectors.push_back(value);
    asked.session->supply_embeddings(vectors, {rows, counts});

    const JsonTree answer = asked.host.run(*asked.session);

    CHECK(hit_ids(answer)[0] == chosen);
    CHECK(at(hit_of(answer, 0), "tokens").real == doctest::Approx(1).epsilon(1e-5));
    CHECK(at(hit_of(answer, 1), "tokens").real < 0.9);
    CHECK(at(hit_of(answer, 0), "distance").real == doctest::Approx(0).epsilon(1e-5));
  }
}

TEST_CASE("where a model gives no tokens, distances and words rank") {
  Steps<LargeLibrary> asked;
  asked.host.gives_tokens = false;
  asked.begin();

  REQUIRE(asked.go_on_to("embeddings"));
  CHECK(!wants_tokens(asked.need()));
  // Nobody asked for them.
  const Ids ids = ids_in(asked.need());
  const auto [rows, counts] = asked.host.tokens_of({ids[0]});
  asked.session->supply_embeddings(asked.host.vectors_of(ids), {rows, counts});
  const JsonTree answer = asked.host.run(*asked.session);

  CHECK(hit_ids(answer).size() == 5);
  CHECK(explained(answer, "candidates") >= 10);
  for (const JsonTree& hit : at(answer, "hits").items)
    CHECK(at(hit, "tokens").is(JsonTree::Kind::kNothing));
}

TEST_CASE("a host that gives no tokens of texts after all gets its answer") {
  Steps<LargeLibrary> asked;
  asked.begin();
  while (asked.go_on_to("embeddings"))
    asked.session->supply_embeddings(asked.host.vectors_of(ids_in(asked.need())));

  CHECK(hit_ids(read_back(asked.session->answer())).size() == 5);
}

TEST_CASE("tokens that are wrong are refused, and right ones may come afterwards") {
  Steps<LargeLibrary> asked;
  asked.begin();
  const WordVectors question = word_vectors_of(kQuestion);
  std::vector<float> spoilt = question.rows;
  spoilt[2] = std::numeric_limits<float>::quiet_NaN();
  const auto supply = [&](std::span<const float> rows, std::span<const std::uint32_t> starts) {
    return reason_of(
        [&] { asked.session->supply_question(*asked.index, vector_of(kQuestion), rows, starts); });
  };
  CHECK(supply(question.rows, {}) == "invalid argument");
  CHECK(supply({}, question.starts) == "invalid argument");
  CHECK(supply(std::span(question.rows).subspan(1), question.starts) == "invalid argument");
  CHECK(supply(spoilt, question.starts) == "not finite");
  CHECK(supply(question.rows, question.starts) == "none");
  CHECK(supply(question.rows, question.starts) == "wrong state");

  REQUIRE(asked.go_on_to("embeddings"));
  const std::string before = asked.session->needs();
  const Ids ids = ids_in(asked.need());
  const std::vector<float> vectors = asked.host.vectors_of(ids);
  const auto [rows, counts] = asked.host.tokens_of(ids);
  const auto embed = [&](const TokenRows& tokens) {
    return reason_of([&] { asked.session->supply_embeddings(vectors, tokens); });
  };
  std::vector<std::uint32_t> other = counts;
  ++other[0];
  spoilt = rows;
  spoilt.back() = std::numeric_limits<float>::infinity();
  CHECK(embed({rows, {}}) == "invalid argument");
  CHECK(embed({{}, counts}) == "invalid argument");
  CHECK(embed({rows, other}) == "invalid argument");
  CHECK(embed({rows, std::span(counts).first(1)}) == "invalid argument");
  CHECK(embed({std::span(rows).subspan(1), counts}) == "invalid argument");
  CHECK(embed({spoilt, counts}) == "not finite");
  CHECK(asked.session->needs() == before);
  CHECK(embed({rows, counts}) == "none");
  CHECK(embed({rows, counts}) == "wrong state");
  asked.host.run(*asked.session);

  Steps<LargeLibrary> right;
  right.begin();
  right.host.run(*right.session);
  CHECK(asked.session->answer() == right.session->answer());
}

TEST_CASE("with a recall given, a search finds the candidates") {
  Steps<LargeLibrary> asked;
  asked.query.recall = 1;
  asked.begin();

  REQUIRE(asked.go_on_to("vectors"));
  CHECK(!wants_tokens(asked.need()));
  const JsonTree answer = asked.host.run(*asked.session);

  CHECK(asked.host.asked["vectors"] >= 2);
  CHECK(explained(answer, "rounds") >= 2);
  CHECK(explained(answer, "candidates") >= 10);
  // By their true distance: the nearest of all is the first by meaning.
  Model model(kWordDim, Metric::kL2);
  for (const std::uint64_t id : asked.collection.catalogue().ids())
    model.add(id, vector_of(asked.library.written.at(id).embedded).data());
  const Ids nearest = model.nearest_ids(vector_of(kQuestion).data(), 5);
  for (const JsonTree& hit : at(answer, "hits").items)
    if (const JsonTree* rank = at(hit, "ranks").find("semantic"); rank && rank->integer <= 5)
      CHECK(static_cast<std::uint64_t>(at(hit, "id").integer) ==
            nearest[static_cast<std::size_t>(rank->integer - 1)]);
}

TEST_CASE("of an index that keeps all vectors only tokens are asked for") {
  Steps<LargeLibrary> asked;
  asked.index = asked.library.index(Keep::kAll);
  asked.host.vectors = asked.index.get();
  asked.host.gives_tokens = false;
  const JsonTree without = asked.ask(asked.query);
  CHECK(asked.host.asked["vectors"] == 0);
  CHECK(hit_ids(without).size() == 5);
  CHECK(explained(without, "candidates") >= 10);

  asked.host.gives_tokens = true;
  asked.begin();
  REQUIRE(asked.go_on_to("vectors"));
  CHECK(wants_tokens(asked.need()));
  const JsonTree with = asked.host.run(*asked.session);
  CHECK(asked.host.asked["vectors"] == 1);
  CHECK(at(hit_of(with, 0), "tokens").is(JsonTree::Kind::kReal));
}

TEST_CASE("an index without codes gives as many hits as were asked for") {
  Steps<LargeLibrary> asked("unheard", 60);
  asked.index = index_without_codes(asked.host, asked.collection, Metric::kL2);
  asked.host.vectors = asked.index.get();

  CHECK(asked.hits(asked.query).size() == 60);
}

TEST_CASE("distances are those of the index's metric, however long vectors are") {
  Steps<LargeLibrary> asked;
  asked.index = index_without_codes(asked.host, asked.collection, Metric::kCosine);
  asked.host.vectors = asked.index.get();
  asked.begin();
  REQUIRE(asked.go_on_to("embeddings"));
  const Ids ids = ids_in(asked.need());
  std::vector<float> vectors = asked.host.vectors_of(ids);
  for (float& value : vectors) value *= 3;
  const auto [rows, counts] = asked.host.tokens_of(ids);
  asked.session->supply_embeddings(vectors, {rows, counts});

  const JsonTree answer = asked.host.run(*asked.session);

  const std::vector<float> question = vector_of(kQuestion);
  for (const JsonTree& hit : at(answer, "hits").items) {
    const auto id = static_cast<std::uint64_t>(at(hit, "id").integer);
    const std::vector<float> vector = vector_of(asked.library.written.at(id).embedded);
    double cosine = 0;
    for (std::size_t i = 0; i < kWordDim; ++i)
      cosine += static_cast<double>(vector[i]) * static_cast<double>(question[i]);
    CHECK(at(hit, "distance").real == doctest::Approx(1 - cosine).epsilon(1e-4));
  }
}

TEST_CASE("where the host reads rows beside the index, candidates are measured all the same") {
  Steps<LargeLibrary> asked;
  const Bytes file = saved(*asked.library.index(Keep::kAll));
  const Container whole = Container::parse(file);
  Container head = Container::parse_head(ByteView(file).first(1024), file.size());
  for (const Container::Entry& entry : whole.entries())
    if (entry.kind != SectionKind::kVectors) head.attach(entry.kind, entry.bytes);
  asked.index = Index::open(std::move(head), nullptr, 0);
  asked.host.vectors = asked.index.get();
  asked.begin();

  REQUIRE(asked.go_on_to("rows"));
  SearchBatch& search = asked.session->meaning().search();
  while (!search.wanted().empty()) search.supply(asked.host.vectors_of(search.wanted()));
  asked.session->finish_rows();
  REQUIRE(asked.go_on_to("vectors"));
  CHECK(wants_tokens(asked.need()));
  CHECK(reason_of([&] { asked.session->finish_rows(); }) == "wrong state");
  const JsonTree answer = asked.host.run(*asked.session);

  CHECK(hit_ids(answer).size() == 5);
  CHECK(at(hit_of(answer, 0), "tokens").is(JsonTree::Kind::kReal));
}

TEST_CASE("a stale chunk among the candidates does not spoil what tokens tell of the others") {
  Steps<LargeLibrary> asked;
  asked.begin();
  REQUIRE(asked.go_on_to("vectors"));
  const Ids wanted = ids_in(asked.need());
  std::string path;
  for (const std::uint64_t id : wanted)
    if (asked.library.files.contains(kFolder + '/' + asked.library.written.at(id).name))
      path = kFolder + '/' + asked.library.written.at(id).name;
  REQUIRE(!path.empty());
  for (char& letter : asked.library.files[path]) letter = letter == 'w' ? 'v' : letter;

  const JsonTree answer = asked.host.run(*asked.session);

  CHECK(stale_of(answer) == std::vector{path});
  CHECK(hit_ids(answer).size() == 5);
  CHECK(explained(answer, "candidates") < static_cast<std::int64_t>(wanted.size()));
  for (const JsonTree& hit : at(answer, "hits").items) CHECK(at(hit, "path").text != path);
  double before = std::numeric_limits<double>::infinity();
  for (const JsonTree& hit : at(answer, "hits").items) {
    CHECK(at(hit, "tokens").is(JsonTree::Kind::kReal));
    CHECK(at(hit, "score").real <= before);
    before = at(hit, "score").real;
  }
}

TEST_CASE("what only a server that does not answer has is counted once, and found by its code") {
  for (const std::optional<double> recall : {std::optional<double>(), std::optional(0.9)}) {
    Steps<SmallLibrary> asked("Nobody drinks tea there.", 12);
    asked.host.has_server = false;
    asked.query.recall = recall;

    const JsonTree answer = asked.ask(asked.query);

    CHECK(explained(answer, "out_of_reach") == 2);
    CHECK(hit_ids(answer).size() == 12);
  }
}

TEST_CASE("hits below the candidates keep the order of both rankings") {
  Steps<LargeLibrary> asked(kQuestion, 100);
  Query plain = asked.query;
  plain.reranks = false;

  const JsonTree answer = asked.ask(asked.query);

  const Ids hits = hit_ids(answer);
  CHECK(hits.size() == 100);
  const auto candidates = explained(answer, "candidates");
  REQUIRE(candidates < 100);
  for (std::size_t i = static_cast<std::size_t>(candidates); i < hits.size(); ++i)
    CHECK(at(hit_of(answer, i), "tokens").is(JsonTree::Kind::kNothing));
  for (std::size_t i = 1; i < hits.size(); ++i)
    CHECK(at(hit_of(answer, i - 1), "score").real >= at(hit_of(answer, i), "score").real);
  Ids sorted = hits;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  CHECK(asked.hits(plain).size() == 100);
}

TEST_CASE("the order in which words and vectors come makes no difference") {
  std::set<std::string> answers;
  for (const bool words_first : {true, false}) {
    Steps<LargeLibrary> asked;
    asked.begin();
    JsonTree needs = asked.needs();
    REQUIRE(needs.items.size() == 2);
    if (words_first) std::reverse(needs.items.begin(), needs.items.end());
    for (const JsonTree& need : needs.items) asked.host.supply(*asked.session, need);
    asked.host.run(*asked.session);
    answers.insert(asked.session->answer());
  }
  CHECK(answers.size() == 1);
}
