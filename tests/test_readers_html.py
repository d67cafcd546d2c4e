"""HTML: what belongs to the site is left out, what belongs to the page stays, lines are exact."""

from __future__ import annotations

import bisect
import random
from pathlib import Path
from typing import Any

import pytest

from gossamer.readers import html_furniture, read_data
from gossamer.readers.html_tags import Tag, next_tag
from gossamer.records import Document

PROSE = (
    "<p>The kettle of the ferry boils at noon, and tea is served on the upper deck until one.</p>"
)
SAID = "The kettle of the ferry boils at noon, and tea is served on the upper deck until one."
LINKS = "".join(f'<li><a href="page{number}.html">Chapter {number}</a></li>' for number in range(9))
INNER = "".join(f'<li><a href="#part{number}">Part {number}</a></li>' for number in range(9))
OUTER = "".join(
    f'<li><a href="https://b{number}.org">Blog {number}</a></li>' for number in range(9)
)


def read(source: str) -> Document:
    (document,) = read_data(Path("page.html"), source.encode())
    return document


def text_of(source: str) -> str:
    return read(source).text.decode()


@pytest.mark.parametrize(
    "furniture",
    [
        f"<nav><ul>{LINKS}</ul></nav>",
        f'<div class="sphinxsidebar" role="navigation"><h3>Contents</h3><ul>{LINKS}</ul></div>',
        '<div class="related"><ul><li><a href="a.html">index</a></li></ul></div>',
        f'<div class="toctree-wrapper compound"><ul>{LINKS}</ul></div>',
        f'<div class="contents local topic" id="x"><p>On this page</p><ul>{INNER}</ul></div>',
        f'<div id="toc"><h2>Contents</h2><ul>{INNER}</ul></div>',
        f'<div class="md-sidebar"><ul>{LINKS}</ul></div>',
        f'<ul class="topNavList">{LINKS}</ul>',
        '<div role="search"><label>Quick search</label><input></div>',
        '<div class="breadcrumbs"><a href="/">Home</a> » <a href="/a">Guide</a> » Tea</div>',
        '<table class="navheader"><tr><td><a href="a.html">Prev</a><td>A part of the book</table>',
        '<p>Next: <a href="b.html" rel="next">M</a>, Up: <a href="c.html" rel="up">D</a></p>',
        '<p><a href="a.html">Previous</a> | <a href="b.html">Next</a></p>',
        '<a class="skip-link" href="#main">Skip to content</a>',
        '<div id="page-footer">© The authors of all this. Made by hand.</div>',
        f"<ul>{INNER}</ul>",
        f"<ul>{LINKS}</ul>",
        f"<table><tr>{LINKS.replace('li>', 'td>')}</tr></table>",
    ],
)
def test_furniture_leaves_nothing_behind(furniture: str):
    before, after = f"<h1>Tea</h1>{PROSE * 3}", f"<p>Bring a cup.</p>{PROSE}"

    found = text_of(before + furniture + after)

    assert found == text_of(before + after)


@pytest.mark.parametrize(
    "content",
    [
        "<ul>"
        + LINKS.replace("</li>", ": how to heat water without wasting any of it.</li>")
        + "</ul>",
        f"<ul>{OUTER}</ul>",
        '<aside class="sidebar"><p>Samovars of old are <a href="s.html">big</a>.</p></aside>',
        '<section id="footer"><p>How to print a footer.</p></section>',
        '<div class="no-sidebar"><p>All of the <a href="a.html">text of this page</a>.</p></div>',
        "<pre>" + LINKS.replace("li>", "span>") + "</pre>",
        '<dl><dt><a href="a.html">Oolong</a></dt><dd>Half fermented leaves.</dd></dl>',
        '<p>See <a href="a.html">the index</a>.</p>',
        "<p>Call <code>#define</code> and <a href='a.html'>#</a> in a sentence.</p>",
        '<div class="menu"><h1>Menu of the day</h1><a href="a.html">Soup</a></div>',
    ],
)
def test_content_that_looks_like_furniture_stays(content: str):
    letters = "".join(read(f"<div>{content}</div>").text.decode().split())

    assert letters
    assert letters in "".join(text_of(f"<h1>Tea</h1>{PROSE * 9}{content}").split())


