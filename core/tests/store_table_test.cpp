#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "index_fixture.h"
#include "store/schema.h"
#include "store/source_rows.h"
#include "store/strings.h"
#include "store/table_pack.h"
#include "store/verify.h"
#include "store_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

struct Built {
  Strings strings;
  Table sources{sources_schema()};
};

Built build(int count) {
  Built built;
  for (int i = 0; i < count; ++i) append_source(file_of(i), built.strings, built.sources);
  return built;
}

}  // namespace

TEST_CASE("sources that were packed are unpacked as they were") {
  const Built built = build(40);
  const Bytes bytes = pack_table(built.sources, kRuns);
  const Strings strings = Strings::read(built.strings.pack(kRuns), Origin::kOther, kRuns);

  const Table sources = unpack_table(bytes, sources_schema(), Origin::kOther, kRuns);
  verify_sources(sources, strings.size(), Origin::kOther);

  const SourceRows rows(sources, strings);
  REQUIRE(rows.size() == 40);
  for (int i = 0; i < 40; ++i) expect_equal(rows.source(static_cast<std::size_t>(i)), file_of(i));
  CHECK(bytes.size() < 40 * 150);
}

TEST_CASE("rows are taken with all they own") {
  const Built built = build(10);
  Table some(sources_schema());
  const std::vector<std::size_t> rows = {7, 2};
  some.append(built.sources, rows);
  some.append(built.sources);

  const SourceRows read(some, built.strings);

  REQUIRE(read.size() == 12);
  expect_equal(read.source(0), file_of(7));
  expect_equal(read.source(1), file_of(2));
  expect_equal(read.source(2), file_of(0));
}

TEST_CASE("bytes that are cut short or changed are refused or give a table") {
  const Bytes whole = pack_table(build(5).sources, kRuns);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(reason_of([&] { unpack_table(bytes, sources_schema(), Origin::kOther, kRuns); }) !=
          "none");
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= 0x55;
    reason_of([&] {
      verify_sources(unpack_table(bytes, sources_schema(), Origin::kOther, kRuns), 99,
                     Origin::kOther);
    });
  }
}

TEST_CASE("what cannot be in a catalogue is refused") {
  const auto reason = [](auto change) {
    Built built = build(3);
    change(built.sources);
    return reason_of([&] { verify_sources(built.sources, built.strings.size(), Origin::kOther); });
  };
  const auto documents = [](Table& sources) -> Table& {
    return sources.children[SourceColumns::kDocument];
  };
  const auto chunks = [&](Table& sources) -> Table& {
    return documents(sources).children[DocumentColumns::kChunk];
  };

  CHECK(reason([](Table&) {}) == "none");
  CHECK(reason([](Table& t) { t.columns[SourceColumns::kRoot][1] = 99; }) == "damaged");
  CHECK(reason([](Table& t) { t.columns[SourceColumns::kStatus][1] = 3; }) == "damaged");
  CHECK(reason([&](Table& t) { documents(t).columns[DocumentColumns::kFirstChunk][1] = 2; }) ==
        "damaged");
  CHECK(reason([&](Table& t) { documents(t).columns[DocumentColumns::kTitleLength][0] = 999; }) ==
        "damaged");
  CHECK(reason([&](Table& t) { chunks(t).columns[ChunkColumns::kLength][2] = 0; }) == "damaged");
  CHECK(reason([&](Table& t) { chunks(t).columns[ChunkColumns::kGap][0] = -1; }) == "damaged");
  CHECK(reason([&](Table& t) { chunks(t).columns[ChunkColumns::kShared][0] = 1; }) == "damaged");
  CHECK(reason([](Table& t) { t.children[SourceColumns::kName].content[0] = '/'; }) == "damaged");
  CHECK(reason([](Table& t) {
          Bytes& names = t.children[SourceColumns::kName].content;
          names[6] = names[7] = '.';
          names[8] = '/';
        }) == "damaged");
}
