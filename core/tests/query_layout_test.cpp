#include <doctest/doctest.h>

#include "index_fixture.h"
#include "query/layout.h"
#include "query_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

ChunkLayout layout_of(const Library& library, std::vector<std::string> roots = {kFolder}) {
  return ChunkLayout(*library.catalogue(), Roots(std::move(roots)));
}

}  // namespace

TEST_CASE("a layout has every live chunk, by rising ids") {
  const SmallLibrary library;

  const ChunkLayout layout = layout_of(library);

  Ids live = library.catalogue()->ids();
  std::sort(live.begin(), live.end());
  REQUIRE(layout.chunk_count() == live.size());
  for (ChunkNumber chunk = 0; chunk < live.size(); ++chunk) {
    CHECK(layout.id_of(chunk) == live[chunk]);
    CHECK(layout.number_of(live[chunk]) == chunk);
    const TextSpan span = layout.span(chunk);
    CHECK(span.end - span.start == library.written.at(live[chunk]).body.size());
  }
  CHECK(!layout.number_of(0));
  CHECK(!layout.number_of(library.id_of("gone")));
  CHECK(!layout.number_of(live.back() + 1));
  CHECK(!layout.number_of(~std::uint64_t{0}));
}

TEST_CASE("documents know their source, their file and whether their text is here") {
  const SmallLibrary library;

  const ChunkLayout layout = layout_of(library);

  const auto document = [&](const std::string& name) {
    return layout.document_of(layout.number_of(library.id_of(name)).value());
  };
  CHECK(layout.path_of(document("lease.md")) == "/lib/lease.md");
  CHECK(document("lease.md").segment == kVerbatim);
  CHECK(layout.path_of(document("tea")).empty());
  CHECK(document("tea").segment == 10);
  CHECK(document("away").segment == kAway);
  CHECK(layout.has_away_texts());
  for (const ChunkLayout::Document& one : layout.documents()) {
    CHECK(one.source == library.catalogue()->source_of(one.row));
    CHECK(one.first_id ==
          static_cast<std::uint64_t>(
              library.catalogue()
                  ->document(one.row)
                  .group->rows.document_alone(library.catalogue()->document(one.row).row)
                  .first_chunk));
  }
}

TEST_CASE("texts are read in the order in which they lie, and none that is elsewhere") {
  const SmallLibrary library;

  const ChunkLayout layout = layout_of(library);

  std::pair<std::uint64_t, std::uint64_t> before{0, 0};
  for (const std::uint32_t number : layout.text_order()) {
    const ChunkLayout::Document& document = layout.documents()[number];
    CHECK(document.segment != static_cast<std::uint32_t>(kAway));
    const std::pair<std::uint64_t, std::uint64_t> place{document.segment, document.offset};
    CHECK(before <= place);
    before = place;
  }
  CHECK(layout.text_order().size() + 1 == layout.documents().size());
}

TEST_CASE("a file outside the folders of an index counts as away") {
  const SmallLibrary library;

  const ChunkLayout layout = layout_of(library, {"/library"});

  const auto chunk = layout.number_of(library.id_of("lease.md"));
  CHECK(layout.document_of(chunk.value()).segment == static_cast<std::uint32_t>(kAway));
  CHECK(layout.path_of(layout.document_of(*chunk)).empty());
}

TEST_CASE("a folder holds what is below it, and no way out of it") {
  const Roots roots({"/lib", "/notes/", "/"});
  CHECK(roots.hold("/lib"));
  CHECK(roots.hold("/lib/a/b"));
  CHECK(roots.hold("/notes/a..b/..c"));
  for (const std::string path : {"/lib/../etc", "/lib/..", "..", "../lib"})
    CHECK(!roots.hold(path));
  CHECK(!Roots({"/lib"}).hold("/library/a"));
  CHECK(!Roots({"/lib"}).hold("lib/a"));
  CHECK(!Roots({""}).hold("/etc/passwd"));
  CHECK(!Roots({""}).hold(""));
  CHECK(!Roots({}).hold("/lib/a"));
}

TEST_CASE("a title is counted with chunks near it") {
  Library library;
  const std::string far(1 << 17, 'x');
  library.put({.name = "a",
               .text = "Title\n\nnear\n\n" + far,
               .title_span = {0, 5},
               .chunks = {{{7, 11}, {}}, {{(1 << 16) + 13, (1 << 16) + 20}, {}}}});
  library.commit();
  const ChunkLayout layout = layout_of(library);
  const ChunkLayout::Document& document = layout.documents()[0];

  CHECK(layout.title_near(document, 0) == TextSpan{0, 5});
  CHECK(layout.counted_bytes(document, 0) == 9);
  CHECK(layout.title_near(document, 1).empty());
  CHECK(layout.counted_bytes(document, 1) == 7);
}