def test_a_page_that_is_a_list_of_links_keeps_it():
    assert "Chapter 8" in text_of(f"<h1>All chapters</h1><ul>{LINKS}</ul>")
    assert "Chapter 8" in text_of(f'<div class="menu"><ul>{LINKS}</ul></div>')
    assert "Chapter 8" in text_of(f"<h1>Chapters</h1><p>A few words.</p><ul>{LINKS}</ul>")


def test_a_page_of_contents_keeps_its_heading_alone():
    wrapper = f'<div class="toctree-wrapper"><ul>{LINKS}</ul></div>'

    assert text_of(f"<h1>Contents</h1>{wrapper}") == "# Contents"


@pytest.mark.parametrize(
    "opened", ["<nav>", "<div role='navigation'>", "<div class=footer>", "<svg>"]
)
def test_furniture_that_is_never_closed_costs_nothing(opened: str):
    assert SAID in text_of(f"<h1>Tea</h1>{opened}<p>menu</p>{PROSE}")


def test_marked_spans_that_are_never_closed_are_looked_at_a_few_times_at_most(
    monkeypatch: pytest.MonkeyPatch,
):
    looks = 0

    def look(*given: Any, **named: Any) -> Tag | None:
        nonlocal looks
        looks += 1
        return next_tag(*given, **named)

    monkeypatch.setattr(html_furniture, "next_tag", look)

    found = text_of(f"<h1>Tea</h1>{'<span class=linenos>' * 1000}{PROSE}")

    assert SAID in found
    assert looks < 5000


def test_a_marked_span_is_left_out_with_what_it_holds():
    marked = "<span class='mw-editsection'><span>[</span><a href='e'>edit</a>]</span>"

    assert text_of(f"<h2>Tea{marked}</h2>{PROSE}") == f"## Tea\n\n{SAID}"
    assert SAID in text_of(f"<p><span><span class=linenos>1 {PROSE * 60}</span>a</span></p>")


def test_furniture_around_the_title_of_the_page_is_none():
    assert SAID in text_of(f"<div class='sidebar navigation'><h1>Tea</h1>{PROSE}</div>")
    assert SAID in text_of(f"<div role='banner'><main>{PROSE}</main></div>")


def test_tags_that_cross_lose_nothing_behind_them():
    crossing = f"<div class=toc><ul class=menu>{LINKS}</div></ul>"

    found = text_of(f"<h1>Tea</h1>{PROSE}{crossing}{PROSE}<nav>menu</nav><p>end</p>")

    assert found.count(SAID) == 2
    assert found.endswith("end")
    assert "menu" not in found


def test_what_stands_around_the_main_part_is_left_out():
    page = f"<body><p>Log in</p><main><h1>Tea</h1>{PROSE}</main><p>Share this</p></body>"

    assert text_of(page) == f"# Tea\n\n{SAID}"
    assert "Log in" in text_of(page.replace("main>", "div>"))
    assert "Tea" in text_of(f"<body><h1>Tea</h1><main>{PROSE}</main></body>")


@pytest.mark.parametrize("sign", ["¶", "#", "§", "&para;", "🔗", "\uf0c1"])
def test_signs_beside_headings_are_left_out(sign: str):
    link = f'<a class="headerlink" href="#tea" title="Permalink">{sign}</a>'

    assert text_of(f"<h2>Tea{link}</h2>{PROSE}").startswith("## Tea\n")
    assert text_of(f"<dl><dt>pour(){link}</dt><dd>Pours.</dd></dl>") == "pour()\n\nPours."


def test_code_of_one_line_has_no_fences():
    assert text_of("<p>Type</p><pre>\n# make tea\n</pre>") == "Type\n\n    # make tea"
    assert text_of("<p>Type</p><pre>  </pre><pre></pre>") == "Type"


@pytest.mark.parametrize("zeros", [0, 5000])
@pytest.mark.parametrize(
    ("digits", "character"), [("65", "A"), ("1" * 5000, "\ufffd"), ("0", "\ufffd")]
)
def test_a_reference_of_any_length_is_a_character(zeros: int, digits: str, character: str):
    number = f"&#{'0' * zeros}{digits};"

    found = text_of(
        f"<title>{number}</title><h1>{number}<a href='#x'>{number}</a></h1>"
        f"<p>{number}</p><pre>{number}\n{number}</pre>"
    )

    pre = f"```\n{character}\n{character}\n```"
    assert found == f"# {character}{character}\n\n{character}\n\n{pre}"


