// How sure hits are.

#include "query/strength.h"

#include <doctest/doctest.h>

#include <limits>

#include "query_fixture.h"
#include "query_host.h"
#include "reason.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Grounds good_grounds() {
  return {.nearness = 8.0F,
          .tokens = 0.9F,
          .coverage = 1.0F,
          .exact = 1,
          .lead = 2,
          .terms = 6,
          .chunks = 1000};
}

Grounds bad_grounds() {
  return {.nearness = 1.0F,
          .tokens = 0.3F,
          .coverage = 0.0F,
          .exact = 0,
          .lead = -2,
          .terms = 6,
          .chunks = 1000};
}

}  // namespace

TEST_CASE("what is nearer than most is told in deviations, less of few chunks") {
  const std::vector<float> two = {-1, 1};
  std::vector<float> many;
  for (int i = 0; i < 500; ++i) many.insert(many.end(), two.begin(), two.end());

  CHECK(*Background(many).nearness_of(-3) == doctest::Approx(3).epsilon(0.02));
  CHECK(*Background(many).nearness_of(0) == doctest::Approx(0));
  CHECK(*Background(two).nearness_of(-3) == doctest::Approx(3.0 / 9));
}

TEST_CASE("what has no scale has no nearness") {
  CHECK(!Background().nearness_of(0));
  CHECK(!Background(std::vector<float>{2, 2, 2}).nearness_of(1));
  CHECK(!Background(std::vector<float>{1, 2}).nearness_of(kNaN));
  CHECK(!Background(std::vector<float>{1, kNaN}).nearness_of(1));
}

TEST_CASE("words that a text has count by how rare they are") {
  const LexicalQuery query("the lease of a flat");
  WordCoverage coverage(query, std::vector<std::string>{"leas", "flat"},
                        std::vector<std::uint64_t>{1, 50}, 100);

  CHECK(*coverage.find("A flat and its lease.") == doctest::Approx(1));
  CHECK(*coverage.find("nothing") == doctest::Approx(0));
  const float rare = *coverage.find("leases"), common = *coverage.find("flat, flats");
  CHECK(rare > 0.7F);
  CHECK(rare + common == doctest::Approx(1));
}

TEST_CASE("nothing is known of words that were not counted") {
  const LexicalQuery query("lease");
  CHECK(!WordCoverage(query, {}, {}, 100).find("lease"));
  // A host may count more chunks than there are.
  CHECK(*WordCoverage(query, std::vector<std::string>{"leas"}, std::vector<std::uint64_t>{7}, 3)
             .find("lease") == doctest::Approx(1));
}

TEST_CASE("a hit with good grounds is strong and one with bad ones weak, whatever is not known") {
  using Forget = void (*)(Grounds&);
  for (const Forget forget : std::initializer_list<Forget>{
           [](Grounds&) {}, [](Grounds& grounds) { grounds.tokens.reset(); },
           [](Grounds& grounds) { grounds.nearness.reset(), grounds.tokens.reset(); },
           [](Grounds& grounds) { grounds.coverage.reset(), grounds.tokens.reset(); }}) {
    Grounds good = good_grounds(), bad = bad_grounds();
    forget(good);
    forget(bad);
    CHECK(strength_of(probability_of(good)) == "strong");
    CHECK(strength_of(probability_of(bad)) == "weak");
  }
}

TEST_CASE("nothing is said of what nothing is known of") {
  CHECK(!probability_of({.exact = 3, .lead = 3, .terms = 2, .chunks = 9}));
  CHECK(strength_of(std::nullopt).empty());
}

TEST_CASE("more of what speaks for a hit never makes it less sure, and adds up to a limit") {
  Grounds grounds = bad_grounds();
  double last = 0;
  for (int step = 0; step < 40; ++step) {
    grounds.nearness = static_cast<float>(step) / 4;
    grounds.exact = static_cast<float>(step) / 8;
    grounds.lead = step / 4.0 - 5;
    const double now = *probability_of(grounds);
    CHECK(now >= last);
    CHECK(now <= 1);
    last = now;
  }
  Grounds endless = good_grounds();
  endless.lead = std::numeric_limits<double>::infinity();
  endless.terms = 1'000'000;
  CHECK(*probability_of(endless) <= 1);
}

TEST_CASE("hits below the least probability are left out") {
  Asked<LargeLibrary> asked;
  Query query = query_of("word3 word4 word5", QueryMode::kHybrid, 5);
  const JsonTree all = asked.host.ask(asked.collection, query);
  REQUIRE(hit_ids(all).size() == 5);
  std::vector<double> sure;
  for (const JsonTree& hit : at(all, "hits").items) sure.push_back(at(hit, "probability").real);
  query.min_score = sure[1];

  const JsonTree some = asked.host.ask(asked.collection, query);

  std::size_t expected = 0;
  for (const double one : sure) expected += one >= sure[1] ? 1 : 0;
  CHECK(hit_ids(some).size() == expected);
  for (const JsonTree& hit : at(some, "hits").items) CHECK(at(hit, "probability").real >= sure[1]);
  CHECK(at(at(some, "hits").items[0], "number").integer == 1);
}

TEST_CASE("of what is like a chunk nothing is said, and none of it is left out") {
  Asked<LargeLibrary> asked;
  Query query = query_of("word3 word4 word5", QueryMode::kSemantic, 5);
  query.excluded = {hit_ids(asked.host.ask(asked.collection, query))[0]};
  query.min_score = 1;

  const JsonTree answer = asked.host.ask(asked.collection, query);

  CHECK(hit_ids(answer).size() == 5);
  for (const JsonTree& hit : at(answer, "hits").items) {
    CHECK(at(hit, "probability").is(JsonTree::Kind::kNothing));
    CHECK(at(hit, "strength").text.empty());
  }
}

TEST_CASE("a least probability is a number from 0 to 1") {
  CHECK(Query::read(R"({"min_score": 0.25})").min_score == 0.25);
  CHECK(Query::read(R"({"min_score": 1})").min_score == 1);
  for (const char* wrong : {R"({"min_score": -0.1})", R"({"min_score": 1.5})",
                            R"({"min_score": "0.5"})", R"({"min_score": true})"})
    CHECK(reason_of([&] { Query::read(wrong); }) == "invalid argument");
}

TEST_CASE("what another chunk gives better is given less") {
  std::vector<FusedChunk> chunks(3, FusedChunk{1, 0, 0, 0});
  chunks[0].exact = 7;
  chunks[1].exact = 5;
  chunks[2].exact = 2;
  CHECK(exact_of(chunks, chunks[0]) == 7);
  CHECK(exact_of(chunks, chunks[1]) == 3);
  CHECK(exact_of(chunks, chunks[2]) == 0);
}

TEST_CASE("a lead is over the best other one") {
  const auto chunk = [](std::uint64_t id, std::optional<double> evidence) {
    FusedChunk made{id, 0, 0, 0};
    made.evidence = evidence;
    return made;
  };
  const std::vector<FusedChunk> chunks = {chunk(1, 4), chunk(2, 1.5), chunk(3, 1),
                                          chunk(4, std::nullopt)};
  CHECK(lead_of(chunks, chunks[0]) == 2.5);
  CHECK(lead_of(chunks, chunks[2]) == -3);
  CHECK(lead_of(chunks, chunks[3]) < -1e9);
  CHECK(lead_of(std::span(chunks).first(1), chunks[0]) == 0);
}
