// How hits are chosen from a ranking: each passage once, and not too many of one document.

#include <doctest/doctest.h>

#include <tuple>

#include "index_fixture.h"
#include "query/session.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

std::string tea_note(int number) {
  return "Note " + std::string(1, static_cast<char>('a' + number)) + " says that tea of the kind " +
         std::string(3, static_cast<char>('b' + number)) +
         " is steamed before it is rolled and dried by whoever picked the leaves.";
}

// Of each of so many notes about tea so many copies, in files of their own.
struct CopyLibrary : Library {
  CopyLibrary(int notes, int copies) {
    for (int copy = 0; copy < copies; ++copy)
      for (int note = 0; note < notes; ++note)
        put({.name = std::to_string(note) + '/' + std::to_string(copy),
             .text = tea_note(note),
             .title = "Tea"});
    commit();
  }
};

// One document with many paragraphs about tea, and some with one.
struct LongLibrary : Library {
  explicit LongLibrary(int others) {
    std::string book;
    for (int note = 0; note < 12; ++note) book += tea_note(note) + "\n\n";
    put({.name = "book", .text = book});
    for (int note = 0; note < others; ++note)
      put({.name = "letter " + std::to_string(note),
           .text = "Letter " + std::string(2, static_cast<char>('m' + note)) + " is about a " +
                   std::string(4, static_cast<char>('m' + note)) +
                   " and its garden, and about tea, which is " +
                   std::string(3, static_cast<char>('m' + note)) + " there."});
    commit();
  }
};

// What people ask for: each passage once, two of a document.
Query usual_query(const std::string& question, QueryMode mode = QueryMode::kHybrid,
                  std::size_t k = 5) {
  Query query = query_of(question, mode, k);
  query.is_distinct = true;
  query.per_file = 2;
  return query;
}

JsonTree ask(Library& library, const Query& query) {
  const std::unique_ptr<Index> index = library.index();
  const Collection collection(library.catalogue(), {kFolder});
  return QueryHost(library, index.get()).ask(collection, query);
}

std::vector<std::string> paths_of(const JsonTree& answer) {
  std::vector<std::string> paths;
  for (const JsonTree& hit : at(answer, "hits").items) paths.push_back(at(hit, "path").text);
  return paths;
}

std::size_t count_in(const std::vector<std::string>& all, const std::string& one) {
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), one));
}

// The sum of what hits say of other places.
std::size_t places_in(const JsonTree& answer, const char* name) {
  std::size_t count = 0;
  for (const JsonTree& hit : at(answer, "hits").items) count += at(hit, name).items.size();
  return count;
}

}  // namespace

TEST_CASE("copies of a passage are one hit, which says where else it stands") {
  for (const QueryMode mode : kModes) {
    CAPTURE(static_cast<int>(mode));
    CopyLibrary library(6, 11);
    const JsonTree answer = ask(library, usual_query("steamed tea leaves", mode, 5));

    std::set<std::string> different;
    for (const std::string& path : paths_of(answer)) different.insert(path.substr(0, 1));
    CHECK(different.size() == 5);
    CHECK(paths_of(answer).size() == 5);
    for (const JsonTree& hit : at(answer, "hits").items) {
      CHECK(at(hit, "also").items.size() <= 10);
      for (const JsonTree& place : at(hit, "also").items) {
        CHECK(at(place, "path").text.substr(0, 2) == at(hit, "path").text.substr(0, 2));
        CHECK(at(place, "location").text == at(place, "path").text + ":1");
        CHECK(at(place, "line").integer == 1);
      }
    }
    CHECK(at(at(answer, "hits").items.at(0), "also").items.size() == 10);
    CHECK(explained(answer, "copies") >= 10);
  }
}

TEST_CASE("where copies fill what was ranked, more is ranked") {
  for (const QueryMode mode : kModes) {
    CAPTURE(static_cast<int>(mode));
    CopyLibrary library(5, 150);

    CHECK(at(ask(library, usual_query("steamed tea leaves", mode, 5)), "hits").items.size() == 5);
  }
}

TEST_CASE("fewer hits than were asked for are all there are") {
  CopyLibrary library(2, 4);

  const JsonTree answer = ask(library, usual_query("steamed tea", QueryMode::kHybrid, 5));

  CHECK(paths_of(answer).size() == 2);
  CHECK(places_in(answer, "also") == 6);
}

TEST_CASE("copies are hits of their own where they are asked for") {
  CopyLibrary library(2, 4);
  Query query = usual_query("steamed tea", QueryMode::kHybrid, 5);
  query.is_distinct = false;

  const JsonTree answer = ask(library, query);

  CHECK(paths_of(answer).size() == 5);
  CHECK(places_in(answer, "also") == 0);
  CHECK(explained(answer, "copies") == 0);
}

TEST_CASE("what shows nothing that another hit does not say is no hit") {
  // So much that of the chunk only what is about tea is shown, and little else.
  const auto filler = [](char name) {
    std::string text;
    for (int line = 0; line < 12; ++line)
      text += "Line " + std::string(2, name) + std::to_string(line) +
              " has words enough to be one of those of which a passage shows a few alone.\n";
    return text;
  };
  for (const QueryMode mode : kModes) {
    CAPTURE(static_cast<int>(mode));
    Library library;
    const std::string note = tea_note(0) + '\n' + tea_note(1) + '\n';
    for (const auto& [name, first, second] : {std::tuple("page", 'a', 'b'), {"book", 'b', 'a'}}) {
      const std::string text = filler(first) + note + filler(second);
      library.put({.name = name, .text = text, .chunks = {{{0, text.size()}, {}}}});
    }
    library.put({.name = "letter", .text = tea_note(5)});
    library.commit();
    const JsonTree answer = ask(library, usual_query("steamed tea of the kind bbb", mode, 3));

    CHECK(places_in(answer, "also") == 1);
  }
}