def test_code_of_characters_that_no_page_may_have_is_empty():
    assert text_of("<p>Tea</p><pre>&#1;</pre>") == "Tea"


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Tea — Drinks 3.1 documentation</title>", "<h1>Tea<a href='#t'>¶</a></h1>", "Tea"),
        ("<title>Drinks: Tea</title>", "<h1>Tea</h1>", "Tea"),
        ("<title>4. Tea &#8212; Drinks v4</title>", "<h1><span>4. </span>Tea</h1>", "4. Tea"),
        (
            "<title>tea — Hot leaves — Drinks</title>",
            "<h1>tea — Hot leaves</h1>",
            "tea — Hot leaves",
        ),
        ("<title>Tea | Drinks</title><meta property=og:site_name content=Drinks>", "", "Tea"),
        ("<title>Drinks - Tea</title><meta name=application-name content=Drinks>", "", "Tea"),
        ("<title>Tea | Drinks</title>", "<h1><a href='/'>Drinks</a></h1>", "Tea"),
        ("<title>Tea - hot or cold</title>", "<h1>Milk</h1>", "Tea - hot or cold"),
        ("<title>Drinks</title><meta name=application-name content=Drinks>", "", "Drinks"),
    ],
)
def test_a_title_does_not_name_the_site(head: str, body: str, title: str):
    assert read(f"<head>{head}</head><body>{body}{PROSE}</body>").title == title


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(40))
def test_every_word_is_cited_with_the_line_it_stands_in(seed: int, line_end: str):
    lines, expected = _page(random.Random(seed))

    document = read(line_end.join(lines))

    offsets = [offset for offset, _ in document.places]
    text = document.text.decode()
    for word, line in expected.items():
        at = len(text[: text.index(word)].encode())
        assert document.places[bisect.bisect_right(offsets, at) - 1][1] == line, word


def _page(rng: random.Random) -> tuple[list[str], dict[str, int]]:
    """Make a page of all kinds of blocks; give its lines, and the line of each word."""
    words = (f"w{number}ä" for number in range(100_000))
    lines, expected = ["<!DOCTYPE html>", "<body>"], {}

    def said() -> str:
        word = next(words)
        expected[word] = len(lines) + 1
        return word

    def put(*shapes: str) -> None:
        for shape in shapes:
            line = "".join(said() if part == "W" else part for part in shape.split("~"))
            lines.append(line)

    shapes = [
        ("<p>~W~ and <b>~W~</b>", "~W~&nbsp;&amp; ~W~<br>~W", "<br>", "~W~</p>"),
        ("<h2", "  id='a>b'>~W", "~W~</h2>"),
        ("<ul><li>~W", "~W~<ul><li>~W~</li>", "</ul><li><p>~W~</p>", "</ul>"),
        ("<table><tr><th>~W~<th>", "~W~</tr>", "<tr><td><td>~W", "~W~<td>~W~</tr></table>"),
        ("<pre>", "", "  ~W~ = <i>1</i>", "", "~W~</pre>"),
        ("<pre>  ", "~W", "", "</pre>~W"),
        ("<pre>   ", "", " ~W~ x", "~W~  ", "  ", "</pre>", "~W"),
        ("<dl><dt>~W", "<dd>~W", "  ~W~</dl>"),
        ("<!-- a", "comment -->~W~<!--", "-->~W"),
        ("<div>~W", "<img", " alt='~W~'>", "~W~</div>~W"),
        (
            "<nav>menu",
            "~</nav>W~</p>".replace("W~", "~W~"),
        ),
        ("<script>", "if (a < b) '<p>'", "</script>~W~<xmp>", "~W~</xmp>"),
        ("~W~<em", ">~W~</em", ">~W", "&lt;~W"),
        ("", "   ", "~W~<br><br>", "", "~W"),
    ]
    for _ in range(rng.randint(3, 30)):
        put(*rng.choice(shapes))
    return lines, expected
