#include <doctest/doctest.h>

#include "index_fixture.h"
#include "query/session.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

TEST_CASE("a hit says what it is, where it stands and why it is one") {
  Small asked;

  const JsonTree answer = asked.ask(query_of("when the lease ends in March"));

  const JsonTree& hit = hit_of(answer, 0);
  CHECK(at(hit, "number").integer == 1);
  CHECK(at(hit, "id").integer == static_cast<std::int64_t>(asked.id("lease.md") + 1));
  CHECK(at(hit, "path").text == "/lib/lease.md");
  CHECK(at(hit, "location").text == "/lib/lease.md:5");
  CHECK(at(hit, "kind").text == "text");
  CHECK(at(hit, "title").text == "Lease");
  CHECK(at(hit, "unit").text == "line");
  CHECK(at(hit, "first").integer == 5);
  CHECK(at(hit, "last").integer == 5);
  CHECK(at(hit, "line").integer == 5);
  CHECK(at(hit, "start").integer == 36);
  CHECK(at(hit, "end").integer == 60);
  CHECK(at(hit, "text").text == "The lease ends in March.");
  CHECK(at(hit, "snippet").text == "The lease ends in March.");
  CHECK(at(hit, "highlights").items.size() == 3);
  CHECK(at(hit, "highlights").items[0].items[0].integer == 4);
  CHECK(at(hit, "highlights").items[0].items[1].integer == 9);
  CHECK(at(at(hit, "ranks"), "semantic").integer == 1);
  CHECK(at(at(hit, "ranks"), "lexical").integer == 1);
  CHECK(at(hit, "score").real > 0);
  CHECK(at(hit, "tokens").real > 0.5);
  CHECK(at(hit, "words").real > 0);
  CHECK(at(hit, "distance").real > 0);
  CHECK(at(hit, "metadata").items.empty());
  CHECK(stale_of(answer).empty());
  CHECK(at(at(answer, "explanation"), "strategy").text == "scan");
  CHECK(explained(answer, "chunks") == 12);
  CHECK(explained(answer, "candidates") == 10);
  CHECK(at(at(answer, "explanation"), "allowed_chunks").is(JsonTree::Kind::kNothing));
  CHECK(explained(answer, "lexical_bytes") > 0);
  CHECK(at(at(at(answer, "explanation"), "lexical_terms"), "march").integer == 1);
}

TEST_CASE("without ranking again a hit's score is the sum of its reciprocal ranks") {
  Small asked;
  Query query = query_of("when the lease ends in March");
  query.reranks = false;

  const JsonTree answer = asked.ask(query);

  const JsonTree& hit = hit_of(answer, 0);
  CHECK(at(hit, "score").real == doctest::Approx(2.0 / 6));
  CHECK(at(hit, "tokens").is(JsonTree::Kind::kNothing));
  CHECK(at(hit, "words").real == 0);
  CHECK(explained(answer, "candidates") == 0);
}

TEST_CASE("places are named by what a document counts") {
  Small asked;

  const JsonTree letter = hit_of(asked.ask(query_of("landlord writes about rent flat")), 0);
  CHECK(at(letter, "location").text == "/lib/letters.mbox#7 messages 1-2");
  CHECK(at(letter, "last").integer == 2);
  const JsonTree tea = hit_of(asked.ask(query_of("Green tea is steamed")), 0);
  CHECK(at(tea, "location").text == "tea:3");
  CHECK(at(at(tea, "metadata"), "year").integer == 2021);
}

