"""HTML: what a reader of the page sees, as Markdown-like text that knows its source lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers.entities import unescape
from gossamer.readers.html_blocks import Blocks
from gossamer.readers.html_furniture import UNSEEN, find_furniture
from gossamer.readers.html_ids import IdAbove, id_of
from gossamer.readers.html_tags import Tag, attributes_of, is_xhtml, next_tag, place_of_attribute
from gossamer.readers.html_title import title_of
from gossamer.readers.limits import Limits
from gossamer.records import Document, Value
from gossamer.text.encoding import declared_encoding, decode

__all__ = ["HtmlText", "extract_html", "read"]

_MAX_TITLE_CHARS = 4096  # of its source
_MAX_CHARS = 300
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_BLOCKS = frozenset(
    ("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
     "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup",
     "hr", "html", "legend", "main", "option", "p", "search", "section", "summary")
)  # fmt: skip
_PARTS = frozenset(("li", "tr", "td", "th"))
_NOTES = frozenset(("title", "xmp", "a", "meta", "link", "img"))
_DATES = frozenset(("date", "dc.date", "dcterms.date", "article:published_time", "pubdate"))
_SITES = frozenset(("og:site_name", "application-name", "apple-mobile-web-app-title"))
_MAX_NAMES = 8


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The text of a page, where lines of its source begin in it, and what it says of itself."""

    text: bytes
    places: tuple[tuple[int, int], ...]
    title: str
    metadata: Mapping[str, Value]
    anchors: tuple[tuple[int, str], ...]  # where headings stand in it, and their ids


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read a page; its places are the lines of the HTML file."""
    if len(data) > limits.max_html_bytes:
        most = limits.max_html_bytes / 1e6
        raise Unreadable(f"HTML of {len(data) / 1e6:,.1f} MB where at most {most:,.1f} MB are read")
    source = decode(data, declared_encoding(data)).text.decode("utf-8")
    page = extract_html(source, limits.max_text_bytes)
    return [
        Document(
            page.text,
            "html",
            "markdown",
            title=page.title,
            unit="line",
            places=page.places,
            metadata=page.metadata,
            anchors=page.anchors,
        )
    ]


def extract_html(source: str, max_bytes: int) -> HtmlText:
    """Take the text out of HTML of any quality; work and memory are linear in its length."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    page = _Page(source, max_bytes)
    page.run()
    return page.result()


