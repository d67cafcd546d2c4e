#include <doctest/doctest.h>

#include "index_fixture.h"
#include "query/words.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

const std::vector<std::string> kRoots{kFolder};

Bytes postings_of(const Library& library, const Collection& collection) {
  PostingsWriter words;
  for (const ChunkLayout::Document& document : collection.layout().documents()) {
    if (document.segment == static_cast<std::uint32_t>(kAway)) continue;
    const DocumentFacts facts = collection.document(document.row);
    std::string text;
    if (facts.is_verbatim()) {
      text = library.files.at(facts.path);
    } else {
      const auto start = static_cast<std::uint64_t>(facts.document.offset);
      const Bytes bytes = library.texts.read(
          document.segment, start, start + static_cast<std::uint64_t>(facts.document.length));
      text.assign(bytes.begin(), bytes.end());
    }
    count_document(collection.layout(), document.first_id, text, words);
  }
  return words.finish(static_cast<std::uint32_t>(collection.layout().chunk_count()), {});
}

WordRanking rank_by_texts(const Library& library, const Collection& collection,
                          const LexicalQuery& query, const Scope& scope, std::size_t best = 100) {
  const QueryHost host(library);
  WordPass pass(query, collection.layout(), scope);
  for (const WordPiece& piece : pass.pieces()) host.count(pass, piece);
  CHECK(pass.is_counted());
  return pass.rank(best);
}

WordRanking rank_by_postings(const Library& library, const Bytes& postings,
                             const Collection& collection, const LexicalQuery& query,
                             const Scope& scope, std::size_t best = 100) {
  const std::size_t head = PostingsView::head_bytes(postings, postings.size());
  const PostingsView view(ByteView(postings).first(head), postings.size());
  PostingsPass pass(query, view, collection.layout(), scope);
  while (!pass.ranges().empty()) {
    std::vector<ByteView> bytes;
    for (const PostingsView::Range& range : pass.ranges())
      bytes.push_back(ByteView(postings).subspan(range.at, range.length));
    pass.supply(bytes);
  }
  TermCounter counter(query);
  for (const std::uint64_t id : pass.uncertain(best, SIZE_MAX)) {
    const ChunkLayout& layout = collection.layout();
    const ChunkNumber chunk = layout.number_of(id).value();
    if (!layout.title_near(layout.document_of(chunk), chunk).empty())
      counter.add(library.written.at(id).title);
    counter.add(library.written.at(id).body);
    pass.take_pairs(id, counter);
  }
  return pass.rank(best);
}

}  // namespace

TEST_CASE("postings give the same ranking as a pass over the texts") {
  const LargeLibrary library;
  const Collection collection(library.catalogue(), kRoots);
  const Bytes postings = postings_of(library, collection);
  Scope filtered, stale, excluding;
  auto some = std::make_shared<Allowed>(library.catalogue()->counts().documents);
  for (std::size_t row = 0; row < some->size(); row += 3) (*some)[row] = true;
  filtered.allowed = some;
  stale.stale = {0, 7, 30};
  excluding.excluded = {library.id_of("n0"), library.id_of("n20")};
  std::string many;
  for (int i = 0; i < 200; ++i) many += "word" + std::to_string(i) + ' ';

  for (const std::string& question :
       {std::string("word7"), std::string("word1 word2 title nothing"), many,
        std::string("absent")})
    for (const Scope& scope : {Scope(), filtered, stale, excluding}) {
      const LexicalQuery query(question);
      const WordRanking by_texts = rank_by_texts(library, collection, query, scope);
      const WordRanking by_postings = rank_by_postings(library, postings, collection, query, scope);

      CHECK(by_texts.ids == by_postings.ids);
      CHECK(by_texts.chunks_with == by_postings.chunks_with);
      CHECK(by_texts.ids.empty() == (question == "absent"));
      for (const std::uint64_t id : by_texts.ids) CHECK(!scope.excluded.contains(id));
    }
}

TEST_CASE("words are found where they stand, in titles too") {
  const SmallLibrary library;
  const Collection collection(library.catalogue(), kRoots);

  const auto ids = [&](const std::string& question) {
    WordRanking ranking = rank_by_texts(library, collection, LexicalQuery(question), Scope());
    std::sort(ranking.ids.begin(), ranking.ids.end());
    return ranking.ids;
  };

  const std::uint64_t lease = library.id_of("lease.md"), tea = library.id_of("tea");
  CHECK(ids("lease") == Ids{lease, lease + 1});
  CHECK(ids("leaves") == Ids{tea, tea + 1, tea + 2});
  CHECK(ids("flat") == Ids{library.id_of("letters.mbox")});
  CHECK(ids("signed winter higher").empty());
  CHECK(ids("").empty());
  CHECK(rank_by_texts(library, collection, LexicalQuery("tea"), Scope(), 2).ids.size() == 2);
}