TEST_CASE("texts that a server keeps are asked of it, and hits without it have no text") {
  Small asked;
  const std::uint64_t away = asked.id("away");
  const std::string question = "Nobody drinks tea there.";

  const JsonTree with = asked.ask(query_of(question, QueryMode::kSemantic, 3));
  REQUIRE(hit_ids(with)[0] == away + 1);
  CHECK(at(hit_of(with, 0), "text").text == "Nobody drinks tea there.");
  CHECK(at(hit_of(with, 0), "location").text == "away:3");

  asked.host.has_server = false;
  const JsonTree without = asked.ask(query_of(question, QueryMode::kSemantic, 12));
  const Ids ids = hit_ids(without);
  const auto place = std::find(ids.begin(), ids.end(), away + 1) - ids.begin();
  REQUIRE(place < 12);
  const JsonTree& hit = hit_of(without, static_cast<std::size_t>(place));
  CHECK(at(hit, "text").text.empty());
  CHECK(at(hit, "location").text == "away");
  CHECK(at(at(hit, "metadata"), "year").integer == 2024);
  CHECK(explained(without, "out_of_reach") == 2);
  CHECK(stale_of(without).empty());
}

TEST_CASE("more hits than there are gives all of them, however much more") {
  Small asked;
  for (const std::size_t k : {std::size_t{12}, std::size_t{1} << 40, ~std::size_t{0}})
    for (const QueryMode mode : {QueryMode::kHybrid, QueryMode::kSemantic})
      CHECK(asked.hits(query_of("tea", mode, k)).size() == 12);
  CHECK(reason_of([&] { asked.ask(query_of("tea", QueryMode::kHybrid, 0)); }) ==
        "invalid argument");
}

TEST_CASE("an empty index answers nothing") {
  const Library library;
  const Collection collection(library.catalogue(), {});
  const SmallLibrary other;
  const auto vectors = Index::create(other.index()->codebook(), {});
  for (const QueryMode mode : kModes)
    for (const Index* index : {static_cast<Index*>(nullptr), vectors.get()}) {
      QueryHost host(library, index);
      const JsonTree answer = host.ask(collection, query_of("tea", mode));
      CHECK(hit_ids(answer).empty());
      CHECK(explained(answer, "chunks") == 0);
    }
  CHECK(!QuerySession(collection, false, query_of("tea")).allowed_ids());
}

TEST_CASE("an answer is JSON to the letter, whatever metadata and names hold") {
  Library library;
  library.put({.name = "half \xED\xA0\x80 \"quoted\"\n",
               .text = "tea \xEF\xBF\xBD \x01",
               .title = "back\\slash",
               .metadata = R"({"a":NaN,"b":-Infinity,"c":1e3,"d":"\ud800","e":true,"n\u0000":7})"});
  library.commit();
  const Collection collection(library.catalogue(), {});
  QueryHost host(library);
  host.question = "tea";
  QuerySession session(collection, false, query_of("tea \xED\xA0\x80"));
  host.run(session);

  const std::string written = session.answer();

  CHECK(std::all_of(written.begin(), written.end(),
                    [](char letter) { return static_cast<std::uint8_t>(letter) >= ' '; }));
  CHECK(written.find("NaN") == written.npos);
  CHECK(written.find('\xED') == written.npos);
  const JsonTree hit = hit_of(read_back(written), 0);
  CHECK(at(hit, "path").text == "half \xED\xA0\x80 \"quoted\"\n");
  CHECK(at(hit, "title").text == "back\\slash");
  const JsonTree& metadata = at(hit, "metadata");
  CHECK(at(metadata, "a").is(JsonTree::Kind::kNothing));
  CHECK(at(metadata, "b").is(JsonTree::Kind::kNothing));
  CHECK(at(metadata, "c").real == 1000);
  CHECK(at(metadata, "d").text == "\xED\xA0\x80");
  CHECK(at(metadata, "e").integer == 1);
  CHECK(at(metadata, std::string_view("n\0", 2)).integer == 7);
}

TEST_CASE("metadata that is none fails as damage") {
  Library library;
  library.put({.name = "a", .text = "tea", .metadata = R"({"a":[1]})"});
  library.commit();
  const Collection collection(library.catalogue(), {});
  QueryHost host(library);

  CHECK(reason_of([&] { host.ask(collection, query_of("tea")); }) == "damaged");
}
