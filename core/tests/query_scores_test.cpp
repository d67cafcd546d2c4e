// Questions whose best chunks are scored at last by a model of the host.

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "index_fixture.h"
#include "query/fusion.h"
#include "query/session.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

const std::string kQuestion = "word3 word4 word5";

Query scored_query(QueryMode mode = QueryMode::kHybrid, std::size_t k = 5) {
  Query query = query_of(kQuestion, mode, k);
  query.rescores = true;
  return query;
}

// Supplies what is needed until scores are; false if they never are.
bool go_on_to_scores(QuerySession& session, QueryHost& host, JsonTree& need) {
  while (true) {
    const JsonTree needs = read_back(session.needs());
    if (needs.items.empty()) return false;
    need = needs.items[0];
    if (at(need, "need").text == "scores") return true;
    host.supply(session, need);
  }
}

bool is_scored(const JsonTree& hit) { return at(hit, "reranker").is(JsonTree::Kind::kReal); }

std::vector<FusedChunk> ranked(std::initializer_list<double> scores) {
  std::vector<FusedChunk> chunks;
  for (const double score : scores) chunks.push_back({chunks.size(), score, 0, 1});
  return chunks;
}

Ids ids_of(const std::vector<FusedChunk>& chunks) {
  Ids ids;
  for (const FusedChunk& chunk : chunks) ids.push_back(chunk.id);
  return ids;
}

}  // namespace

TEST_CASE("a query says whether the best are scored") {
  CHECK(!Query::read("{}").rescores);
  CHECK(Query::read(R"({"rescores": true})").rescores);
  CHECK(reason_of([] { Query::read(R"({"rescores": "yes"})"); }) == "invalid argument");
}

TEST_CASE("chunks with scores come first, by them alone, and equal ones in the order before") {
  std::vector<FusedChunk> chunks = ranked({5, 4, 3, 2, 1});

  rank_by_scores(chunks, {{1, -7.f}, {2, 9.f}, {4, -7.f}, {99, 100.f}});

  CHECK(ids_of(chunks) == Ids{2, 1, 4, 0, 3});
  CHECK(chunks[0].reranker == 9);
  CHECK(chunks[0].score == 9);
  CHECK(!chunks[3].reranker);
  CHECK(chunks[3].score == -8);
  CHECK(chunks[4].score < chunks[3].score);

  std::vector<FusedChunk> as_they_were = ranked({2, 1});
  rank_by_scores(as_they_were, {});
  CHECK(ids_of(as_they_were) == Ids{0, 1});
  CHECK(as_they_were[0].score == 2);
}

TEST_CASE("scores of any size leave the scores of hits in order") {
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const float score : {kMost, -kMost, 0.f, 1e16f}) {
    std::vector<FusedChunk> chunks = ranked({3.5, 2, -1});
    rank_by_scores(chunks, {{2, score}});
    CHECK(chunks[0].id == 2);
    CHECK(chunks[1].score <= chunks[0].score);
    CHECK(chunks[2].score <= chunks[1].score);
  }
}

TEST_CASE("in every mode the best are scored once, with the text that was embedded") {
  for (const QueryMode mode : kModes) {
    for (const bool reranks : {true, false}) {
      Large asked;
      Query query = scored_query(mode);
      query.reranks = reranks;
      asked.host.question = query.question;
      QuerySession session(asked.collection, true, query);
      JsonTree need;

      REQUIRE(go_on_to_scores(session, asked.host, need));
      const Ids ids = ids_in(need);
      CHECK(ids.size() >= 10);
      CHECK(ids.size() <= 20);
      REQUIRE(at(need, "texts").items.size() == ids.size());
      for (std::size_t i = 0; i < ids.size(); ++i)
        CHECK(at(need, "texts").items[i].text == asked.library.written.at(ids[i]).embedded);
      const JsonTree answer = asked.host.run(session);

      Ids best = ids;
      std::sort(best.rbegin(), best.rend());
      best.resize(5);
      CHECK(hit_ids(answer) == best);
      CHECK(asked.host.asked["scores"] == 1);
      CHECK(explained(answer, "chunks_scored") == static_cast<std::int64_t>(ids.size()));
      for (const JsonTree& hit : at(answer, "hits").items) {
        CHECK(is_scored(hit));
        CHECK(at(hit, "score").real == at(hit, "reranker").real);
      }
    }
  }
}

