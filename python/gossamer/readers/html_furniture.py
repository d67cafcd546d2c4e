"""What of a page belongs to its site: menus, tables of contents, footers; and where it stands.

It is told by names of elements, by marks (roles, classes, labels) and by form: a list of links.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from gossamer.readers.html_marks import FIRM, MAIN, WEAK, is_anchor_mark, is_way, mark_of
from gossamer.readers.html_tags import MAX_ATTRIBUTE_CHARS, RAW, Tag, letters_in, next_tag

__all__ = ["UNSEEN", "find_furniture"]

# What no one reads, and what is furniture whatever it holds.
UNSEEN = frozenset(
    ("noscript", "template", "svg", "canvas", "object", "select", "button", "datalist", "audio",
     "video", "dialog")
)  # fmt: skip
_BY_NAME = frozenset(("nav", "footer"))
_LISTS = frozenset(("ul", "ol", "menu", "dir", "table", "div", "p", "section", "aside", "header"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_FOLLOWED = UNSEEN | _BY_NAME | _LISTS | _HEADINGS | {"a", "pre", "dt", "dl", "form", "main"}

# How much is taken for furniture: the less, the surer.
_NAMES, _MARKS, _SURE_FORMS, _FORMS = range(4)
_MIN_LINKS = 5
_LINKED_SHARE = 0.9
# Of a block that leads on ("Next: ... Up: ..."), and of a link: a longer one is a text.
_MAX_WAY_LETTERS, _MAX_LINK_LETTERS = 40, 150
_MAX_DEPTH = 2000  # elements of one name within one another; deeper ones are not looked at
_MARKED_SPAN = re.compile("editsection|linenos")
_MAX_SPAN_CHARS = 4096  # of the source of a marked span, which is small
_TARGET = re.compile(r"\shref\s*+=\s*+[\"']?\s*+([a-z][a-z0-9+.-]*+:|//|#)?", re.IGNORECASE)


class _Counts(NamedTuple):
    """What a page had up to a place. Letters of text, unless said otherwise."""

    letters: int = 0
    kept: int = 0  # outside of furniture
    headed: int = 0  # of these, in headings
    listed: int = 0  # in furniture that could be content, by its form
    linked: int = 0  # in links
    near: int = 0  # of these, in links within the site
    links: int = 0  # links within the site
    inner: int = 0  # links within the page
    ways: int = 0  # to the next page and the like
    titles: int = 0  # first headings that are no link
    mains: int = 0  # main parts


class _Element(NamedTuple):
    """An element that is open: where its content begins, and what the page had before."""

    begin: int
    tag: Tag
    mark: int
    before: _Counts


def find_furniture(source: str, is_xml: bool) -> Sequence[int]:
    """Give the content of elements to leave out: begin, end, begin, end, ..., rising.

    As much as leaves a page its text: one that is nothing but a list of links keeps it.
    """
    for rules in (_FORMS, _SURE_FORMS, _MARKS, _NAMES):
        page = _Page(source, is_xml, rules)
        page.run()
        if page.has_enough_left():
            break
    return page.spans


class _Page:
    """One pass over the source. An element that is never closed is no furniture."""

    def __init__(self, source: str, is_xml: bool, rules: int) -> None:
        self.spans = array("q")
        self._source, self._is_xml, self._rules = source, is_xml, rules
        self._now = _Counts()
        self._letters = 0  # since `_now` was made
        self._open: defaultdict[str, list[_Element]] = defaultdict(list)
        self._deeper: defaultdict[str, int] = defaultdict(int)
        self._mains: list[tuple[int, int, _Counts]] = []
        self._body = 0

    def run(self) -> None:
        source, at = self._source, 0
        followed = _FOLLOWED
        if _MARKED_SPAN.search(source):  # spans are many, and few pages have one to look at
            followed |= {"span"}
        names = followed | RAW | {"body"}
        while (tag := next_tag(source, at, self._is_xml, names)) is not None:
            if tag.begin > at:
                self._letters += letters_in(source[at : tag.begin])
            at = tag.end
            if tag.name == "body":
                self._body = self._body or tag.end
            elif tag.name in followed:
                self._follow(tag)
        self._letters += letters_in(source[at:])
        self._settle()
        if self._rules >= _MARKS:
            self._prefer_main()

    def has_enough_left(self) -> bool:
        """Say whether what is left out was furniture, as far as what is left can tell."""
        now = self._now
        prose = now.kept - now.headed
        if self._rules == _FORMS:
            return prose > 0 and prose >= now.listed
        return self._rules == _NAMES or (prose if self._rules == _SURE_FORMS else now.kept) > 0

    def _follow(self, tag: Tag) -> None:
        if tag.is_end:
            self._close(tag)
        elif not tag.is_empty:
            self._begin(tag)

    def _settle(self) -> _Counts:
        if self._letters:
            now, more = self._now, self._letters
            self._now = now._replace(letters=now.letters + more, kept=now.kept + more)
            self._letters = 0
        return self._now

    def _begin(self, tag: Tag) -> None:
        name = tag.name
        now = self._settle()
        mark = mark_of(name, tag.attributes[:MAX_ATTRIBUTE_CHARS])
        if mark == MAIN and name != "span":
            self._now = now._replace(mains=now.mains + 1)
        elements = self._open[name]
        if name in ("p", "a", "dt"):  # they end where the next begins
            elements.clear()
        if len(elements) < _MAX_DEPTH:
            elements.append(_Element(tag.end, tag, mark, now))
        else:
            self._deeper[name] += 1

    def _close(self, tag: Tag) -> None:
        name = tag.name
        elements = self._open[name]
        if self._deeper[name]:
            self._deeper[name] -= 1
            return
        if not elements:
            return
        element = elements.pop()
        self._settle()
        if name in _HEADINGS:
            self._count_heading(name, element.before)
        elif name == "a":
            self._close_link(element, tag)
        elif name == "span":
            self._close_span(element, tag.begin)
        elif name in UNSEEN:
            self._leave_out(element, tag.begin)
            self._now = element.before
        elif self._is_furniture(name, element):
            self._leave_out(element, tag.begin)
        elif element.mark == MAIN:
            self._note_main(element, tag.end)

    def _close_span(self, element: _Element, end: int) -> None:
        if element.mark == FIRM and end - element.begin <= _MAX_SPAN_CHARS:
            if self._rules >= _MARKS:
                self._leave_out(element, end)
            self._now = element.before

    def _count_heading(self, name: str, before: _Counts) -> None:
        now = self._now
        is_title = name == "h1" and now.letters - before.letters > now.linked - before.linked
        self._now = now._replace(
            headed=now.headed + now.kept - before.kept, titles=now.titles + is_title
        )

    def _close_link(self, element: _Element, tag: Tag) -> None:
        now, before = self._now, element.before
        letters = now.letters - before.letters
        attributes = element.tag.attributes
        target = _TARGET.search(attributes)
        if target is None:
            return
        if self._rules >= _MARKS and letters <= _MAX_WAY_LETTERS:
            content = self._source[element.begin : tag.begin]
            has_heading = any(self._open[one] for one in (*_HEADINGS, "dt"))
            if is_anchor_mark(content, attributes, has_heading):
                self._leave_out(element, tag.begin)
                return
            ways = is_way(content, attributes)
        else:
            ways = 0
        # Names in a program are linked for another reason.
        if letters > _MAX_LINK_LETTERS or self._open["pre"]:
            return
        is_near = letters > 0 and target[1] in (None, "#")
        self._now = now._replace(
            linked=now.linked + letters,
            near=now.near + letters * is_near,
            links=now.links + is_near,
            inner=now.inner + (is_near and target[1] == "#"),
            ways=now.ways + ways,
        )

    def _is_furniture(self, name: str, element: _Element) -> bool:
        now, before = self._now, element.before
        if now.titles > before.titles or now.mains > before.mains:
            return False
        if name in _BY_NAME:
            return True
        if self._rules < _MARKS:
            return False
        letters, linked = now.letters - before.letters, now.linked - before.linked
        if element.mark == FIRM:
            return True
        if element.mark == WEAK and 2 * linked >= letters and linked:
            return True
        ways = now.ways - before.ways
        links = now.links - before.links
        if name in _LISTS and ways > 1 and ways >= links and letters - linked <= _MAX_WAY_LETTERS:
            return True
        return name in _LISTS and links >= _MIN_LINKS and self._is_list_of_links(before)

    def _is_list_of_links(self, before: _Counts) -> bool:
        """Say whether almost all is links within the site: furniture, if it may be told by that."""
        now = self._now
        letters, near = now.letters - before.letters, now.near - before.near
        if self._rules < _SURE_FORMS or near < _LINKED_SHARE * letters:
            return False
        is_sure = now.titles == 0 or 2 * (now.inner - before.inner) > now.links - before.links
        if self._rules == _FORMS and not is_sure:
            self._now = now._replace(listed=before.listed + letters)
            return True
        return is_sure

    def _leave_out(self, element: _Element, end: int) -> None:
        before = element.before
        while self.spans and self.spans[-2] >= element.begin:
            del self.spans[-2:]
        if self.spans and self.spans[-1] > element.begin:
            return  # tags that cross
        if end > element.begin:
            self.spans.extend((element.begin, end))
        self._now = self._now._replace(kept=before.kept, headed=before.headed)

    def _note_main(self, element: _Element, end: int) -> None:
        before, now = element.before, self._now
        while self._mains and self._mains[-1][0] > element.tag.begin:
            self._mains.pop()
        if len(self._mains) < 2:
            inside = _Counts(kept=now.kept - before.kept, titles=now.titles - before.titles)
            self._mains.append((element.tag.begin, end, inside))

    def _prefer_main(self) -> None:
        """Leave out all around the main part, if there is one that has most of the text."""
        if len(self._mains) != 1 or not self._body:
            return
        begin, end, inside = self._mains[0]
        if begin < self._body or inside.titles < self._now.titles:
            return
        if 2 * inside.kept < self._now.kept:
            return
        spans = zip(self.spans[::2], self.spans[1::2], strict=True)
        self.spans = array("q")
        around = [(self._body, begin), (end, len(self._source))]
        for span in sorted([*spans, *around]):
            if not self.spans or span[0] >= self.spans[-1]:
                self.spans.extend(span)
