"""HTML: what a reader of the page sees, as Markdown-like text that knows its source lines."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers.html_blocks import Blocks
from gossamer.readers.limits import Limits
from gossamer.records import Document, Value
from gossamer.text.encoding import declared_encoding, decode

__all__ = ["HtmlText", "extract_html", "read"]

# One pass over any bytes: what is not closed goes on to the end, so nothing is looked at twice.
_TOKEN = re.compile(
    r"<(?:(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)"
    r"(?P<attributes>(?:[^>=]++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+)(?:>|\Z)"
    r"|!--.*?(?:--!?>|\Z)|[!?/][^>]*+(?:>|\Z))",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([\w:-]{1,64})\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]++))")
_MAX_ATTRIBUTE_CHARS = 4096
_MAX_CHARS = 300
_XML_BEGIN = re.compile(r"\ufeff?\s*<\?xml|[^>]{0,512}<html[^>]{0,512}xmlns=", re.IGNORECASE)

# Their content is not markup: it ends at their end tag and nowhere else.
_RAW = frozenset(("script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp"))
_RAW_END = {name: re.compile(rf"</{name}(?=[\s/>])[^>]*+(?:>|\Z)", re.IGNORECASE) for name in _RAW}
# What belongs to the site and not to the page, and what no one reads.
_DROPPED = frozenset(
    ("nav", "footer", "noscript", "template", "svg", "canvas", "object", "select", "button",
     "datalist", "audio", "video", "dialog")
)  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_BLOCKS = frozenset(
    ("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
     "div", "dl", "dt", "fieldset", "figcaption", "figure", "form", "header", "hgroup", "hr",
     "html", "legend", "main", "option", "p", "search", "section", "summary")
)  # fmt: skip
_DATES = frozenset(("date", "dc.date", "dcterms.date", "article:published_time", "pubdate"))


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The text of a page, where lines of its source begin in it, and what it says of itself."""

    text: bytes
    places: tuple[tuple[int, int], ...]
    title: str
    metadata: Mapping[str, Value]


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
        )
    ]


def extract_html(source: str, max_bytes: int) -> HtmlText:
    """Take the text out of HTML of any quality; work and memory are linear in its length."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    dropped = _DROPPED
    while True:
        page = _Page(source, max_bytes, dropped)
        page.run()
        if page.never_closed not in dropped:
            return page.result()
        # Better the site's menu in the index than the rest of the page lost.
        dropped -= {page.never_closed}


class _Page:
    """One pass over the source."""

    def __init__(self, source: str, max_bytes: int, dropped: frozenset[str]) -> None:
        self._source = source
        self._blocks = Blocks(source, max_bytes)
        self._dropped = dropped
        # XML closes elements with a slash, which HTML ignores.
        self._is_xml = _XML_BEGIN.match(source) is not None
        self._inside = ""  # the dropped element that is open
        self._depth = 0  # how many of its name are
        self._list_depth = 0
        self._title = ""
        self._metadata: dict[str, Value] = {}

    @property
    def never_closed(self) -> str:
        """The dropped element that was open at the end; "" if none was."""
        return self._inside

    def run(self) -> None:
        source, at = self._source, 0
        while (token := _TOKEN.search(source, at)) is not None:
            begin = token.start()
            if begin > at and not self._inside:
                self._blocks.add(source[at:begin], at)
            at = token.end()
            name = token["name"]
            if name is None:
                continue
            name = name.lower()
            is_closed = self._is_xml and token["attributes"].endswith("/")
            if name in _RAW and not token["end"] and not is_closed:
                at = self._pass_raw(name, at)
            elif self._inside or name in self._dropped:
                self._follow_dropped(name, bool(token["end"]), is_closed)
            elif token["end"]:
                self._end(name)
            else:
                self._begin(name, token["attributes"])
        if not self._inside:
            self._blocks.add(source[at:], at)
        self._blocks.end()

    def result(self) -> HtmlText:
        return HtmlText(
            self._blocks.text, self._blocks.places, self._title[:_MAX_CHARS], self._metadata
        )

    def _pass_raw(self, name: str, at: int) -> int:
        """Go over an element whose content is no markup; give where it ends."""
        found = _RAW_END[name].search(self._source, at)
        content_end, end = found.span() if found else (len(self._source),) * 2
        if name == "title" and not self._title and not self._inside:
            content = self._source[at : min(content_end, at + _MAX_ATTRIBUTE_CHARS)]
            self._title = _one_line(content)
        elif name == "xmp" and not self._inside:
            self._blocks.begin("pre")
            self._blocks.add(self._source[at:content_end], at)
            self._blocks.end()
        return end

    def _follow_dropped(self, name: str, is_end: bool, is_closed: bool) -> None:
        if not self._inside and not is_end and not is_closed:
            self._inside, self._depth = name, 1
        elif name == self._inside and not is_closed:
            self._depth += -1 if is_end else 1
            if self._depth == 0:
                self._inside = ""
                self._blocks.space()

    def _begin(self, name: str, attributes: str) -> None:
        blocks = self._blocks
        if name == "br":
            blocks.line_break()
        elif blocks.is_preformatted:
            if name == "pre":
                blocks.begin("pre")
        elif name in _HEADINGS:
            blocks.begin("text", _HEADINGS[name])
        elif name in _BLOCKS:
            self._part()
        elif name in _LISTS:
            blocks.begin()
            self._list_depth += 1
        elif name == "li":
            blocks.begin("item", "- ", max(self._list_depth - 1, 0))
        elif name == "pre":
            blocks.begin("pre")
        elif name == "table":
            blocks.begin()
        elif name == "tr":
            blocks.begin("row")
        elif name in ("td", "th"):
            self._begin_cell()
        elif name == "meta":
            self._note(_attributes(attributes))
        elif name == "img":
            self._describe(_attributes(attributes))

    def _end(self, name: str) -> None:
        blocks = self._blocks
        if blocks.is_preformatted:
            if name == "pre":
                blocks.end()
        elif name in _HEADINGS or name in ("li", "tr", "table"):
            blocks.end()
        elif name in _LISTS:
            blocks.end()
            self._list_depth = max(self._list_depth - 1, 0)
        elif name in _BLOCKS:
            self._part()

    def _part(self) -> None:
        """Part paragraphs; a row stays in one line, and an item until its list goes on."""
        if self._blocks.is_row:
            self._blocks.space()
        else:
            self._blocks.break_paragraph()

    def _begin_cell(self) -> None:
        # In a row that headings or lists broke up, the table serves to lay out the page.
        if self._blocks.is_row:
            self._blocks.begin_cell()
        else:
            self._part()

    def _note(self, attributes: Mapping[str, str]) -> None:
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        content = _one_line(attributes.get("content", ""))
        if content and name == "author":
            self._metadata.setdefault("author", content)
        elif content and name in _DATES:
            self._metadata.setdefault("date", content)

    def _describe(self, attributes: Mapping[str, str]) -> None:
        if words := _one_line(attributes.get("alt", "")):
            self._blocks.add_words(words)


def _attributes(source: str) -> dict[str, str]:
    found = _ATTRIBUTE.findall(source[:_MAX_ATTRIBUTE_CHARS])
    return {name.lower(): double or single or bare for name, double, single, bare in found}


def _one_line(raw: str) -> str:
    return " ".join(html.unescape(raw).split())[:_MAX_CHARS]