TEST_CASE("those that were ranked again are scored, and the others follow in their order") {
  Large asked;
  Query plain = query_of(kQuestion, QueryMode::kHybrid, 100);
  const JsonTree before = asked.ask(plain);
  const JsonTree answer = asked.ask(scored_query(QueryMode::kHybrid, 100));

  const auto count = static_cast<std::size_t>(explained(answer, "candidates"));
  CHECK(explained(answer, "candidates") == explained(answer, "chunks_scored"));
  REQUIRE(count < 100);
  Ids first = hit_ids(before), second = hit_ids(answer);
  CHECK(Ids(first.begin() + static_cast<std::ptrdiff_t>(count), first.end()) ==
        Ids(second.begin() + static_cast<std::ptrdiff_t>(count), second.end()));
  first.resize(count);
  std::sort(first.rbegin(), first.rend());
  second.resize(count);
  CHECK(first == second);
  for (std::size_t i = 0; i < 100; ++i) CHECK(is_scored(hit_of(answer, i)) == (i < count));
}

TEST_CASE("without a wish for scores nothing is scored") {
  Large asked;

  const JsonTree answer = asked.ask(query_of(kQuestion));

  CHECK(asked.host.asked["scores"] == 0);
  CHECK(explained(answer, "chunks_scored") == 0);
  for (const JsonTree& hit : at(answer, "hits").items) CHECK(!is_scored(hit));
}

TEST_CASE("by meaning alone as many are found as are scored") {
  Large asked;
  const JsonTree answer = asked.ask(scored_query(QueryMode::kSemantic, 1));

  CHECK(explained(answer, "chunks_scored") == 10);
}

TEST_CASE("scores that are wrong are refused, and right ones may come afterwards") {
  Large asked;
  asked.host.question = kQuestion;
  QuerySession session(asked.collection, true, scored_query());
  const auto supply = [&](const std::vector<float>& scores) {
    return reason_of([&] { session.supply_scores(scores); });
  };
  CHECK(supply({}) == "wrong state");
  JsonTree need;
  REQUIRE(go_on_to_scores(session, asked.host, need));
  const std::string before = session.needs();
  std::vector<float> scores = QueryHost::scores_of(ids_in(need));
  std::vector<float> fewer(scores.begin() + 1, scores.end()), more = scores;
  more.push_back(0);
  CHECK(supply(fewer) == "invalid argument");
  CHECK(supply(more) == "invalid argument");
  CHECK(supply({}) == "invalid argument");
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    std::vector<float> spoilt = scores;
    spoilt.back() = wrong;
    CHECK(supply(spoilt) == "not finite");
  }
  CHECK(session.needs() == before);
  CHECK(supply(scores) == "none");
  CHECK(supply(scores) == "wrong state");
  asked.host.run(session);

  Large right;
  right.host.question = kQuestion;
  QuerySession again(right.collection, true, scored_query());
  right.host.run(again);
  CHECK(session.answer() == again.answer());
}

TEST_CASE("a chunk whose text cannot be had has no score, and follows") {
  Small asked;
  asked.host.has_server = false;
  Query query = query_of("Nobody drinks tea there.", QueryMode::kHybrid, 12);
  query.rescores = true;

  const JsonTree answer = asked.ask(query);

  std::set<std::uint64_t> unscored;
  bool was_scored = true;
  for (const JsonTree& hit : at(answer, "hits").items) {
    CHECK((was_scored || !is_scored(hit)));
    was_scored = is_scored(hit);
    if (!was_scored) unscored.insert(static_cast<std::uint64_t>(at(hit, "id").integer));
  }
  CHECK(hit_ids(answer).size() == 12);
  CHECK(unscored.contains(asked.id("away")));
  CHECK(explained(answer, "chunks_scored") == 12 - static_cast<std::int64_t>(unscored.size()));
}

TEST_CASE("texts that a server has are fetched to be scored") {
  Small asked;
  Query query = query_of("Nobody drinks tea there.", QueryMode::kHybrid, 12);
  query.rescores = true;

  const JsonTree answer = asked.ask(query);

  for (const JsonTree& hit : at(answer, "hits").items) CHECK(is_scored(hit));
}

TEST_CASE(
    "what is stale is not scored, and nothing is scored twice when the ranking begins again") {
  Large asked;
  const Query query = scored_query(QueryMode::kLexical, 500);
  asked.host.question = query.question;
  // Every file has changed, but not its words; stored texts take their place.
  for (auto& [path, text] : asked.library.files)
    for (char& letter : text) letter = letter == ' ' ? '\t' : letter;
  QuerySession session(asked.collection, true, query);
  std::set<std::uint64_t> scored;
  JsonTree need;
  while (go_on_to_scores(session, asked.host, need)) {
    for (const std::uint64_t id : ids_in(need)) CHECK(scored.insert(id).second);
    asked.host.supply(session, need);
  }

  const JsonTree answer = read_back(session.answer());

  CHECK(asked.host.asked["scores"] > 1);
  CHECK(explained(answer, "chunks_scored") == static_cast<std::int64_t>(scored.size()));
  CHECK(!stale_of(answer).empty());
  // The first are those with scores, of both rounds.
  for (std::size_t i = 0; i < hit_ids(answer).size(); ++i)
    CHECK(is_scored(hit_of(answer, i)) == (i < scored.size()));
}
