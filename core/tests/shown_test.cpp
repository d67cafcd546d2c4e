#include "marks/shown.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "query/snippet.h"

using namespace gossamer;

namespace {

using Words = std::vector<std::string>;

std::string markdown(std::string_view text) { return show(text, Marks::kMarkdown).text(); }
std::string blocks(std::string_view text) { return show(text, Marks::kBlocks).text(); }
std::string rst(std::string_view text) { return show(text, Marks::kRst).text(); }

Words code_of(std::string_view text, Marks marks = Marks::kMarkdown) {
  const Shown shown = show(text, marks);
  Words code;
  for (const TextSpan& span : shown.code()) code.emplace_back(words_of(shown.text(), span));
  return code;
}

std::string repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("headings lose their marks, and rulers go") {
  CHECK(markdown("## Rent ##\n\nDue.") == "Rent\n\nDue.");
  CHECK(markdown("Rent\n====\n\nDue\n---\nx\n\n* * *\n") == "Rent\n\nDue\nx\n\n");
  CHECK(markdown("#hash and # sign\n####### seven") == "#hash and # sign\n####### seven");
  CHECK(markdown("# C#\n") == "C#\n");
  CHECK(blocks("### Formatters¶\n\nText.") == "Formatters¶\n\nText.");
  CHECK(show("a\n# b\nc\n\nd\n===\ne", Marks::kMarkdown).sections() ==
        std::vector<std::size_t>{2, 7});
}

TEST_CASE("emphasis loses its marks, and signs that are none stay") {
  CHECK(markdown("**bold**, *it*, __b__, _i_, ***both***, ~~no~~") == "bold, it, b, i, both, no");
  CHECK(markdown("*one **two** three* **one *two***") == "one two three one two");
  CHECK(markdown("**wrapped\nbold** and\n> *a\n> b*") == "wrapped\nbold and\na\nb");
  for (const char* text : {"snake_case_name", "2*3*4", "2 * 3 * 4", "f(*args, **kwargs)", "a ** b",
                           "~home~", "_", "**", "**unclosed", "$f_*$ and $g_*$, V$^*$ or $V^*$",
                           "$$\na_* \\\\ b_*\n$$ costs *$5", "\\(x_*\\) or \\[\n\\{y_*\\}\n\\]"})
    CHECK(markdown(text) == text);
  CHECK(markdown("**第一**章") == "第一章");
  CHECK(markdown("**F**irst") == "First");
}

TEST_CASE("a line of code that a reader wrote is known by its indentation") {
  CHECK(blocks("Pay:\n\n    # pay(rent)\n\nDone.") == "Pay:\n\n# pay(rent)\n\nDone.");
  CHECK(code_of("- Pay:\n\n    # pay(rent)", Marks::kBlocks) == Words{"# pay(rent)"});
  CHECK(code_of("    Dear all,\nthe rent is due.\n\n    - an item", Marks::kBlocks).empty());
  CHECK(show("Pay:\n\n    # pay(rent)", Marks::kBlocks).sections().empty());
}

TEST_CASE("code within a line is known as code, to the letter") {
  CHECK(markdown("call `f(*a, **b)` or ``a`b`` or `` ` ``") == "call f(*a, **b) or a`b or `");
  CHECK(code_of("call `f(*a, **b)` or ``a`b`` or `` ` ``") == Words{"f(*a, **b)", "a`b", "`"});
  CHECK(markdown("a `lone tick and ``two") == "a `lone tick and ``two");
  CHECK(markdown("`over\nlines` \\`no\\`") == "over\nlines `no`");
}

TEST_CASE("links are their words, pictures what they show, and addresses stay") {
  CHECK(markdown("see [the *docs*](https://x.org/a_(b) \"T\") or [this][ref], [that][]") ==
        "see the docs or this, that");
  CHECK(markdown("![A roof](roof.png) [![build](b.svg)](https://ci)") == "A roof build");
  CHECK(markdown("<https://x.org/a_b_c> <me@x.org> https://x.org/_a_") ==
        "https://x.org/a_b_c me@x.org https://x.org/_a_");
  CHECK(markdown("a[i][j] [ ] [x] [no](a b) (x)") == "a[i][j] [ ] [x] [no](a b) (x)");
  CHECK(markdown("Rent.[^1]\n\n[^1]: Due.\n\n[docs]: https://x.org \"T\"\n[INFO]: it is on") ==
        "Rent.\n\n Due.\n\n[INFO]: it is on");
}

TEST_CASE("tags, comments, entities and escapes are resolved") {
  CHECK(markdown("a<br>b <b class=\"x\">c</b> <!-- no -->d") == "ab c d");
  for (const char* text : {"vector<int> 1 < 2 > 0 <unclosed", "a Map<S, T>, an <A, B>, a Set<S>",
                           "[^0-9] or a[^a-z] or a[^x]+ or a [^b c]"})
    CHECK(markdown(text) == text);
  CHECK(markdown("\\(a\\) \\[b\\] $5 and *$6*") == "(a) [b] $5 and $6");
  CHECK(markdown("a &amp; b &lt;p&gt; &nbsp;c &unknown;") == "a & b <p>  c &unknown;");
  CHECK(markdown("\\*no\\* C:\\dir hard\\\nbreak\\") == "*no* C:\\dir hard\nbreak\\");
}

TEST_CASE("rows are cells with a sign between them, and their delimiter goes") {
  CHECK(markdown("| a | **b** |\n|---|:-:|\n| `x|y` |  | c |\n") == "a · b\n`x · y` · c\n");
  CHECK(markdown("a | b\n--|--\n1|2 | 3\n") == "a · b\n1 · 2 · 3\n");
  CHECK(markdown("| a \\| b | c |") == "a | b · c");
  for (const char* text : {"cat a | sort\nls | wc", "|x| is at most 1"})
    CHECK(markdown(text) == text);
  CHECK(blocks("| Usage | What\na | b\n\nint | None alone\n") ==
        "Usage · What\na · b\n\nint | None alone\n");
}

TEST_CASE("items have a bullet, and quotes no mark") {
  CHECK(markdown("- a\n  * b\n+ c\n1. d\n-e") == "• a\n  • b\n• c\n1. d\n-e");
  CHECK(markdown("> a\n> > b\n>c") == "a\nb\nc");
  CHECK(blocks("- a_b_c *d*\n> e\n+ f\n* g") == "• a_b_c *d*\n> e\n+ f\n* g");
}

TEST_CASE("fences go, and what stands between them is code to the letter") {
  const char* text = "Run:\n\n```sh\n# a *comment*\nmake | tee\n```\n\nDone.";
  for (const Marks marks : {Marks::kMarkdown, Marks::kBlocks}) {
    CHECK(show(text, marks).text() == "Run:\n\n# a *comment*\nmake | tee\n\nDone.");
    CHECK(code_of(text, marks) == Words{"# a *comment*\nmake | tee"});
  }
  CHECK(code_of("````\n```\nx\n```\n````\ny") == Words{"```\nx\n```"});
  CHECK(code_of("~~~\nx\n```\n~~~\ny") == Words{"x\n```"});
  CHECK(code_of("a\n\n    four\n      more\n\nb") == Words{"    four\n      more"});
  CHECK(code_of("- a\n\n    goes on").empty());
}

TEST_CASE("a text that begins within code is found to") {
  CHECK(code_of("x = 1\ny = 2\n```\n\nThen text.") == Words{"x = 1\ny = 2"});
  CHECK(code_of("Some text.\n\n```\nx = 1\ny = 2") == Words{"x = 1\ny = 2"});
  CHECK(code_of("x\n```\n\nText.\n\n```python\ny\n```\n\nMore.\n\n```\nz") == Words{"x", "y", "z"});
  CHECK(code_of("# set up\nx = f(1)\nfor a in b:\n    print(a)\nreturn {\n    1\n}").size() == 1);
  for (const char* text : {"Text.\nMore text (of it)\nand more;\nand an end.",
                           "[a](b)\n- [a](b)\n- [c](d)\n- [e](f)", "- a\n    - b\n    - c\n    - d",
                           "## 1.2.0\n- A fix (#13)\n- Another (#14)\n- A third (#15)"})
    CHECK(code_of(text).empty());
  CHECK(code_of("f(x)\n  g(y)\nwait()\nh(z)").size() == 1);
}

TEST_CASE("readers' text keeps signs that are words, and loses what guards them") {
  CHECK(blocks("**kwargs and __init__ and `x`") == "**kwargs and __init__ and `x`");
  CHECK(blocks("\\# not a heading\n\n\\```\n\na \\# b") == "# not a heading\n\n```\n\na \\# b");
}

TEST_CASE("reStructuredText loses its marks") {
  CHECK(rst("=====\nTitle\n=====\n\nText.\n\nSub\n---\nx") == "Title\n\nText.\n\nSub\nx");
  CHECK(rst(":func:`~os.walk` is *not* ``a*b``, see `the docs <https://x>`_ and `this`_ \\*") ==
        "os.walk is not a*b, see the docs and this *");
  CHECK(code_of(":func:`os.walk` ``a*b`` `x`", Marks::kRst) == Words{"os.walk", "a*b"});
  CHECK(
      rst(".. note:: Mind it.\n   More.\n\n.. _target:\n\n.. image:: x.png\n   :alt: X\n\nText") ==
      "note: Mind it.\n   More.\n\nText");
  CHECK(rst(".. note::\n\n   Mind it.") == "   Mind it.");
  CHECK(rst(".. code-block:: c\n\n   a *b*;\n\nText::\n\n   x\n   y\nback") ==
        "   a *b*;\n\nText:\n\n   x\n   y\nback");
  CHECK(code_of(".. code-block:: c\n\n   a *b*;\n\nText::\n\n   x\n   y\nback", Marks::kRst) ==
        Words{"   a *b*;", "   x\n   y"});
  CHECK(rst(".. function:: walk(top)\n\n   Walks.") == "walk(top)\n\n   Walks.");
  CHECK(rst("|version| is the version") == "|version| is the version");
  CHECK(rst("== ==\na  b\n== ==\n1  2\n== ==\n+--+\n|a | b |\n+--+") == "a  b\n1  2\na · b\n");
}

TEST_CASE("what has no marks is shown to the letter, and source code is code") {
  const std::string text = "# *a*\n\n| b |\r\n\n";
  for (const char* kind : {"text", "csv", "pdf", "xlsx"})
    CHECK(show(text, marks_of(kind)).text() == text);
  CHECK(code_of(text, marks_of("python")) == Words{text});
  CHECK(code_of(text, marks_of("pdf")).empty());
  CHECK(marks_of("chat", R"({"program": "claude", "date": "2024-01-02"})") == Marks::kMarkdown);
  for (const char* said : {R"({"program": "telegram"})", "{}", ""})
    CHECK(marks_of("chat", said) == Marks::kNone);
  CHECK(show("", Marks::kMarkdown).text().empty());
}

TEST_CASE("what is shown knows where it stands in its text") {
  const std::string text = "# Rent\n\nSee [the *lease*](https://x) now.";
  const Shown shown = show(text, Marks::kMarkdown);

  for (const char* word : {"Rent", "the", "lease", "now"})
    CHECK(shown.source_of(shown.text().find(word)) == text.find(word));
  CHECK(shown.source_of(shown.text().size()) == text.size());
}

TEST_CASE("a snippet is chosen among what is shown, and cites the text") {
  const std::string text =
      "### Lease\n\n```\nrent = 5\n```\n\nThe **rent** is in [a note](https://rent.org/rent).\n";
  const Snippet snippet = choose_snippet(show(text, Marks::kMarkdown), LexicalQuery("rent"));

  CHECK(snippet.text == "Lease\nrent = 5\nThe rent is in a note.");
  CHECK(snippet.highlights == Snippet::Spans{{6, 10}, {19, 23}});
  CHECK(snippet.code == Snippet::Spans{{6, 14}});
  CHECK(snippet.line == 3);
  CHECK(text.substr(snippet.begin, snippet.end - snippet.begin) == "rent = 5");
}

TEST_CASE("a snippet of source code is one span of code, whatever is cut off") {
  const Shown shown = show("class A:\n    def pay(self):\n        self.rent += 1\n", Marks::kCode);
  const Snippet snippet = choose_snippet(shown, LexicalQuery("pay rent"), nullptr, 2);

  CHECK(snippet.text == "def pay(self):\n    self.rent += 1");
  CHECK(snippet.code == Snippet::Spans{{0, snippet.text.size()}});
}

TEST_CASE("a snippet begins with the heading that answers, and does not end with another") {
  const std::string text =
      "Before.\nAnd before.\n## Lease\nIt is due.\nIn March.\n## Garden\nGrass.";
  const Snippet snippet =
      choose_snippet(show(text, Marks::kMarkdown), LexicalQuery("lease"), nullptr, 4);

  CHECK(snippet.text == "Lease\nIt is due.\nIn March.");
}

TEST_CASE("a heading does not stand alone where a long sentence follows") {
  const std::string text = "## Lease\n\n" + repeat("words that follow ", 60) + "\n";
  const Snippet snippet = choose_snippet(show(text, Marks::kMarkdown), LexicalQuery("lease"));

  CHECK(snippet.text.size() > 300);
}

TEST_CASE("hostile marks take no longer than they must") {
  for (const char* part :
       {"[",      "](",    "[a](b",  "*a_", "**a",  "`a",  "``a`", "<a",   "<!--",  "![",
        "[^",     "> ",    "| ",     "_a*", "a**b", "\\",  "- ",   "&amp", ":a:`b", "`a>`",
        "[a](\"", "```\n", "~~~x\n", "*\n", "[a][", "~~a", "(",    "[a]("}) {
    const std::string text = repeat(part, 200'000);
    for (const Marks marks : {Marks::kMarkdown, Marks::kBlocks, Marks::kRst})
      CHECK(show(text, marks).text().size() <= 5 * text.size());
  }
  const std::string text = repeat("[a](", 200'000) + repeat(")", 200'000);
  CHECK(markdown(text).size() <= text.size());
}