class _Page:
    """One pass over the source, past what is not the page's own."""

    def __init__(self, source: str, max_bytes: int) -> None:
        self._source = source
        self._blocks = Blocks(source, max_bytes)
        self._is_xml = is_xhtml(source)
        self._list_depth = 0
        self._title = ""
        self._is_in_title = self._is_title_said = self._is_in_link = False
        self._headings: list[str] = []
        self._sites: list[str] = []
        self._metadata: dict[str, Value] = {}
        self._id_above = IdAbove()

    def run(self) -> None:
        source, at = self._source, 0
        left_out = find_furniture(source, self._is_xml)
        passed = 0
        while (tag := next_tag(source, at, self._is_xml)) is not None:
            if tag.begin > at:
                self._add_text(at, tag.begin)
            at = tag.end
            if tag.is_end:
                self._end(tag.name)
            else:
                self._begin(tag)
            if passed < len(left_out) and at == left_out[passed]:
                at = left_out[passed + 1]
                passed += 2
        self._add_text(at, len(source))
        self._blocks.end()

    def result(self) -> HtmlText:
        title, blocks = title_of(self._title, self._headings, self._sites), self._blocks
        return HtmlText(blocks.text, blocks.places, title, self._metadata, blocks.anchors)

    def _add_text(self, begin: int, end: int) -> None:
        text = self._source[begin:end]
        self._blocks.add(text, begin)
        if self._is_in_title and not self._is_in_link and not text.isspace():
            self._is_title_said = True

    def _begin(self, tag: Tag) -> None:
        blocks, id = self._blocks, id_of(tag)
        above = self._id_above.take(blocks.filled)
        self._open(tag)
        if tag.name in _HEADINGS and blocks.is_heading:
            blocks.anchor = id or above
        elif id and blocks.is_heading:
            blocks.anchor = blocks.anchor or id
        elif id:
            self._id_above.note(tag, id, blocks.filled)

    def _open(self, tag: Tag) -> None:
        blocks, name = self._blocks, tag.name
        if name == "br":
            blocks.line_break()
        elif blocks.is_preformatted:
            if name == "pre":
                blocks.begin("pre")
        elif name in _HEADINGS:
            blocks.begin("text", _HEADINGS[name])
            self._is_in_title, self._is_title_said = name in ("h1", "h2"), False
        elif name in _BLOCKS:
            self._part()
        elif name in _LISTS:
            blocks.begin()
            self._list_depth += 1
        elif name in ("pre", "table"):
            blocks.begin("pre" if name == "pre" else "text")
        elif name in _PARTS:
            self._begin_part(name)
        elif name in _NOTES:
            self._note(tag)

    def _begin_part(self, name: str) -> None:
        """Begin an item of a list, a row or a cell."""
        if name == "li":
            self._blocks.begin("item", "- ", max(self._list_depth - 1, 0))
        elif name == "tr":
            self._blocks.begin("row")
        elif self._blocks.is_row:
            self._blocks.begin_cell()
        else:  # in a row that headings or lists broke up, the table serves to lay out the page
            self._part()

    def _end(self, name: str) -> None:
        blocks = self._blocks
        if blocks.is_preformatted:
            if name == "pre":
                blocks.end()
        elif name in _HEADINGS or name in ("li", "tr", "table"):
            if self._is_in_title:
                self._end_title()
            blocks.end()
        elif name in _LISTS:
            blocks.end()
            self._list_depth = max(self._list_depth - 1, 0)
        elif name in _BLOCKS:
            self._part()
        elif name in UNSEEN or name == "nav":
            blocks.space()
        elif name == "a":
            self._is_in_link = False

    def _end_title(self) -> None:
        """Remember the first headings; one that is nothing but a link may name the site."""
        names = self._headings if self._is_title_said else self._sites
        if len(names) < _MAX_NAMES:
            names.append(self._blocks.open_text)
        self._is_in_title = False

    def _part(self) -> None:
        """Part paragraphs; a row stays in one line, and an item until its list goes on."""
        if self._blocks.is_row:
            self._blocks.space()
        else:
            self._blocks.break_paragraph()

    def _note(self, tag: Tag) -> None:
        """Take what stands in a tag, or in an element whose content is no markup."""
        if tag.name == "title":
            begin, end = tag.inner
            self._title = self._title or _one_line(self._source[begin:end][:_MAX_TITLE_CHARS])
        elif tag.name == "xmp":
            self._blocks.begin("pre")
            self._blocks.add(self._source[slice(*tag.inner)], tag.inner[0])
            self._blocks.end()
        elif tag.name == "a":
            self._is_in_link = True
        else:
            self._note_attributes(tag, attributes_of(tag.attributes))

    def _note_attributes(self, tag: Tag, attributes: Mapping[str, str]) -> None:
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        content = _one_line(attributes.get("content", ""))
        if tag.name == "img":
            if words := _one_line(attributes.get("alt", "")):
                self._blocks.add_words(words, place_of_attribute(tag, "alt"))
        elif tag.name == "link":
            if attributes.get("rel") == "search" and len(self._sites) < _MAX_NAMES:
                self._sites.append(_one_line(attributes.get("title", "")))
        elif content and name == "author":
            self._metadata.setdefault("author", content)
        elif content and name in _DATES:
            self._metadata.setdefault("date", content)
        elif content and name in _SITES and len(self._sites) < _MAX_NAMES:
            self._sites.append(content)


def _one_line(raw: str) -> str:
    return " ".join(unescape(raw).split())[:_MAX_CHARS]
