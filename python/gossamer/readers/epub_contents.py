"""The table of contents of an e-book."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from gossamer.errors import Unreadable
from gossamer.readers.archive import Archive, XmlEvent, xml_events
from gossamer.readers.epub_numbers import is_part
from gossamer.readers.pieces import one_line

__all__ = ["Contents", "Entry", "path_in_book", "read_contents"]

_MAX_ENTRIES = 20_000
_MAX_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents: what it says, where it leads, and how deep it stands, from 1."""

    label: str
    name: str
    fragment: str
    depth: int


@dataclass(frozen=True, slots=True)
class Contents:
    """The table of contents, in its order, and the page at which the book says to begin."""

    entries: Sequence[Entry] = ()
    begin: str = ""

    def down_to(self, depth: int) -> Sequence[Entry]:
        """Give the entries that stand no deeper."""
        return [entry for entry in self.entries if entry.depth <= depth]


def path_in_book(folder: str, reference: str) -> str:
    """Give the name in the archive of what a file in a folder refers to."""
    return posixpath.normpath(posixpath.join(folder, unquote(reference))).lstrip("/")


def read_contents(archive: Archive, names: Sequence[str]) -> Contents:
    """Read the first of these files that has contents; none where all are missing or damaged."""
    for name in names:
        if name in archive:
            walk = _Walk(posixpath.dirname(name))
            try:
                for event in xml_events(archive.stream(name), name):
                    walk.take(event)
            except Unreadable:
                continue
            if walk.entries:
                return Contents(walk.entries, walk.begin)
    return Contents()


class _Walk:
    """Goes through a nav.xhtml or a toc.ncx."""

    def __init__(self, folder: str) -> None:
        self.entries: list[Entry] = []
        self.begin = ""
        self._folder = folder
        self._nav = ""  # what the open <nav> is
        self._depth = 0
        self._target = ""
        self._is_label = False
        self._is_link = False
        self._label = ""
        self._part = ""  # a label that leads nowhere itself, but holds the next that does

    def take(self, event: XmlEvent) -> None:
        """Note what one event says."""
        name = event.name
        if event.kind == "text":
            if self._is_label and len(self._label) < _MAX_CHARS:
                self._label += name
        elif event.kind == "start":
            self._start(name, event)
        elif name in ("ol", "navPoint"):
            self._depth -= 1
        elif name == "nav":
            self._nav = ""
        elif name in ("a", "text"):
            self._is_label = self._is_link = False
            if name == "a" and self._nav == "toc":
                self._enter(self._target)
        elif name == "span" and not self._is_link:
            self._is_label = False
            self._part = self._label

    def _start(self, name: str, event: XmlEvent) -> None:
        attributes = event.attributes
        if name == "nav":
            self._nav, self._depth = attributes.get("type", ""), 0
        elif name in ("ol", "navPoint"):
            self._depth += 1
        elif name in ("a", "text"):
            self._is_label, self._is_link, self._label = True, True, ""
            self._target = attributes.get("href", "")
            if self._nav == "landmarks" and attributes.get("type") == "bodymatter":
                self.begin = path_in_book(self._folder, self._target.partition("#")[0])
        elif name == "span" and self._nav == "toc" and not self._is_link:
            self._is_label, self._label = True, ""
        elif name == "content":
            self._enter(attributes.get("src", ""))

    def _enter(self, target: str) -> None:
        path, _, fragment = target.partition("#")
        labels = [(one_line(self._label), self._depth)]
        if is_part(part := one_line(self._part)):
            labels.insert(0, (part, self._depth - 1))
        self._part = ""
        if path and len(self.entries) < _MAX_ENTRIES:
            name = path_in_book(self._folder, path)
            self.entries += (
                Entry(label, name, unquote(fragment), max(depth, 1)) for label, depth in labels
            )