TEST_CASE("documents that are copies have the hits of one") {
  Library library;
  std::string book;
  for (int note = 0; note < 5; ++note) book += tea_note(note) + "\n\n";
  for (const char* name : {"one", "two", "three"}) library.put({.name = name, .text = book});
  for (int note = 6; note < 12; ++note)
    library.put({.name = "page " + std::to_string(note), .text = tea_note(note)});
  library.commit();
  Query query = usual_query("steamed tea leaves", QueryMode::kHybrid, 5);
  query.per_file = 1;

  const JsonTree answer = ask(library, query);

  std::size_t books = 0;
  for (const std::string& path : paths_of(answer)) books += path.substr(0, 4) != "page";
  CHECK(paths_of(answer).size() == 5);
  CHECK(books <= 1);
}

TEST_CASE("copies are not embedded") {
  CopyLibrary library(3, 8);
  const std::unique_ptr<Index> index = library.index();
  const Collection collection(library.catalogue(), {kFolder});
  QueryHost host(library, index.get());

  const JsonTree answer = host.ask(collection, usual_query("steamed tea", QueryMode::kHybrid, 5));

  CHECK(explained(answer, "candidates") == 3);
  CHECK(host.asked["embeddings"] == 1);
}

TEST_CASE("of one document there are only so many hits as long as others are among the best") {
  for (const QueryMode mode : {QueryMode::kHybrid, QueryMode::kLexical}) {
    CAPTURE(static_cast<int>(mode));
    LongLibrary library(4);
    const Query query = usual_query("tea", mode, 5);

    const JsonTree answer = ask(library, query);
    const std::vector<std::string> paths = paths_of(answer);

    CHECK(paths.size() == 5);
    CHECK(count_in(paths, "book") <= 2);
    double last = std::numeric_limits<double>::infinity();
    for (const JsonTree& hit : at(answer, "hits").items) {
      CHECK(at(hit, "score").real <= last);
      last = at(hit, "score").real;
    }
  }
}

TEST_CASE("where nothing else is among the best, a document has more hits, and names the rest") {
  LongLibrary library(1);
  const Query query = usual_query("tea", QueryMode::kHybrid, 5);

  const JsonTree answer = ask(library, query);
  const std::vector<std::string> paths = paths_of(answer);

  CHECK(paths.size() == 5);
  CHECK(count_in(paths, "book") == 4);
}

TEST_CASE("hits of others that are weak leave their place to those that are not") {
  LongLibrary library(6);
  Query query = usual_query("steamed tea", QueryMode::kHybrid, 3);
  query.per_file = 1;

  const JsonTree answer = ask(library, query);

  REQUIRE(count_in(paths_of(answer), "book") > 1);
  for (const JsonTree& hit : at(answer, "hits").items) CHECK(at(hit, "strength").text != "weak");
}

TEST_CASE("what is held back of a document is named by its first hit") {
  LongLibrary library(0);
  for (int note = 12; note < 18; ++note)
    library.put({.name = "page " + std::to_string(note), .text = tea_note(note)});
  library.commit();
  Query query = usual_query("steamed tea", QueryMode::kHybrid, 5);
  query.per_file = 1;

  const JsonTree answer = ask(library, query);

  CHECK(count_in(paths_of(answer), "book") < 5);
  CHECK(places_in(answer, "more") > 0);
  for (const JsonTree& hit : at(answer, "hits").items)
    for (const JsonTree& place : at(hit, "more").items) {
      CHECK(at(place, "path").text == at(hit, "path").text);
      CHECK(at(place, "id").integer != at(hit, "id").integer);
    }
}

TEST_CASE("hits from below those that were measured say how sure they are") {
  for (const QueryMode mode : kModes) {
    CAPTURE(static_cast<int>(mode));
    LongLibrary library(6);
    const JsonTree answer = ask(library, usual_query("tea of the kind that is steamed", mode, 5));

    CHECK(at(answer, "hits").items.size() == 5);
    for (const JsonTree& hit : at(answer, "hits").items)
      CHECK(!at(hit, "probability").is(JsonTree::Kind::kNothing));
  }
}

TEST_CASE("any number of hits of one document may be asked for") {
  LongLibrary library(4);
  Query query = usual_query("steamed tea", QueryMode::kHybrid, 5);
  query.per_file = 0;

  CHECK(places_in(ask(library, query), "more") == 0);
}

TEST_CASE("a copy in a file that has changed is not cited") {
  Library library;
  for (const char* name : {"one.txt", "two.txt", "three.txt"})
    library.put({.name = name, .text = tea_note(0), .is_file = true, .segment = kVerbatim});
  library.commit();
  library.files[kFolder + "/two.txt"] = "something else that is about as long as what was there";

  const JsonTree answer = ask(library, usual_query("steamed tea", QueryMode::kHybrid, 5));

  REQUIRE(paths_of(answer).size() == 1);
  REQUIRE(places_in(answer, "also") == 1);
  CHECK(at(at(at(answer, "hits").items[0], "also").items[0], "path").text != kFolder + "/two.txt");
}

TEST_CASE("a query says how copies and documents are shown") {
  CHECK(!Query::read("{}").is_distinct);
  CHECK(Query::read("{}").per_file == 0);
  CHECK(Query::read(R"({"is_distinct": true})").is_distinct);
  CHECK(Query::read(R"({"per_file": 7})").per_file == 7);
  CHECK(reason_of([] { Query::read(R"({"per_file": -1})"); }) == "invalid argument");
}
