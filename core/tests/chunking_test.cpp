#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.h"
#include "chunking/chunks.h"
#include "chunking/context.h"
#include "chunking/outline.h"
#include "chunking/partition.h"
#include "index_fixture.h"

using namespace gossamer;
using namespace std::string_view_literals;
using gossamer::testing::reason_of;

namespace {

using Strings = std::vector<std::string>;

std::vector<std::uint32_t> find_words(std::string_view text) {
  const auto is_letter = [&](std::size_t at) { return text[at] > ' ' || text[at] < 0; };
  std::vector<std::uint32_t> starts;
  for (std::uint32_t at = 0; at < text.size(); ++at)
    if (is_letter(at) && (at == 0 || !is_letter(at - 1))) starts.push_back(at);
  return starts;
}

Strings headings_of(std::string_view text, const Outline& outline) {
  Strings found;
  for (const Heading& heading : outline.headings)
    found.push_back(std::to_string(heading.level) + " " +
                    std::string(words_of(text, heading.words)));
  return found;
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("Markdown: headings with marks and with underlines, none of them within code") {
  const auto text =
      "---\ntitle: a\n---\n# One #\n\n```\n# code\n```\n\nTwo\n===\n\n    # code\n####### seven\n"
      "##nothing\n### Three ##\n\nno title\nabove it\n---\n"sv;

  const Outline outline = outline_of_markdown(text, 0);

  CHECK(headings_of(text, outline) == Strings{"1 One", "1 Two", "3 Three"});
  REQUIRE(outline.whole.size() == 2);
  CHECK(words_of(text, outline.whole[0]) == "---\ntitle: a\n---\n");
  CHECK(words_of(text, outline.whole[1]) == "```\n# code\n```");
}

TEST_CASE("Markdown: a fence is closed by one of its kind that is as long, else it is none") {
  const auto text = "````\n```\n~~~~\n`````\n~~~\nnever closed\n```` not `code`\n"sv;

  const Outline outline = outline_of_markdown(text, 0);

  REQUIRE(outline.whole.size() == 1);
  CHECK(words_of(text, outline.whole[0]) == "````\n```\n~~~~\n`````");
}

TEST_CASE("Markdown: a mark for the order of bytes does not hide the first heading") {
  const auto text = "\xef\xbb\xbf# One\n\ntext\n"sv;

  CHECK(headings_of(text, outline_of_markdown(text, 3)) == Strings{"1 One"});
}

TEST_CASE("plain text: numbered titles alone on their line, at the level their number says") {
  const auto text =
      "1.  Introduction\n\nText.\n\n10. Details\n\n10.2.1  More\n\nA.1  Letters\n\nAppendix B  "
      "Rest\n\n"
      "2. A sentence that ends.\n\n3. not a title\n\n4.  Title\nno blank line\n\n1234  Year\n\n"sv;

  CHECK(headings_of(text, outline_of_plain(text, 0)) ==
        Strings{"1 1.  Introduction", "1 10. Details", "3 10.2.1  More", "2 A.1  Letters",
                "1 Appendix B  Rest"});
}

TEST_CASE("reStructuredText: levels in the order in which styles appear") {
  const auto text =
      "=====\nTitle\n=====\n\nPart\n----\n\nUnder\n=====\n\nAlso\n----\n\nToo long\n---\n\n****\nx\n---\n"sv;

  CHECK(headings_of(text, outline_of_rst(text, 0)) ==
        Strings{"1 Title", "2 Part", "3 Under", "2 Also"});
}

TEST_CASE("rows: a newline within quotes ends no row, and the header is a heading") {
  const auto text = "a,b\n1,\"x\ny\"\n2,z\n"sv;

  const Outline outline = outline_of_rows(text, 0);

  CHECK(headings_of(text, outline) == Strings{"1 a,b"});
  REQUIRE(outline.whole.size() == 3);
  CHECK(words_of(text, outline.whole[0]) == "1,\"x\ny\"\n");
  CHECK(words_of(text, outline.whole[1]) == "2,z\n");
}

TEST_CASE("code: a definition begins with its comments, and ends") {
  const auto text = "// why\nfn a(x: u8) {\n  1\n}\n\nfn b() {\n}\n"sv;
  const std::vector<Capture> captures = {
      {false, 0, 6, 0}, {true, 7, 26, 20}, {true, 28, text.size() - 1, 35}};

  const Outline outline = outline_of_code(text, 0, captures, false);

  CHECK(headings_of(text, outline) == Strings{"1 fn a(x: u8)", "1 ", "1 fn b()", "1 "});
  CHECK(outline.headings[0].at == 0);
  CHECK(outline.headings[1].at == 26);
}

TEST_CASE("code: what was found outside the text is refused") {
  const auto reason = [](Capture one) {
    return reason_of([&] { outline_of_code("fn", 0, {&one, 1}, false); });
  };

  CHECK(reason({true, 0, 3, 0}) == "invalid argument");
  CHECK(reason({true, 2, 1, 0}) == "invalid argument");
  CHECK(reason({true, 0, 2, 3}) == "invalid argument");
}

TEST_CASE("the cheapest partition prefers full pieces and cheap cuts") {
  const std::vector<Place> places = {
      {0, 0, 0, 10}, {10, 4, 0.1, 10}, {20, 8, 0.5, 10}, {30, 9, 0.0, 10}, {40, 16, 0, 10}};

  CHECK(cheapest_partition(places, 1000) == std::vector<std::size_t>{0, 3, 4});
  CHECK(cheapest_partition(places, 10) == std::vector<std::size_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a gap that no budget holds is a piece of its own") {
  const std::vector<Place> places = {{0, 0, 0, 10}, {10, 50, 0, 10}, {20, 51, 0, 10}};

  CHECK(cheapest_partition(places, 1000) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("a line is put on one line, and cut between words where it is long") {
  CHECK(shorten_line(" a \t\n b\xc2\xa0") == "a b");
  CHECK(shorten_line(repeated("word ", 100)) == repeated("word ", 23) + "word");
  CHECK(shorten_line(repeated("é", 100)) == repeated("é", 60));
}

TEST_CASE("an empty heading leaves the line out") {
  const std::vector<std::string_view> none = {"", "b"}, two = {"a", "b"};

  CHECK(embedded_text("line", two, "body") == "line\na\nb\nbody");
  CHECK(embedded_text("line", none, "body") == "b\nbody");
  CHECK(embedded_text("", {}, "body") == "body");
}

TEST_CASE("space of any script is trimmed, and bytes that are no text are not") {
  CHECK(trim("\xe3\x80\x80 a\xc2\xa0\n", {0, 7}) == TextSpan{4, 5});
  CHECK(trim("\x80 \x80", {0, 3}) == TextSpan{0, 3});
  CHECK(trim(" \n", {0, 2}).empty());
}

TEST_CASE("a long document is cut at its sections, under their headings") {
  const std::string text = "# Ark\n\n" + repeated("It floats. ", 20) + "\n\n## Deck\n\n" +
                           repeated("It is wet. ", 20) + "\n";

  const std::vector<ChunkSpan> chunks =
      chunk_document(text, {.size = 50, .line = "ships", .markup = "markdown"}, find_words);

  REQUIRE(chunks.size() == 3);
  CHECK(words_of(text, chunks[0].span).starts_with("# Ark"));
  CHECK(words_of(text, chunks[1].span).starts_with("## Deck"));
  REQUIRE(chunks[1].context.size() == 1);
  CHECK(words_of(text, chunks[1].context[0]) == "Ark");
  REQUIRE(chunks[2].context.size() == 2);
  CHECK(words_of(text, chunks[2].context[1]) == "Deck");
}

TEST_CASE("one endless word is cut between characters") {
  const std::string text = repeated("中", 2000);

  const std::vector<ChunkSpan> chunks = chunk_document(text, {.size = 32}, find_words);

  CHECK(chunks.size() > 5);
  for (const ChunkSpan& chunk : chunks) CHECK(chunk.span.start % 3 == 0);
}

TEST_CASE("a page cuts the same text at the same places") {
  // The twin of a test in web/tests/chunking.test.ts, which knows the same number.
  constexpr std::string_view kBits[] = {"word ",    "Sentences. ", "\n\n",   "# Title\n\n",
                                        "- item\n", "```\n",       "日本。", "1.2  Part\n\n"};
  std::string text;
  std::uint32_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    random = random * 1664525 + 1013904223;
    text += kBits[random >> 29];
  }
  std::vector<std::uint32_t> words;
  for (const std::string_view markup : {"plain", "markdown", "rst", "rows"}) {
    const ChunkOptions options{.size = 64, .line = "a line", .markup = markup};
    for (const ChunkSpan& chunk : chunk_document(text, options, find_words)) {
      words.push_back(static_cast<std::uint32_t>(chunk.span.start));
      words.push_back(static_cast<std::uint32_t>(chunk.span.end));
      for (const TextSpan& heading : chunk.context)
        words.push_back(static_cast<std::uint32_t>(heading.end));
    }
  }

  CHECK(words.size() == 4296);
  CHECK(crc32c({reinterpret_cast<const std::uint8_t*>(words.data()), 4 * words.size()}) ==
        1317009352);
}

TEST_CASE("a size without room for a context is refused") {
  CHECK(reason_of([] { chunk_document("a", {.size = 31}, find_words); }) == "invalid argument");
}
