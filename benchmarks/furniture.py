"""Menus and tables of contents of a page, as its generator marks them: judged without our reader.

What is furniture is told by a list of the marks that each generator is known to write, never by
form: another way than the reader's, so that it can find what that one misses.
"""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from benchmarks.documentation import spaced_words

# Of Sphinx, DocBook, Javadoc (old and new), Texinfo, AsciiDoc, GTK-Doc and MkDocs.
CLASSES = frozenset(
    ("sphinxsidebar", "related", "toctree-wrapper", "mobile-nav", "footer", "navheader",
     "navfooter", "toc", "top-nav", "sub-nav", "topNav", "subNav", "bottomNav", "skip-nav",
     "skipNav", "navList", "nav-panel", "menu", "contents topic", "contents local topic",
     "navigation", "navbar", "bs-sidebar", "genindextable", "modindextable", "shortcontents",
     "headerlink", "modal")
)  # fmt: skip
IDS = frozenset(("footer", "toc", "nav-path", "side-nav", "main-nav", "toc-collapse"))
NAMES = frozenset(("nav", "footer"))
VOID = frozenset(("area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"))
UNREAD = frozenset(("script", "style", "title"))
# A name or two may stand in a text as well as in a menu.
LEAST_WORDS = 3
LED = re.compile(r"(?:\. ?){6,}")
# Heads and feet of pages, as LaTeX's class for Sphinx sets them.
RUNNING = re.compile(
    r"^(?:\d{1,4} (?:Chapter|Appendix) \w+\. .*|\d+(?:\.\d+)+\. .{2,80} \d{1,4})$", re.MULTILINE
)
OF_INDEX = re.compile(r"^\S.{0,60}, \d{1,4}(?:, \d{1,4})+$", re.MULTILINE)


def holds_furniture(file: Path, text: str) -> bool:
    """Whether a passage holds a piece of its file's menus, contents, or heads and feet of pages."""
    if file.suffix == ".pdf":
        is_list = len(LED.findall(text)) > 1 or len(OF_INDEX.findall(text)) > 2
        return is_list or RUNNING.search(text) is not None
    said = spaced_words(text)
    return "¶" in text or any(piece in said for piece in _pieces(file))


@cache
def _pieces(file: Path) -> frozenset[str]:
    """Give rows of words that stand in the furniture of a page and nowhere else in it."""
    page = _Page()
    page.feed(file.read_text(encoding="utf-8", errors="replace"))
    page.close()
    content = spaced_words(" ".join(page.content))
    pieces = set()
    for block in page.furniture:
        words = spaced_words(" ".join(block)).split()
        rows = (words[at : at + LEAST_WORDS] for at in range(len(words) - LEAST_WORDS + 1))
        pieces.update(spaced_words(" ".join(row)) for row in rows)
    return frozenset(piece for piece in pieces if piece not in content)


class _Page(HTMLParser):
    """The texts of a page, apart by whether they stand in furniture."""

    def __init__(self) -> None:
        super().__init__()
        self.content: list[str] = []
        self.furniture: list[list[str]] = []
        self._open: list[str] = []
        self._depth = 0  # of the furniture that is open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Go into an element."""
        if tag in VOID:
            return
        self._open.append(tag)
        if not self._depth and _is_furniture(tag, dict(attrs)):
            self._depth = len(self._open)
            self.furniture.append([])

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, and those within that were not closed."""
        if tag not in self._open:
            return
        while self._open.pop() != tag:
            pass
        if len(self._open) < self._depth:
            self._depth = 0

    def handle_data(self, data: str) -> None:
        """Take a text."""
        if self._open and self._open[-1] in UNREAD:
            return
        (self.furniture[-1] if self._depth else self.content).append(data)


def _is_furniture(tag: str, attributes: dict[str, str | None]) -> bool:
    named = attributes.get("class") or ""
    is_marked = named in CLASSES or not CLASSES.isdisjoint(named.split())
    return tag in NAMES or is_marked or attributes.get("id") in IDS
