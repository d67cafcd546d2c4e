// What a session is given out of order, twice, or of a wrong size: it says so, and goes on.

#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "index_fixture.h"
#include "query/session.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

const Index& index_of_nothing() {
  static const std::unique_ptr<Index> index = Index::create(SmallLibrary().index()->codebook(), {});
  return *index;
}

using Call = std::function<void(QuerySession&)>;

// Every call that supplies something, with what is never right for more than one of them.
const std::map<std::string, Call> kCalls{
    {"question",
     [](QuerySession& s) {
       s.supply_question(index_of_nothing(), std::vector<float>(kWordDim + 1));
     }},
    {"words", [](QuerySession& s) { s.finish_words(); }},
    {"ranking", [](QuerySession& s) { s.supply_ranking({}, {"a"}, {}); }},
    {"postings", [](QuerySession& s) { s.supply_postings({}); }},
    {"vectors", [](QuerySession& s) { s.supply_vectors({}, {}); }},
    {"rows", [](QuerySession& s) { s.finish_rows(); }},
    {"texts", [](QuerySession& s) { s.supply_texts({}); }},
    {"embeddings", [](QuerySession& s) { s.supply_embeddings(std::vector<float>(1)); }},
    {"chunks", [](QuerySession& s) { s.supply_chunks({}, true); }}};

std::set<std::string> names_of(const JsonTree& needs) {
  std::set<std::string> names;
  for (const JsonTree& need : needs.items) names.insert(at(need, "need").text);
  return names;
}

// Tries all that is wrong, and that nothing comes of it.
void try_all_wrong(QuerySession& session) {
  const std::string before = session.needs();
  const std::set<std::string> needed = names_of(read_back(before));
  for (const auto& [name, call] : kCalls) {
    CAPTURE(name);
    const std::string reason = reason_of([&] { call(session); });
    if (!needed.contains(name) || name == "words")
      CHECK(reason == "wrong state");
    else
      CHECK((reason == "invalid argument" || reason == "wrong dimension"));
  }
  if (!needed.contains("ranking"))
    CHECK(reason_of([&] { session.count_words(); }) == "wrong state");
  if (!needed.contains("words")) CHECK(reason_of([&] { session.pass(); }) == "wrong state");
  CHECK(session.needs() == before);
  CHECK(session.is_over() == needed.empty());
  if (!session.is_over()) CHECK(reason_of([&] { session.answer(); }) == "wrong state");
}

}  // namespace

TEST_CASE("whatever is supplied wrongly between, the answer is the same") {
  SmallLibrary library;
  library.files["/lib/lease.md"][12] = '*';  // so that it begins again
  Collection collection(library.catalogue(), {kFolder});
  const auto index = library.index();
  PostingsWriter words;
  words.add(0, "rent");
  const Bytes postings =
      words.finish(static_cast<std::uint32_t>(collection.layout().chunk_count()), {});
  collection.attach_postings(
      ByteView(postings).first(PostingsView::head_bytes(postings, postings.size())),
      postings.size());
  std::set<std::string> seen;
  for (const WordSource source : {WordSource::kTexts, WordSource::kHost, WordSource::kPostings}) {
    Query query;
    query.question = "rent is due";
    query.k = 12;
    query.words = source;
    QueryHost host(library, index.get());
    host.question = query.question;
    host.ranking = {library.id_of("tea"), library.id_of("away")};
    host.postings = postings;
    QuerySession right(collection, true, query), session(collection, true, query);
    host.run(right);

    while (!session.is_over()) {
      try_all_wrong(session);
      const JsonTree needs = read_back(session.needs());
      for (const JsonTree& need : needs.items) {
        seen.insert(at(need, "need").text);
        host.supply(session, need);
        // Once more: only what a later round needs as well is taken.
        if (names_of(needs).size() > 1) try_all_wrong(session);
      }
    }
    try_all_wrong(session);

    CHECK(session.answer() == right.answer());
  }
  CHECK(seen == std::set<std::string>{"chunks", "embeddings", "postings", "question", "ranking",
                                      "texts", "vectors", "words"});
}

TEST_CASE("words that are counted partly are not ranked") {
  const SmallLibrary library;
  const Collection collection(library.catalogue(), {kFolder});
  QueryHost host(library);
  Query query;
  query.question = "tea";
  query.mode = QueryMode::kLexical;
  QuerySession session(collection, false, query);
  WordPass& pass = session.pass();
  REQUIRE(pass.pieces().size() > 1);

  for (std::size_t i = 0; i < pass.pieces().size(); ++i) {
    CHECK(reason_of([&] { session.finish_words(); }) == "wrong state");
    host.count(pass, pass.pieces()[i]);
    CHECK(reason_of([&] { host.count(pass, pass.pieces()[i]); }) == "wrong state");
  }
  session.finish_words();

  CHECK(reason_of([&] { session.finish_words(); }) == "wrong state");
  CHECK(hit_ids(host.run(session)).size() == 5);
}

TEST_CASE("a question without words needs no pass") {
  const SmallLibrary library;
  const Collection collection(library.catalogue(), {kFolder});
  Query query;
  query.mode = QueryMode::kLexical;
  for (const std::string question : {"", " ", "?!"}) {
    query.question = question;
    const QuerySession session(collection, false, query);
    CHECK(session.is_over());
    CHECK(session.needs() == "[]");
  }
}

TEST_CASE("a vector of the question that is none may be supplied again") {
  const SmallLibrary library;
  const Collection collection(library.catalogue(), {kFolder});
  const auto index = library.index();
  QueryHost host(library, index.get());
  Query query;
  query.question = host.question = "tea";
  query.mode = QueryMode::kSemantic;
  QuerySession session(collection, true, query);
  std::vector<float> vector = vector_of("tea");

  vector[3] = std::numeric_limits<float>::infinity();
  CHECK(reason_of([&] { session.supply_question(*index, vector); }) == "not finite");
  CHECK(reason_of([&] { session.supply_question(*index, std::span(vector).first(7)); }) ==
        "wrong dimension");
  CHECK(names_of(read_back(session.needs())) == std::set<std::string>{"question"});
  session.supply_question(*index, vector_of("tea"));
  CHECK(reason_of([&] { session.supply_question(*index, vector_of("tea")); }) == "wrong state");
  CHECK(hit_ids(host.run(session)).size() == 5);
}

TEST_CASE("a recall that cannot be is refused before anything is asked for") {
  const SmallLibrary library;
  const Collection collection(library.catalogue(), {kFolder});
  Query query;
  for (const double recall : {0.0, -1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    query.recall = recall;
    CHECK(reason_of([&] { QuerySession(collection, false, query); }) == "invalid argument");
  }
}

TEST_CASE("a question that is no text is refused at once") {
  const SmallLibrary library;
  const Collection collection(library.catalogue(), {kFolder});
  Query query;
  query.question = "tea \xFF";

  CHECK(reason_of([&] { QuerySession(collection, true, query); }) == "invalid argument");
}
