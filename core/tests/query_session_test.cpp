#include <doctest/doctest.h>

#include <thread>

#include "base/crc32c.h"
#include "index_fixture.h"
#include "query/session.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

TEST_CASE("a question by meaning alone counts no words, and one by words needs no vectors") {
  Small asked;

  const JsonTree semantic = asked.ask(query_of("the lease ends", QueryMode::kSemantic));
  CHECK(asked.host.asked["words"] == 0);
  CHECK(explained(semantic, "lexical_bytes") == 0);
  CHECK(hit_of(semantic, 0).find("distance")->is(JsonTree::Kind::kReal));
  CHECK(at(hit_of(semantic, 0), "ranks").find("lexical") == nullptr);
  asked.host.asked.clear();

  const JsonTree lexical = asked.ask(query_of("the lease ends", QueryMode::kLexical));
  CHECK(asked.host.asked == std::map<std::string, int>{{"words", 1}, {"texts", 2}});
  CHECK(at(hit_of(lexical, 0), "distance").is(JsonTree::Kind::kNothing));
  CHECK(at(hit_of(lexical, 0), "ranks").find("semantic") == nullptr);
  CHECK(explained(lexical, "codes_touched") == 0);
  CHECK(hit_ids(lexical) == Ids{asked.id("lease.md") + 1, asked.id("lease.md")});
}

TEST_CASE("codes are scanned once for a question by meaning and words") {
  Large asked;

  const JsonTree answer = asked.ask(query_of("word3 word4"));

  CHECK(explained(answer, "codes_touched") == explained(answer, "chunks"));
  CHECK(explained(answer, "rounds") >= 1);
}

