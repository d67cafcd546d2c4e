#include <string>
#include <string_view>
#include <vector>

#include "doctest/doctest.h"
#include "links/anchors.h"
#include "links/headings.h"
#include "links/url.h"

using namespace gossamer;

namespace {

std::string anchor_in(std::string_view text, std::string_view markup, std::string_view words) {
  const std::string written = write_anchors(text, {.markup = markup, .has_slugs = true});
  return Anchors(written).find(text.find(words), words);
}

std::vector<std::string> words_above(std::string_view markup, std::string_view text,
                                     std::string_view place) {
  std::vector<HeadingAbove> above;
  pass_headings(above, markup, text, 0, text.find(place));
  std::vector<std::string> words;
  for (const HeadingAbove& heading : above) words.emplace_back(words_of(text, heading.words));
  return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("headings of Markdown have the anchors that GitHub gives them") {
  const std::string text =
      "# Été à Paris!\n\n## `code` & *more*\n\n## snake_case-name\n\n## [A link](there)\n";

  CHECK(anchor_in(text, "markdown", "Été à Paris!") == "été-à-paris");
  CHECK(anchor_in(text, "markdown", "`code` & *more*") == "code--more");
  CHECK(anchor_in(text, "markdown", "snake_case-name") == "snake_case-name");
  CHECK(anchor_in(text, "markdown", "[A link](there)") == "a-link");
}

TEST_CASE("a heading of Markdown that stands again has a number behind its anchor") {
  const std::string text = "# Use\n\n## Notes\n\n# Use 1\n\n## Notes \n\n### Notes  \n";
  const std::string written = write_anchors(text, {.markup = "markdown", .has_slugs = true});

  const std::size_t second = text.find("Notes", text.find("Notes") + 1);
  const std::size_t third = text.find("Notes", second + 1);
  CHECK(Anchors(written).find(text.find("Notes"), "Notes") == "notes");
  CHECK(Anchors(written).find(second, "Notes") == "notes-1");
  CHECK(Anchors(written).find(third, "Notes") == "notes-2");
}

TEST_CASE("an id that a heading of Markdown names is its anchor, and not shown") {
  const std::string text = "# Rent {#rent-2024}\n\n# Deposit {: #money .wide}\n\n# Set {x}\n";

  CHECK(anchor_in(text, "markdown", "Rent {#rent-2024}") == "rent-2024");
  CHECK(anchor_in(text, "markdown", "Deposit {: #money .wide}") == "money");
  CHECK(without_id("Rent {#rent-2024}") == "Rent");
  CHECK(without_id("Set {x}") == "Set {x}");
}

TEST_CASE("titles of reStructuredText have the ids that docutils gives them") {
  const std::string text =
      "Größe & Maß, 2.0\n================\n\n3. ``add()`` method\n-------------------\n\n";

  CHECK(anchor_in(text, "rst", "Größe & Maß, 2.0") == "grosze-masz-2-0");
  CHECK(anchor_in(text, "rst", "3. ``add()`` method") == "add-method");
}

TEST_CASE("a title of reStructuredText that stands again is found by the target above it") {
  const std::string text =
      "One\n===\n\nUse\n---\n\nTwo\n===\n\n.. "
      "_use-of-two:\n\nUse\n---\n\nThree\n=====\n\nUse\n---\n";
  const std::string written = write_anchors(text, {.markup = "rst", .has_slugs = true});

  const std::size_t first = text.find("Use"), second = text.find("Use", first + 1);
  CHECK(Anchors(written).find(first, "Use") == "use");
  CHECK(Anchors(written).find(second, "Use") == "use-of-two");
  CHECK(Anchors(written).find(text.rfind("Use"), "Use").empty());
}

TEST_CASE(
    "ids that a page gives its headings are kept, in a few bytes where they follow from words") {
  const std::string text = "# The title\n\n## Part one\n\n## Part two\n\n## Part three\n";
  const GivenAnchor given[] = {{text.find("The"), "the-title"},
                               {text.find("Part one"), "part-one"},
                               {text.find("Part two"), "S2"}};
  const std::string written = write_anchors(text, {.markup = "markdown", .given = given});

  CHECK(written.size() < 40);
  CHECK(Anchors(written).find(given[1].offset, "Part one") == "part-one");
  CHECK(Anchors(written).find(given[2].offset, "Part two") == "S2");
  CHECK(Anchors(written).find(text.find("Part three"), "Part three").empty());
}

TEST_CASE("a heading of which chunks have less keeps its anchor") {
  const std::string text = "# A title that is long\n\nWords.\n";
  const TextSpan shorter[] = {{2, 9}};
  const std::string written =
      write_anchors(text, {.markup = "markdown", .has_slugs = true, .innermost = shorter});

  CHECK(Anchors(written).find(2, "A title") == "a-title-that-is-long");
}

TEST_CASE("a text without headings has no anchors, and what is none of ours gives none") {
  CHECK(write_anchors("No headings.\n", {.markup = "markdown", .has_slugs = true}).empty());
  CHECK(write_anchors("# Title\n", {.markup = "markdown"}).empty());
  CHECK(write_anchors("# Title\n", {.markup = "plain", .has_slugs = true}).empty());
  for (const char* damaged : {"", " ", "markdown", "markdown what", "markdown github x#y",
                              "rst docutils 99999999999999#a", "markdown github 3"})
    CHECK(Anchors(damaged).find(7, "").empty());
}

TEST_CASE("a place stands under the headings above it that no other has ended") {
  const std::string markdown = "text\n\n## B\n\none\n\n### C\n\ntwo\n\n## D\n\nthree\n";
  const std::string rst = "text\n\nB\n===\n\none\n\nC\n---\n\ntwo\n\nD\n===\n\nthree\n";

  for (const auto& [markup, text] : {std::pair("markdown", markdown), std::pair("rst", rst)}) {
    CHECK(words_above(markup, text, "text") == Words{});
    CHECK(words_above(markup, text, "one") == Words{"B"});
    CHECK(words_above(markup, text, "two") == Words{"B", "C"});
    CHECK(words_above(markup, text, "three") == Words{"D"});
  }
}

TEST_CASE("comments in code are no headings, also where a stretch begins within the code") {
  const std::string text = "# a comment\nx = 1\n```\n\nwords\n\n```\n# another\n```\n\nlast\n";

  CHECK(words_above("markdown", text, "last") == Words{});
}

TEST_CASE("a heading ends those of its style that a chunk stands under") {
  std::vector<HeadingAbove> above = {{{2, 7}, style_between("# ", "\n\n")},
                                     {{20, 23}, style_between("\n\n## ", "\n\nx")}};
  pass_headings(above, "markdown", "rest\n\n## New\n\nwords", 100, 14);

  CHECK(above.size() == 2);
  CHECK(above.back().words == TextSpan{109, 112});
  CHECK(style_between("=====\n", "\n=====").adornment !=
        style_between("\n\n", "\n=====").adornment);
  CHECK(style_between("", "\n---").level == 2);
}

TEST_CASE("links lead to http and https, or stay on their site") {
  for (const char* safe : {"https://example.org/a?b=c#d", "HTTP://example.org", "/docs/",
                           "a/b.html", "../x", "?q=1", "#top", "a/b:c"})
    CHECK(is_safe_url(safe));
  for (const char* unsafe :
       {"", "javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\tscript:x",
        "java\nscript:x", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "//host/x",
        "\\\\host", "/\\host", "https:host", "https://", "http:///x", "x:y", "\x01javascript:x"})
    CHECK_FALSE(is_safe_url(unsafe));
  CHECK_FALSE(is_safe_url(std::string(5000, 'a')));
}

TEST_CASE("a file is read where the site serves it") {
  const Site html{"/docs/", UrlStyle::kHtml}, folder{"https://example.org/d", UrlStyle::kFolder},
      file{"/docs/", UrlStyle::kFile};

  CHECK(url_of_path(html, "guide/start.md", "markdown") == "/docs/guide/start.html");
  CHECK(url_of_path(html, "guide/index.html", "html") == "/docs/guide/");
  CHECK(url_of_path(html, "index.rst", "rst") == "/docs/");
  CHECK(url_of_path(html, "guide/README.md", "markdown") == "/docs/guide/README.html");
  CHECK(url_of_path(html, "a.pdf", "pdf") == "/docs/a.pdf");
  CHECK(url_of_path(folder, "guide/start.md", "markdown") == "https://example.org/d/guide/start/");
  CHECK(url_of_path(folder, "README.md", "markdown") == "https://example.org/d/");
  CHECK(url_of_path(folder, "guide/page.html", "html") == "https://example.org/d/guide/page.html");
  CHECK(url_of_path(file, "guide/index.md", "markdown") == "/docs/guide/index.md");
}

TEST_CASE("what cannot stand in a path is escaped, and nothing leads out of the site") {
  const Site site{"/docs/", UrlStyle::kFile};

  CHECK(url_of_path(site, "a b/50% ü?#:.html", "html") ==
        "/docs/a%20b/50%25%20%C3%BC%3F%23%3A.html");
  CHECK(url_of_path(site, "x\xED\xB3\xBF.txt", "text") == "/docs/x%FF.txt");
  for (const char* path : {"../x", "a/../../x", "/x", "//host/x", "a//b", "", "."})
    CHECK(url_of_path(site, path, "text").empty());
  CHECK(url_of_path({"javascript:alert(1)//"}, "x.html", "html").empty());
  CHECK(url_of_path({""}, "x.html", "html").empty());
}

TEST_CASE("the address that a document names is seen from the base") {
  const Site site{"https://example.org/docs/"};

  CHECK(url_of_said(site, "https://other.org/x") == "https://other.org/x");
  CHECK(url_of_said(site, " about/me ") == "https://example.org/docs/about/me");
  CHECK(url_of_said(site, "/about/") == "https://example.org/about/");
  CHECK(url_of_said({}, "/about/") == "/about/");
  CHECK(url_of_said({"/docs/"}, "x\"><ü") == "/docs/x%22%3E%3C%C3%BC");
  CHECK(url_of_said(site, "javascript:alert(1)").empty());
  CHECK(url_of_said(site, "//evil.org/").empty());
}

TEST_CASE("a fragment names an anchor, or the first words of a line") {
  CHECK(fragment_of_anchor("the-end") == "#the-end");
  CHECK(fragment_of_anchor("a \"é") == "#a%20%22%C3%A9");
  CHECK(fragment_of_anchor("").empty());
  CHECK(fragment_of_line("• well-known, to & fro") == "#:~:text=well%2Dknown%2C%20to%20%26%20fro");
  CHECK(fragment_of_line("a b c d e f g h i j") == "#:~:text=a%20b%20c%20d%20e%20f%20g%20h");
  CHECK(fragment_of_line("One of three isn't there") == "#:~:text=One%20of%20three");
  CHECK(fragment_of_line("cell · other cell") == "#:~:text=cell");
  CHECK(fragment_of_line(" … ").empty());
}
