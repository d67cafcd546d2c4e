#include <doctest/doctest.h>

#include <thread>

#include "index_fixture.h"
#include "query/session.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

// A library that questions are asked of.
template <class Held>
struct Asked {
  JsonValue ask(const Query& query) { return host.ask(collection, index.get(), query); }
  Ids hits(const Query& query) { return hit_ids(ask(query)); }
  std::uint64_t id(const std::string& name) const { return library.id_of(name); }

  Held library;
  Collection collection{library.catalogue(), {kFolder}};
  std::unique_ptr<Index> index = library.index();
  QueryHost host{library};
};
using Small = Asked<SmallLibrary>;
using Large = Asked<LargeLibrary>;

Query query_of(const std::string& question, QueryMode mode = QueryMode::kHybrid,
               std::size_t k = 5) {
  Query query;
  query.question = question;
  query.mode = mode;
  query.k = k;
  return query;
}

const JsonValue& hit_of(const JsonValue& answer, std::size_t number) {
  return at(answer, "hits").items.at(number);
}

std::int64_t explained(const JsonValue& answer, const char* name) {
  return at(at(answer, "explanation"), name).integer;
}

std::vector<std::string> stale_of(const JsonValue& answer) {
  std::vector<std::string> paths;
  for (const JsonValue& path : at(answer, "stale").items) paths.push_back(path.text);
  return paths;
}

constexpr QueryMode kModes[] = {QueryMode::kHybrid, QueryMode::kSemantic, QueryMode::kLexical};

}  // namespace

TEST_CASE("a hit says what it is, where it stands and why it is one") {
  Small asked;

  const JsonValue answer = asked.ask(query_of("when the lease ends in March"));

  const JsonValue& hit = hit_of(answer, 0);
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
  CHECK(at(hit, "score").real == doctest::Approx(2.0 / 6));
  CHECK(at(hit, "distance").real > 0);
  CHECK(at(hit, "metadata").items.empty());
  CHECK(stale_of(answer).empty());
  CHECK(at(at(answer, "explanation"), "strategy").text == "scan");
  CHECK(explained(answer, "chunks") == 12);
  CHECK(at(at(answer, "explanation"), "allowed_chunks").is(JsonValue::Kind::kNothing));
  CHECK(explained(answer, "lexical_bytes") > 0);
  CHECK(at(at(at(answer, "explanation"), "lexical_terms"), "march").integer == 1);
}

TEST_CASE("places are named by what a document counts") {
  Small asked;

  const JsonValue letter = hit_of(asked.ask(query_of("landlord writes about rent flat")), 0);
  CHECK(at(letter, "location").text == "/lib/letters.mbox#7 message 1");
  CHECK(at(letter, "last").integer == 2);
  const JsonValue tea = hit_of(asked.ask(query_of("Green tea is steamed")), 0);
  CHECK(at(tea, "location").text == "tea:3");
  CHECK(at(at(tea, "metadata"), "year").integer == 2021);
}

TEST_CASE("a question by meaning alone counts no words, and one by words needs no vectors") {
  Small asked;

  const JsonValue semantic = asked.ask(query_of("the lease ends", QueryMode::kSemantic));
  CHECK(asked.host.asked["words"] == 0);
  CHECK(explained(semantic, "lexical_bytes") == 0);
  CHECK(hit_of(semantic, 0).find("distance")->is(JsonValue::Kind::kReal));
  CHECK(at(hit_of(semantic, 0), "ranks").find("lexical") == nullptr);
  asked.host.asked.clear();

  const JsonValue lexical = asked.ask(query_of("the lease ends", QueryMode::kLexical));
  CHECK(asked.host.asked == std::map<std::string, int>{{"words", 1}, {"texts", 1}});
  CHECK(at(hit_of(lexical, 0), "distance").is(JsonValue::Kind::kNothing));
  CHECK(at(hit_of(lexical, 0), "ranks").find("semantic") == nullptr);
  CHECK(explained(lexical, "codes_touched") == 0);
  CHECK(hit_ids(lexical) == Ids{asked.id("lease.md") + 1, asked.id("lease.md")});
}

TEST_CASE("codes are scanned once for a question by meaning and words") {
  Large asked;

  const JsonValue answer = asked.ask(query_of("word3 word4"));

  CHECK(explained(answer, "codes_touched") == explained(answer, "chunks"));
  CHECK(explained(answer, "rounds") >= 1);
}

