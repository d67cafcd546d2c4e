#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "index_fixture.h"
#include "store/catalogue.h"
#include "store/source_list.h"
#include "store/source_rows.h"
#include "store_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

SourceRecord source_of(const std::string& root, const std::string& name, std::int64_t first) {
  SourceRecord source;
  source.root = root;
  source.name = name;
  source.kind = "text";
  source.size = 30;
  DocumentRecord document;
  document.kind = "text";
  document.segment = root.empty() ? 5 : kVerbatim;
  document.length = 30;
  document.offset = root.empty() ? 7 : 0;
  document.first_chunk = first;
  document.chunks = {{{{0, 10}, {}}, 1}, {{{10, 30}, {{0, 4}}}, 2}};
  source.documents = {document};
  return source;
}

SourceList list_of(const std::vector<SourceRecord>& records) {
  Strings strings;
  Table sources(sources_schema());
  for (const SourceRecord& record : records) append_source(record, strings, sources);
  return {std::move(strings), std::move(sources)};
}

std::vector<std::string> names_of(const SourceList& list) {
  const SourceRows rows(list.sources(), list.strings());
  std::vector<std::string> names;
  for (std::size_t row = 0; row < rows.size(); ++row) names.push_back(rows.name(row).path);
  return names;
}

Bytes content_of(const SourceList& list) {
  Bytes content;
  list.give_content(
      [&](ByteView piece) { content.insert(content.end(), piece.begin(), piece.end()); });
  return content;
}

const SourceRecord kFile = source_of("/r", "b", 1), kText = source_of("", "a", 11),
                   kOther = source_of("/q", "c", 21);

}  // namespace

TEST_CASE("a list comes back from its bytes") {
  const SourceList list = list_of({kFile, kText});

  const SourceList again = SourceList::read(list.pack(kRuns), Origin::kOther, kRuns);

  CHECK(names_of(again) == std::vector<std::string>{"/r/b", "a"});
  CHECK(again.pack(kRuns) == list.pack(kRuns));
  CHECK(again.text_lengths() == Ints{30, 30});
}

TEST_CASE("the same content gives the same bytes, whatever led to it") {
  const SourceList one = list_of({kFile, kText, kOther});
  const SourceList other = list_of({kOther}).join(list_of({kText})).join(list_of({kFile}));

  CHECK(one.take(one.order()).pack(kRuns) == other.take(other.order()).pack(kRuns));
  CHECK(content_of(one) == content_of(other));
  CHECK(content_of(one) == content_of(one.put_texts_away()));
  CHECK(content_of(one) != content_of(list_of({kFile, kText})));
}

TEST_CASE("strings that no row needs are forgotten") {
  const SourceList list = list_of({kFile, kOther});

  const SourceList part = list.take(std::vector<std::size_t>{1});

  CHECK(part.strings().size() == 3);  // nothing, the root, the kind
  CHECK(names_of(part) == std::vector<std::string>{"/q/c"});
  CHECK_THROWS_AS(list.take(std::vector<std::size_t>{2}), Error);
}

TEST_CASE("a text that was its file keeps its length when it is put elsewhere") {
  const SourceList placed = list_of({kFile}).place_texts(Ints{9}, Ints{100});

  const DocumentRecord document = SourceRows(placed.sources(), placed.strings()).document_alone(0);
  CHECK(document.segment == 9);
  CHECK(document.offset == 100);
  CHECK(document.length == 30);
  CHECK_THROWS_AS(list_of({kFile}).place_texts(Ints{}, Ints{}), Error);
}

TEST_CASE("roots get other names, and sources the order of these") {
  const SourceList list = list_of({kOther, kFile});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.strings().size(); ++i) {
    const std::string& text = list.strings()[static_cast<std::int64_t>(i)];
    names.push_back(text == "/q" ? "z" : text == "/r" ? "docs" : text);
  }

  const SourceList renamed = list.rename_roots(names);

  CHECK(names_of(renamed.take(renamed.order())) == std::vector<std::string>{"docs/b", "z/c"});
}

TEST_CASE("a list is a catalogue of one segment, without texts and codes") {
  SourceRecord away = source_of("", "away", 31);
  away.documents[0].segment = kAway;
  const SourceList list = list_of({kText, kFile, away});
  const auto segment = std::make_shared<const Segment>(list.take(list.order()));

  const Catalogue catalogue({segment});
  catalogue.verify();

  CHECK(catalogue.counts() == Counts{3, 3, 6});
  CHECK(catalogue.ids() == Ids{1, 2, 11, 12, 31, 32});
  for (const SourceRecord& record : {kText, kFile, away}) {
    const auto row = catalogue.find(name_of(record));
    REQUIRE(row);
    const Catalogue::Place place = catalogue.source(*row);
    expect_equal(place.group->rows.source(place.row), record);
    const DocumentRecord& document = record.documents[0];
    const auto chunk = catalogue.chunk(static_cast<std::uint64_t>(document.first_chunk) + 1);
    CHECK(chunk.document_row == catalogue.documents_of(*row).first);
    CHECK(chunk.document.group->rows.document_alone(chunk.document.row).segment ==
          document.segment);
  }
  CHECK(reason_of([&] { catalogue.chunk(3); }) == "unknown id");
  CHECK(catalogue.codes().count() == 0);
  CHECK(catalogue.stamp() == CodeStamp());
  CHECK(catalogue.parts()[0].segment->texts().size() == 0);
  CHECK(names_of(catalogue.list()) == names_of(list.take(list.order())));
}

TEST_CASE("an empty list is an empty catalogue") {
  const Catalogue catalogue({std::make_shared<const Segment>(SourceList())});
  catalogue.verify();

  CHECK(catalogue.counts() == Counts());
  CHECK(catalogue.ids().empty());
  CHECK(!catalogue.find({"a", false}));
  CHECK(reason_of([&] { catalogue.chunk(1); }) == "unknown id");
}

TEST_CASE("headings of a stranger's chunk are not longer together than a chunk can be") {
  SourceRecord record = source_of("", "a", 1);
  DocumentRecord& document = record.documents[0];
  document.length = 1 << 17;
  const ChunkSpan place{{100'000, 100'010}, std::vector<TextSpan>(17, {0, 60'000})};
  document.chunks = {{place, 1}, {place, 2}};
  const Bytes just = list_of({record}).pack(kRuns);
  document.chunks[1].place.context.push_back({0, 60'000});
  const Bytes more = list_of({record}).pack(kRuns);

  CHECK(reason_of([&] { SourceList::read(just, Origin::kOther, kRuns); }) == "none");
  CHECK(reason_of([&] { SourceList::read(more, Origin::kOther, kRuns); }) == "damaged");
  CHECK(reason_of([&] { SourceList::read(more, Origin::kOwn, kRuns); }) == "none");
}
