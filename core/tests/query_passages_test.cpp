#include <doctest/doctest.h>

#include "index_fixture.h"
#include "query/needs.h"
#include "query/passages.h"
#include "query_fixture.h"
#include "query_host.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

// A collection and what reads of it.
struct Reading {
  explicit Reading(const Library& read)
      : library(read), collection(read.catalogue(), {kFolder}), host(read), reader(collection) {}

  ReadSpans read_texts() const {
    NeedsWriter needs;
    needs.texts(reader.texts());
    return host.read(at(read_back(needs.take()).items.at(0), "documents"));
  }
  void supply_texts() { reader.supply_texts(read_texts().views()); }
  void supply_away(bool is_answered = true) {
    std::vector<std::optional<AwayText>> chunks;
    for (const std::uint64_t id : reader.away())
      chunks.push_back(is_answered ? host.away_text(id) : std::nullopt);
    reader.supply_away(chunks, is_answered);
  }
  void read(const Ids& ids, bool with_places = true) {
    reader.begin(ids, with_places);
    while (!reader.texts().empty()) supply_texts();
    if (!reader.away().empty()) supply_away();
  }
  std::set<std::size_t> row_of(const std::string& path, bool is_file = true) const {
    return {library.catalogue()->find({path, is_file}).value()};
  }

  const Library& library;
  Collection collection;
  QueryHost host;
  PassageReader reader;
};

std::pair<std::int64_t, std::int64_t> lines_of(const Reading& reading, std::uint64_t id) {
  const Passage* passage = reading.reader.find(id);
  REQUIRE(passage != nullptr);
  return {passage->first, passage->last};
}
using Lines = std::pair<std::int64_t, std::int64_t>;

const std::string kChanged = "# Lease\n\nRent is due on the third.\n\nThe lease ends in March.\n";

}  // namespace

TEST_CASE("every chunk is read as it was indexed, wherever its text is") {
  const SmallLibrary library;
  Reading reading(library);
  const Ids ids = library.catalogue()->ids();

  reading.read(ids);

  CHECK(reading.reader.is_over());
  CHECK(reading.reader.stale().empty());
  for (const std::uint64_t id : ids) {
    const Passage* passage = reading.reader.find(id);
    REQUIRE(passage != nullptr);
    const Written& written = library.written.at(id);
    CHECK(passage->title == written.title);
    CHECK(passage->body == written.body);
    CHECK(passage->embedded == written.embedded);
  }
  CHECK(reading.reader.find(library.id_of("gone")) == nullptr);
}

TEST_CASE("chunks have the lines, or the numbers, that they stand on") {
  const SmallLibrary library;
  Reading reading(library);
  const std::uint64_t lease = library.id_of("lease.md"), notes = library.id_of("müller/notiz.txt");
  const std::uint64_t letters = library.id_of("letters.mbox"), away = library.id_of("away");

  reading.read({notes + 2, lease + 1, letters, notes, lease, letters + 1, away, notes + 2});

  CHECK(lines_of(reading, lease) == Lines{1, 3});
  CHECK(lines_of(reading, lease + 1) == Lines{5, 5});
  CHECK(lines_of(reading, notes) == Lines{1, 1});
  CHECK(lines_of(reading, notes + 2) == Lines{5, 5});
  CHECK(lines_of(reading, letters) == Lines{1, 2});
  CHECK(lines_of(reading, letters + 1) == Lines{1, 1});
  CHECK(lines_of(reading, away) == Lines{3, 3});
}

TEST_CASE("lines of what was read before are counted without reading it again") {
  const SmallLibrary library;
  Reading reading(library);
  const std::uint64_t lease = library.id_of("lease.md");
  reading.read({lease, lease + 1}, false);
  CHECK(lines_of(reading, lease + 1) == Lines{0, 0});

  reading.reader.begin(Ids{lease, lease + 1}, true);
  REQUIRE(reading.reader.texts().size() == 1);
  CHECK(reading.reader.texts()[0].spans == std::vector<TextSpan>{{0, 36}});
  reading.supply_texts();

  CHECK(lines_of(reading, lease) == Lines{1, 3});
  CHECK(lines_of(reading, lease + 1) == Lines{5, 5});
  reading.reader.begin(Ids{lease, lease + 1}, true);
  CHECK(reading.reader.is_over());
}

TEST_CASE("what is known of a document is held once, however often it is read") {
  const SmallLibrary library;
  Reading reading(library);
  const std::uint64_t tea = library.id_of("tea");

  reading.read({tea});
  reading.read({tea + 1});

  CHECK(reading.reader.find(tea)->chunk.document == reading.reader.find(tea + 1)->chunk.document);
}