TEST_CASE("a filter holds for both rankings, and says how much it left") {
  Small asked;
  for (const QueryMode mode : kModes) {
    Query query = query_of("tea rent landlord", mode, 50);
    query.filter = R"({"where": "lang == 'de'"})";

    const JsonValue answer = asked.ask(query);

    Ids hits = hit_ids(answer);
    std::sort(hits.begin(), hits.end());
    const std::uint64_t first = asked.id("müller/notiz.txt");
    CHECK(hits == Ids{first, first + 1, first + 2});
    CHECK(explained(answer, "allowed_chunks") == 3);

    query.filter = R"({"where": "lang == 'fr'"})";
    CHECK(asked.hits(query).empty());
    query.filter = R"({"where": "lang =="})";
    CHECK(reason_of([&] { asked.ask(query); }) == "invalid argument");
  }
}

TEST_CASE("what a filter lets through is computed once") {
  Small asked;
  const auto one = asked.collection.allow(R"({"where": "year > 2020"})");

  CHECK(asked.collection.allow(R"({"where": "year > 2020"})") == one);
  CHECK(asked.collection.allow(R"({"where": "year > 2021"})") != one);
  for (int year = 0; year < 20; ++year)
    asked.collection.allow(R"({"where": "year > )" + std::to_string(year) + R"("})");
  CHECK(*asked.collection.allow(R"({"where": "year > 2020"})") == *one);
}

TEST_CASE("excluded chunks are no answers, however words are ranked") {
  Small asked;
  const std::uint64_t tea = asked.id("tea");
  asked.host.ranking = {tea, tea + 1, tea + 2};
  for (const QueryMode mode : kModes)
    for (const WordSource words : {WordSource::kTexts, WordSource::kHost, WordSource::kNone}) {
      Query query = query_of("green tea leaves", mode, 50);
      query.words = words;
      query.excluded = {tea, tea + 1, 777};

      const JsonValue answer = asked.ask(query);

      for (const std::uint64_t id : hit_ids(answer)) CHECK((id != tea && id != tea + 1));
      CHECK(explained(answer, "allowed_chunks") == 10);
      const bool has_ranking = mode != QueryMode::kLexical || words != WordSource::kNone;
      CHECK(hit_ids(answer).empty() != has_ranking);
    }
}

TEST_CASE("chunks that a host ranks by words are found, and what is none is left out") {
  Small asked;
  Query query = query_of("one two three", QueryMode::kLexical);
  query.words = WordSource::kHost;
  query.filter = R"({"where": "lang == 'en'"})";
  const std::uint64_t tea = asked.id("tea"), away = asked.id("away");
  asked.host.ranking = {999, asked.id("lease.md"), asked.id("gone"), tea + 1, away, tea + 1, 0};

  const JsonValue answer = asked.ask(query);

  CHECK(hit_ids(answer) == Ids{tea + 1, away});
  CHECK(at(at(hit_of(answer, 1), "ranks"), "lexical").integer == 2);
  CHECK(at(at(at(answer, "explanation"), "lexical_terms"), "word").integer == 7);
  CHECK(at(at(answer, "explanation"), "counts_words").integer == 0);
}

TEST_CASE("a host may know other terms than the question has") {
  Small asked;
  Query query = query_of("tea", QueryMode::kLexical);
  query.words = WordSource::kHost;
  QuerySession session(asked.collection, nullptr, query);
  const Ids ids{asked.id("tea")};

  CHECK(reason_of([&] { session.supply_ranking(ids, {"a", "b"}, {1}); }) == "invalid argument");
  session.supply_ranking(ids, {"a", "b", "c"}, {1, 2, 3});

  const JsonValue answer = asked.host.run(session);
  CHECK(at(at(at(answer, "explanation"), "lexical_terms"), "c").integer == 3);
  CHECK(hit_ids(answer) == ids);
}

TEST_CASE("where a host cannot rank, words are counted in the texts after all") {
  Small asked;
  Query query = query_of("rent landlord", QueryMode::kLexical);
  const Ids by_texts = asked.hits(query);
  query.words = WordSource::kHost;
  QuerySession session(asked.collection, nullptr, query);

  session.count_words();

  CHECK(hit_ids(asked.host.run(session)) == by_texts);
  CHECK(reason_of([&] { session.count_words(); }) == "wrong state");
}