TEST_CASE("a filter holds for both rankings, and says how much it left") {
  Small asked;
  for (const QueryMode mode : kModes) {
    Query query = query_of("tea rent landlord", mode, 50);
    query.filter = R"({"where": "lang == 'de'"})";

    const JsonTree answer = asked.ask(query);

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

      const JsonTree answer = asked.ask(query);

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

  const JsonTree answer = asked.ask(query);

  CHECK(hit_ids(answer) == Ids{tea + 1, away});
  CHECK(at(at(hit_of(answer, 1), "ranks"), "lexical").integer == 2);
  CHECK(at(at(at(answer, "explanation"), "lexical_terms"), "word").integer == 7);
  CHECK(at(at(answer, "explanation"), "counts_words").integer == 0);
}

TEST_CASE("a host may know other terms than the question has") {
  Small asked;
  Query query = query_of("tea", QueryMode::kLexical);
  query.words = WordSource::kHost;
  QuerySession session(asked.collection, false, query);
  const Ids ids{asked.id("tea")};

  CHECK(reason_of([&] { session.supply_ranking(ids, {"a", "b"}, {1}); }) == "invalid argument");
  session.supply_ranking(ids, {"a", "b", "c"}, {1, 2, 3});

  const JsonTree answer = asked.host.run(session);
  CHECK(at(at(at(answer, "explanation"), "lexical_terms"), "c").integer == 3);
  CHECK(hit_ids(answer) == ids);
}

TEST_CASE("where a host cannot rank, words are counted in the texts after all") {
  Small asked;
  Query query = query_of("rent landlord", QueryMode::kLexical);
  const Ids by_texts = asked.hits(query);
  query.words = WordSource::kHost;
  QuerySession session(asked.collection, false, query);

  session.count_words();

  CHECK(hit_ids(asked.host.run(session)) == by_texts);
  CHECK(reason_of([&] { session.count_words(); }) == "wrong state");
}

TEST_CASE("postings of an earlier release are asked for terms as that release made them") {
  Large asked;
  // One term, in the first chunk, as docs/format.md has it.
  const std::string term = "straße";
  ByteWriter block, head, words;
  const Bytes list{0};
  block.put_varint(0);
  block.put_varint(term.size());
  block.put_bytes({reinterpret_cast<const std::uint8_t*>(term.data()), term.size()});
  block.put_varint(1);
  block.put_varint(list.size());
  block.put(crc32c(list));
  const Bytes packed = block.take();
  head.put(std::uint32_t{0});
  head.put(crc32c(packed));
  head.put(std::uint64_t{0});
  head.put_varint(term.size());
  head.put_bytes({reinterpret_cast<const std::uint8_t*>(term.data()), term.size()});
  const Bytes heads = head.take();
  words.put_bytes(ByteView(reinterpret_cast<const std::uint8_t*>("GSMWORDS"), 8));
  words.put(std::uint32_t{1});
  words.put(static_cast<std::uint32_t>(asked.collection.layout().chunk_count()));
  words.put(std::uint32_t{1});
  words.put(std::uint32_t{1});
  words.put(std::uint64_t{list.size()});
  words.put(static_cast<std::uint32_t>(heads.size()));
  words.put(crc32c(heads));
  for (const Bytes& part : {heads, packed, list}) words.put_bytes(part);
  asked.host.postings = words.take();
  const Bytes& postings = asked.host.postings;
  asked.collection.attach_postings(
      ByteView(postings).first(PostingsView::head_bytes(postings, postings.size())),
      postings.size());
  Query query = query_of("Straße", QueryMode::kLexical, 10);
  query.words = WordSource::kPostings;

  CHECK(hit_ids(asked.ask(query)) == Ids{asked.collection.layout().id_of(0)});
  query.question = "strasse";
  CHECK(hit_ids(asked.ask(query)).empty());
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
  const JsonTree by_texts = asked.ask(query);
  query.words = WordSource::kPostings;
  CHECK(reason_of([&] { asked.ask(query); }) == "wrong state");
  const Bytes& postings = asked.host.postings;
  asked.collection.attach_postings(
      ByteView(postings).first(PostingsView::head_bytes(postings, postings.size())),
      postings.size());

  const JsonTree by_postings = asked.ask(query);

  CHECK(hit_ids(by_texts) == hit_ids(by_postings));
  CHECK(asked.host.asked["postings"] == 2);
  query.question = "unheard";
  query.mode = QueryMode::kLexical;
  CHECK(asked.hits(query).empty());
}

TEST_CASE("stale sources leave their place to others, and what is known is not embedded again") {
  Large asked;
  const Query query = query_of("word3 word4", QueryMode::kHybrid, 8);
  const JsonTree before = asked.ask(query);
  std::string path;
  for (const JsonTree& hit : at(before, "hits").items)
    if (asked.library.files.contains(at(hit, "path").text)) path = at(hit, "path").text;
  REQUIRE(!path.empty());
  asked.library.files[path].replace(0, 1, "*");
  asked.library.files[path].back() = '*';
  for (char& letter : asked.library.files[path])
    if (letter == 'w') letter = 'v';
  asked.host.embedded.clear();

  const JsonTree answer = asked.ask(query);

  CHECK(hit_ids(answer).size() == 8);
  for (const JsonTree& hit : at(answer, "hits").items) CHECK(at(hit, "path").text != path);
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

    const JsonTree answer = asked.ask(query_of("rent tea", mode, 50));

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

  const JsonTree answer = host.ask(collection, query_of("tea"));

  CHECK(hit_ids(answer).empty());
  CHECK(stale_of(answer).size() == 2000);
  CHECK(host.asked["words"] <= 8);
}

TEST_CASE("the ids that may be found are those of filter and exclusion") {
  Small asked;
  Query query = query_of("tea");
  CHECK(!QuerySession(asked.collection, false, query).allowed_ids());
  query.filter = R"({"where": "year == 2021"})";
  query.excluded = {asked.id("tea") + 1};
  CHECK(QuerySession(asked.collection, false, query).allowed_ids() ==
        Ids{asked.id("tea"), asked.id("tea") + 2});
}

TEST_CASE("chunks that an index has and its catalogue has not are no answers") {
  Small asked;
  Library other;
  other.put({.name = "a", .text = "Something else."});
  other.commit();
  const Collection collection(other.catalogue(), {kFolder});

  CHECK(hit_ids(asked.host.ask(collection, query_of("tea", QueryMode::kSemantic))).size() <= 1);
  QuerySession session(collection, true, query_of("tea"));
  CHECK(reason_of([&] { asked.host.run(session); }) == "unknown id");
  CHECK(!session.is_over());
  CHECK(reason_of([&] { session.answer(); }) == "wrong state");
}

TEST_CASE("questions are asked of one collection at the same time") {
  Large asked;
  const std::string expected = [&] {
    QuerySession session(asked.collection, true, query_of("word3 word4"));
    QueryHost host(asked.library, asked.index.get());
    host.question = "word3 word4";
    host.run(session);
    return session.answer();
  }();
  const Collection fresh(asked.library.catalogue(), {kFolder});
  std::vector<std::string> answers(4);
  std::vector<std::thread> threads;
  for (std::string& answer : answers)
    threads.emplace_back([&] {
      QuerySession session(fresh, true, query_of("word3 word4"));
      QueryHost host(asked.library, asked.index.get());
      host.question = "word3 word4";
      host.run(session);
      answer = session.answer();
    });
  for (std::thread& thread : threads) thread.join();

  for (const std::string& answer : answers) CHECK(answer == expected);
}