TEST_CASE("lines before a chunk are counted in steps, however long the text is") {
  Library library;
  std::string text;
  while (text.size() < 3'500'000) text += "line\n";
  const std::size_t length = text.size();
  std::vector<ChunkSpan> chunks{{{0, 4}, {}}, {{5, 14}, {}}};
  for (const std::size_t at : {(std::size_t{1} << 20) + 4, length - 10, length - 5})
    chunks.push_back({{at / 5 * 5, at / 5 * 5 + 4}, {}});
  library.put(
      {.name = "long.txt", .text = text, .is_file = true, .segment = kVerbatim, .chunks = chunks});
  library.commit();
  Reading reading(library);

  reading.reader.begin(Ids{5, 4, 3, 2, 1}, true);
  int steps = 0;
  for (; !reading.reader.texts().empty(); ++steps) {
    std::size_t bytes = 0;
    for (const TextSpan span : reading.reader.texts()[0].spans) bytes += span.end - span.start;
    CHECK(bytes <= (1 << 20) + 5 * 4 + 5);
    reading.supply_texts();
  }

  CHECK(steps == 4);
  for (std::uint64_t id = 1; id <= 5; ++id) {
    const auto line = static_cast<std::int64_t>(chunks[id - 1].span.start / 5) + 1;
    CHECK(lines_of(reading, id) == Lines{line, id == 2 ? line + 1 : line});
  }
}

TEST_CASE("a text that is something else makes its source stale, and is never shown") {
  for (const std::string changed : {"", "# Lease\n\nshort", kChanged.c_str()}) {
    SmallLibrary library;
    Reading reading(library);
    library.files["/lib/lease.md"] = changed;
    const std::uint64_t lease = library.id_of("lease.md");

    reading.read({lease, library.id_of("tea")});

    CHECK(reading.reader.find(lease) == nullptr);
    CHECK(reading.reader.find(library.id_of("tea")) != nullptr);
    CHECK(reading.reader.stale() == reading.row_of("/lib/lease.md"));
  }
}

TEST_CASE("another title or another heading is another text") {
  SmallLibrary library;
  Reading reading(library);
  library.files["/lib/lease.md"].replace(2, 5, "Rents");
  const std::uint64_t lease = library.id_of("lease.md");

  reading.read({lease + 1});

  CHECK(reading.reader.find(lease + 1) == nullptr);
  CHECK(reading.reader.stale() == reading.row_of("/lib/lease.md"));
}

TEST_CASE("what is no UTF-8 is not shown, though it is what was indexed") {
  Library library;
  library.put({.name = "a", .text = "caf\xE9"});
  library.commit();
  Reading reading(library);

  reading.read({1});

  CHECK(reading.reader.find(1) == nullptr);
  CHECK(reading.reader.stale() == reading.row_of("a", false));
}

TEST_CASE("a source that changes while lines are counted is stale: none is made up") {
  SmallLibrary library;
  Reading reading(library);
  const std::uint64_t lease = library.id_of("lease.md");
  reading.read({lease, lease + 1}, false);
  library.files["/lib/lease.md"] = "";

  reading.read({lease, lease + 1});

  CHECK(reading.reader.find(lease + 1) == nullptr);
  CHECK(lines_of(reading, lease) == Lines{1, 3});
  CHECK(reading.reader.stale() == reading.row_of("/lib/lease.md"));
}

TEST_CASE("what a server says of a chunk is taken only if it is what was indexed") {
  const SmallLibrary library;
  const std::uint64_t away = library.id_of("away");
  const auto spoil = [&](auto&& change) {
    Reading reading(library);
    AwayText text = *reading.host.away_text(away);
    change(text);
    reading.reader.begin(Ids{away}, true);
    reading.reader.supply_away(std::vector{std::optional(text)}, true);
    CHECK(reading.reader.is_over());
    CHECK(reading.reader.stale().empty() == (reading.reader.find(away) != nullptr));
    return reading.reader.find(away) != nullptr;
  };
  CHECK(spoil([](AwayText&) {}));
  CHECK(!spoil([](AwayText& text) { ++text.id; }));
  CHECK(!spoil([](AwayText& text) { text.embedded += ' '; }));
  CHECK(!spoil([](AwayText& text) { text.body += ' '; }));
  CHECK(!spoil([](AwayText& text) { text.body = text.body.substr(1); }));
  CHECK(!spoil([](AwayText& text) { text.body = "Something else of this size."; }));
}