TEST_CASE("a question is answered from postings as from texts") {
  Large asked;
  PostingsWriter writer;
  for (std::uint32_t chunk = 0; chunk < asked.collection.layout().chunk_count(); ++chunk) {
    const std::uint64_t id = asked.collection.layout().id_of(chunk);
    const Written& written = asked.library.written.at(id);
    writer.add(chunk, written.title.starts_with("Title") ? written.title : "");
    writer.add(chunk, written.body);
  }
  asked.host.postings =
      writer.finish(static_cast<std::uint32_t>(asked.collection.layout().chunk_count()), {});
  Query query = query_of("word3 word4 title", QueryMode::kHybrid, 10);
  const JsonValue by_texts = asked.ask(query);
  query.words = WordSource::kPostings;
  CHECK(reason_of([&] { asked.ask(query); }) == "wrong state");
  const Bytes& postings = asked.host.postings;
  asked.collection.attach_postings(
      ByteView(postings).first(PostingsView::head_bytes(postings, postings.size())),
      postings.size());

  const JsonValue by_postings = asked.ask(query);

  CHECK(hit_ids(by_texts) == hit_ids(by_postings));
  CHECK(asked.host.asked["postings"] == 2);
  query.question = "unheard";
  query.mode = QueryMode::kLexical;
  CHECK(asked.hits(query).empty());
}

TEST_CASE("stale sources leave their place to others, and what is known is not embedded again") {
  Large asked;
  const Query query = query_of("word3 word4", QueryMode::kHybrid, 8);
  const JsonValue before = asked.ask(query);
  std::string path;
  for (const JsonValue& hit : at(before, "hits").items)
    if (asked.library.files.contains(at(hit, "path").text)) path = at(hit, "path").text;
  REQUIRE(!path.empty());
  asked.library.files[path].replace(0, 1, "*");
  asked.library.files[path].back() = '*';
  for (char& letter : asked.library.files[path])
    if (letter == 'w') letter = 'v';
  asked.host.embedded.clear();

  const JsonValue answer = asked.ask(query);

  CHECK(hit_ids(answer).size() == 8);
  for (const JsonValue& hit : at(answer, "hits").items) CHECK(at(hit, "path").text != path);
  CHECK(stale_of(answer) == std::vector{path});
  Ids embedded = asked.host.embedded;
  std::sort(embedded.begin(), embedded.end());
  CHECK(std::adjacent_find(embedded.begin(), embedded.end()) == embedded.end());
}

TEST_CASE("a question for more than is left ranks again without stale sources") {
  Small asked;
  asked.library.files["/lib/lease.md"][17] = '*';
  asked.library.files.erase("/lib/müller/notiz.txt");
  for (const QueryMode mode : kModes) {
    asked.host.asked.clear();
    asked.host.embedded.clear();

    const JsonValue answer = asked.ask(query_of("rent tea", mode, 50));

    CHECK(stale_of(answer) == std::vector<std::string>{"/lib/lease.md", "/lib/müller/notiz.txt"});
    for (const std::uint64_t id : hit_ids(answer)) {
      CHECK(asked.library.written.at(id).name != "lease.md");
      CHECK(asked.library.written.at(id).name != "müller/notiz.txt");
    }
    CHECK(asked.host.asked["words"] == (mode == QueryMode::kSemantic ? 0 : 2));
    CHECK(explained(answer, "allowed_chunks") == 7);
    CHECK(hit_ids(answer).size() == (mode == QueryMode::kLexical ? 5 : 7));
    CHECK(asked.host.asked["question"] == (mode == QueryMode::kLexical ? 0 : 1));
    Ids embedded = asked.host.embedded;
    std::sort(embedded.begin(), embedded.end());
    CHECK(std::adjacent_find(embedded.begin(), embedded.end()) == embedded.end());
  }
}

TEST_CASE("an index of which all is stale is not read again for every part of it") {
  Library library;
  for (int i = 0; i < 2000; ++i)
    library.put({.name = "f" + std::to_string(i),
                 .text = "tea " + std::to_string(i),
                 .is_file = true,
                 .segment = kVerbatim});
  library.commit();
  for (auto& [path, text] : library.files) text += " is something else";
  for (auto& [path, text] : library.files) text[4] = '*';
  const Collection collection(library.catalogue(), {kFolder});
  QueryHost host(library);

  const JsonValue answer = host.ask(collection, nullptr, query_of("tea"));

  CHECK(hit_ids(answer).empty());
  CHECK(stale_of(answer).size() == 2000);
  CHECK(host.asked["words"] <= 8);
}