TEST_CASE("a file that is gone or too short is told, and its words are not counted") {
  SmallLibrary library;
  library.files.erase("/lib/lease.md");
  library.files["/lib/müller/notiz.txt"] = "Notes";
  const Collection collection(library.catalogue(), kRoots);
  const LexicalQuery query("rent");
  const Scope scope;
  const QueryHost host(library);
  WordPass pass(query, collection.layout(), scope);

  for (const WordPiece& piece : pass.pieces()) host.count(pass, piece);

  const std::set<std::size_t> expected{
      library.catalogue()->find({"/lib/lease.md", true}).value(),
      library.catalogue()->find({"/lib/müller/notiz.txt", true}).value()};
  CHECK(std::set<std::size_t>(pass.unreadable_sources().begin(), pass.unreadable_sources().end()) ==
        expected);
  CHECK(pass.rank(10).ids == Ids{library.id_of("letters.mbox")});
}

TEST_CASE("a piece is counted once, whatever it says of itself") {
  const SmallLibrary library;
  const Collection collection(library.catalogue(), kRoots);
  const LexicalQuery query("tea");
  const Scope scope;
  const QueryHost host(library);
  WordPass pass(query, collection.layout(), scope);
  WordPiece none = pass.pieces()[0], forged = pass.pieces()[1];
  none.number = static_cast<std::uint32_t>(pass.pieces().size());
  forged.first = forged.last = 1 << 30;

  host.count(pass, pass.pieces()[0]);
  CHECK(reason_of([&] { host.count(pass, pass.pieces()[0]); }) == "wrong state");
  CHECK(reason_of([&] { pass.count(none, "tea"); }) == "invalid argument");
  CHECK(reason_of([&] { pass.count(pass.pieces()[1], std::string(1 << 20, ' ')); }) ==
        "invalid argument");
  CHECK(!pass.is_counted());
  pass.count(forged, "");
  for (std::size_t i = 2; i < pass.pieces().size(); ++i) host.count(pass, pass.pieces()[i]);
  CHECK(pass.is_counted());
}

TEST_CASE("texts are read in pieces, and what lies far apart is not read") {
  Library library;
  std::string text;
  std::vector<ChunkSpan> chunks;
  for (int i = 0; i < 40; ++i) {
    chunks.push_back({{text.size(), text.size() + 3}, {}});
    text += "tea" + std::string(i % 8 == 7 ? 200'000 : 60'000, ' ');
  }
  library.put(
      {.name = "long.txt", .text = text, .is_file = true, .segment = kVerbatim, .chunks = chunks});
  library.commit();
  const Collection collection(library.catalogue(), kRoots);
  const LexicalQuery query("tea");
  const Scope scope;
  const QueryHost host(library);
  WordPass pass(query, collection.layout(), scope);

  std::uint64_t bytes = 0;
  for (const WordPiece& piece : pass.pieces()) {
    CHECK(piece.end - piece.begin <= 1 << 20);
    bytes += piece.end - piece.begin;
    host.count(pass, piece);
  }

  CHECK(pass.pieces().size() == 5);
  CHECK(pass.bytes_read() == bytes);
  CHECK(bytes < text.size() - 4 * 200'000);
  CHECK(pass.rank(100).ids.size() == 40);
}

TEST_CASE("chunks that say the same again and again are counted in pieces that end") {
  Library library;
  const std::string text(1 << 20, ' ');
  library.put(
      {.name = "a", .text = text, .chunks = std::vector<ChunkSpan>(200, {{0, 1 << 20}, {}})});
  library.commit();
  const Collection collection(library.catalogue(), kRoots);
  const LexicalQuery query("tea");
  const Scope scope;

  const WordPass pass(query, collection.layout(), scope);

  CHECK(pass.pieces().size() == 4);
}

TEST_CASE("postings that are damaged, short or of another index are refused, and may come again") {
  const LargeLibrary library;
  const Collection collection(library.catalogue(), kRoots);
  const Bytes postings = postings_of(library, collection);
  const std::size_t head = PostingsView::head_bytes(postings, postings.size());
  const PostingsView view(ByteView(postings).first(head), postings.size());
  const LexicalQuery query("word1 and word2");
  const Scope scope;
  PostingsPass pass(query, view, collection.layout(), scope);
  const WordRanking right = rank_by_postings(library, postings, collection, query, scope);

  while (!pass.ranges().empty()) {
    std::vector<Bytes> bytes, spoilt;
    for (const PostingsView::Range& range : pass.ranges()) {
      const ByteView part = ByteView(postings).subspan(range.at, range.length);
      bytes.emplace_back(part.begin(), part.end());
    }
    spoilt = bytes;
    spoilt.back()[0] ^= 1;
    const auto views = [](const std::vector<Bytes>& of) {
      return std::vector<ByteView>(of.begin(), of.end());
    };
    CHECK(reason_of([&] { pass.supply(views(spoilt)); }) == "damaged");
    spoilt.back().pop_back();
    CHECK(reason_of([&] { pass.supply(views(spoilt)); }) == "truncated");
    spoilt.pop_back();
    CHECK(reason_of([&] { pass.supply(views(spoilt)); }) == "invalid argument");
    pass.supply(views(bytes));
  }
  CHECK(pass.rank(100).ids == right.ids);
  CHECK(reason_of([&] { pass.supply({}); }) == "wrong state");

  const SmallLibrary other;
  const Collection small(other.catalogue(), kRoots);
  CHECK(reason_of([&] { PostingsPass(query, view, small.layout(), scope); }) == "damaged");
}