TEST_CASE("titles and lines that a server makes up do no harm") {
  const SmallLibrary library;
  const std::uint64_t away = library.id_of("away");
  Reading reading(library);
  AwayText text = *reading.host.away_text(away);
  text.title = "\xFF t";
  text.first = INT64_MIN;
  text.last = INT64_MIN;
  reading.reader.begin(Ids{away}, true);

  reading.reader.supply_away(std::vector{std::optional(text)}, true);

  CHECK(reading.reader.find(away)->title == "\uFFFD t");
  CHECK(lines_of(reading, away) == Lines{0, 0});
}

TEST_CASE("a chunk whose server does not answer is out of reach, and not stale") {
  const SmallLibrary library;
  const std::uint64_t away = library.id_of("away");
  Reading reading(library);
  reading.reader.begin(Ids{away, away + 1}, true);

  reading.supply_away(false);

  CHECK(reading.reader.find(away) == nullptr);
  CHECK(reading.reader.is_out_of_reach(away));
  CHECK(!reading.reader.is_out_of_reach(library.id_of("tea")));
  CHECK(reading.reader.stale().empty());
  const Passage& passage = reading.reader.without_text(away + 1);
  CHECK(passage.chunk.id == away + 1);
  CHECK(passage.body.empty());
  CHECK(passage.chunk.document->path == "away");
}

TEST_CASE("what is supplied of a wrong size or number is refused, and may come again") {
  const SmallLibrary library;
  Reading reading(library);
  const std::uint64_t lease = library.id_of("lease.md"), away = library.id_of("away");
  reading.reader.begin(Ids{lease, away}, true);
  ReadSpans right = reading.read_texts(), few = right, many = right, longer = right;
  few.bytes.pop_back();
  many.bytes.push_back(std::nullopt);
  longer.bytes.back()->push_back('x');

  for (const ReadSpans& spans : {few, many, longer, ReadSpans()})
    CHECK(reason_of([&] { reading.reader.supply_texts(spans.views()); }) == "invalid argument");
  CHECK(reason_of([&] { reading.reader.supply_away({}, true); }) == "invalid argument");
  CHECK(reason_of([&] {
          reading.reader.supply_away(std::vector<std::optional<AwayText>>(2), true);
        }) == "invalid argument");
  CHECK(reason_of([&] { reading.reader.begin(Ids{12345}, true); }) == "unknown id");

  reading.reader.supply_texts(right.views());
  reading.supply_away();
  CHECK(reading.reader.find(lease)->body == library.written.at(lease).body);
  CHECK(reading.reader.find(away)->body == library.written.at(away).body);
}

TEST_CASE("text around a passage goes no further than the text") {
  const SmallLibrary library;
  Reading reading(library);
  const std::uint64_t lease = library.id_of("lease.md"), letter = library.id_of("letters.mbox");
  reading.read({lease, lease + 1, letter});
  const auto around = [&](std::uint64_t id, std::size_t margin) {
    return text_around(*reading.reader.find(id), margin).spans;
  };
  using Spans = std::vector<TextSpan>;

  CHECK(around(lease + 1, 10) == Spans{{26, 36}, {60, 61}});
  CHECK(around(lease, 10) == Spans{{0, 0}, {34, 44}});
  CHECK(around(lease + 1, 0) == Spans{{36, 36}, {60, 60}});
  CHECK(around(lease, ~std::size_t{0}) == Spans{{0, 0}, {34, 61}});
  CHECK(around(letter, 1000) == Spans{{0, 0}, {31, 31}});  // a title stands behind
  CHECK(text_around(*reading.reader.find(lease), 1).document->path == "/lib/lease.md");
}

TEST_CASE("chunks of a document are found in any order, and more than once") {
  const SmallLibrary library;
  const Collection collection(library.catalogue(), {kFolder});
  const std::uint64_t tea = library.id_of("tea"), lease = library.id_of("lease.md");

  const std::vector<ChunkFacts> found =
      collection.find(Ids{lease + 1, tea + 2, tea, tea + 2, lease});

  REQUIRE(found.size() == 5);
  CHECK(found[0].place.context == std::vector<TextSpan>{{2, 7}});
  CHECK(found[4].place.context.empty());
  CHECK(found[1].place.span == found[3].place.span);
  CHECK(found[2].document == found[3].document);
  for (const ChunkFacts& chunk : found) {
    CHECK(chunk.check == check_of(library.written.at(chunk.id).embedded));
    CHECK(chunk.place.span.end - chunk.place.span.start ==
          library.written.at(chunk.id).body.size());
  }
}