TEST_CASE("texts that a server keeps are asked of it, and hits without it have no text") {
  Small asked;
  const std::uint64_t away = asked.id("away");
  const std::string question = "Nobody drinks tea there.";

  const JsonValue with = asked.ask(query_of(question, QueryMode::kSemantic, 3));
  REQUIRE(hit_ids(with)[0] == away + 1);
  CHECK(at(hit_of(with, 0), "text").text == "Nobody drinks tea there.");
  CHECK(at(hit_of(with, 0), "location").text == "away:3");

  asked.host.has_server = false;
  const JsonValue without = asked.ask(query_of(question, QueryMode::kSemantic, 12));
  const Ids ids = hit_ids(without);
  const auto place = std::find(ids.begin(), ids.end(), away + 1) - ids.begin();
  REQUIRE(place < 12);
  const JsonValue& hit = hit_of(without, static_cast<std::size_t>(place));
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
  QueryHost host(library);
  const SmallLibrary other;
  const auto vectors = Index::create(other.index()->codebook(), {});
  for (const QueryMode mode : kModes)
    for (const Index* index : {static_cast<Index*>(nullptr), vectors.get()}) {
      const JsonValue answer = host.ask(collection, index, query_of("tea", mode));
      CHECK(hit_ids(answer).empty());
      CHECK(explained(answer, "chunks") == 0);
    }
  CHECK(!QuerySession(collection, nullptr, query_of("tea")).allowed_ids());
}

TEST_CASE("the ids that may be found are those of filter and exclusion") {
  Small asked;
  Query query = query_of("tea");
  CHECK(!QuerySession(asked.collection, nullptr, query).allowed_ids());
  query.filter = R"({"where": "year == 2021"})";
  query.excluded = {asked.id("tea") + 1};
  CHECK(QuerySession(asked.collection, nullptr, query).allowed_ids() ==
        Ids{asked.id("tea"), asked.id("tea") + 2});
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
  QuerySession session(collection, nullptr, query_of("tea \xED\xA0\x80"));
  host.run(session);

  const std::string written = session.answer();

  CHECK(std::all_of(written.begin(), written.end(),
                    [](char letter) { return static_cast<std::uint8_t>(letter) >= ' '; }));
  CHECK(written.find("NaN") == written.npos);
  CHECK(written.find('\xED') == written.npos);
  const JsonValue hit = hit_of(read_back(written), 0);
  CHECK(at(hit, "path").text == "half \xED\xA0\x80 \"quoted\"\n");
  CHECK(at(hit, "title").text == "back\\slash");
  const JsonValue& metadata = at(hit, "metadata");
  CHECK(at(metadata, "a").is(JsonValue::Kind::kNothing));
  CHECK(at(metadata, "b").is(JsonValue::Kind::kNothing));
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

  CHECK(reason_of([&] { host.ask(collection, nullptr, query_of("tea")); }) == "damaged");
}

TEST_CASE("an index whose chunks the catalogue does not have fails, and goes on failing") {
  Small asked;
  Library other;
  other.put({.name = "a", .text = "Something else."});
  other.commit();
  const Collection collection(other.catalogue(), {kFolder});
  for (const QueryMode mode : {QueryMode::kHybrid, QueryMode::kSemantic}) {
    QuerySession session(collection, asked.index.get(), query_of("tea", mode));
    asked.host.question = "tea";
    CHECK(reason_of([&] { asked.host.run(session); }) == "unknown id");
    CHECK(!session.is_over());
    CHECK(reason_of([&] { session.answer(); }) == "wrong state");
  }
}

TEST_CASE("questions are asked of one collection at the same time") {
  Large asked;
  const std::string expected = [&] {
    QuerySession session(asked.collection, asked.index.get(), query_of("word3 word4"));
    QueryHost host(asked.library);
    host.question = "word3 word4";
    host.run(session);
    return session.answer();
  }();
  const Collection fresh(asked.library.catalogue(), {kFolder});
  std::vector<std::string> answers(4);
  std::vector<std::thread> threads;
  for (std::string& answer : answers)
    threads.emplace_back([&] {
      QuerySession session(fresh, asked.index.get(), query_of("word3 word4"));
      QueryHost host(asked.library);
      host.question = "word3 word4";
      host.run(session);
      answer = session.answer();
    });
  for (std::thread& thread : threads) thread.join();

  for (const std::string& answer : answers) CHECK(answer == expected);
}
