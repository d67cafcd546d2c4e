"""Ids of a page that lead to its headings: a heading's own, or that of what begins just above."""

from __future__ import annotations

from gossamer.readers.entities import unescape
from gossamer.readers.html_tags import Tag, attributes_of

__all__ = ["IdAbove", "id_of"]

_SECTIONS = frozenset(("section", "article"))
_MARKS = frozenset(("a", "span"))


def id_of(tag: Tag) -> str:
    """Give the name by which a link leads to an element; "" if it has none."""
    if "id" not in tag.attributes.lower() and not (tag.name == "a" and "name" in tag.attributes):
        return ""
    found = attributes_of(tag.attributes)
    return unescape(found.get("id") or (found.get("name", "") if tag.name == "a" else ""))


class IdAbove:
    """The id that leads to what comes next, as long as no text comes between.

    That of a section is preferred to one that marks a place, and this to any other: a section of
    Sphinx has the id that its title gives it, and the labels that stand in it.
    """

    def __init__(self) -> None:
        self._id, self._rank, self._at = "", 0, -1

    def note(self, tag: Tag, id: str, at: int) -> None:
        """Take the id of an element that begins where so much text was written."""
        is_section = tag.name in _SECTIONS or "section" in attributes_of(tag.attributes).get(
            "class", ""
        )
        rank = 3 if is_section else 2 if tag.name in _MARKS else 1
        if at != self._at or rank >= self._rank:
            self._id, self._rank, self._at = id, rank, at

    def take(self, at: int) -> str:
        """Give the id that leads to where so much text was written."""
        return self._id if at == self._at else ""
