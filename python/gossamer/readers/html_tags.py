"""Tags of HTML, found in one pass over any text: what is not closed goes on to the end."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

__all__ = [
    "RAW",
    "Tag",
    "attributes_of",
    "is_xhtml",
    "letters_in",
    "next_tag",
    "place_of_attribute",
]

_TAG_PATTERN = (
    r"<(?:(/?)([a-zA-Z][^\s/>]*+)"
    r"((?:[^>=]++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+)(?:>|\Z)"
    r"|!--.*?(?:--!?>|\Z)|[!?/][^>]*+(?:>|\Z))"
)
_TAG = re.compile(_TAG_PATTERN, re.DOTALL)
_NO_LETTERS = re.compile(
    rf"[\x00-%\'-/:;=>?@\[-`{{-\x7f]+|{_TAG_PATTERN}|<|&#?[a-zA-Z0-9]{{1,32}};|&", re.DOTALL
)
_ATTRIBUTE = re.compile(r"([\w:-]{1,64})\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]++))")
MAX_ATTRIBUTE_CHARS = 4096
_XML_BEGIN = re.compile(r"\ufeff?\s*<\?xml|[^>]{0,512}<html[^>]{0,512}xmlns=", re.IGNORECASE)

_NOTHING = (0, 0)
# Their content is not markup: it ends at their end tag and nowhere else.
_RAW_END = {
    name: re.compile(rf"</{name}(?=[\s/>])[^>]*+(?:>|\Z)", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp")
}
RAW = frozenset(_RAW_END)


class Tag(NamedTuple):
    """A tag, comment or declaration; the latter two have no name."""

    begin: int
    end: int  # of an element whose content is no markup: where the element ends
    name: str  # in lower case
    is_end: bool
    is_empty: bool  # an element without content, as XML writes it
    attributes: str
    inner: tuple[int, int]  # the content that is no markup


def is_xhtml(source: str) -> bool:
    """Say whether elements can be closed with a slash, which HTML ignores."""
    return _XML_BEGIN.match(source) is not None


def next_tag(source: str, at: int, is_xml: bool, names: Container[str] | None = None) -> Tag | None:
    """Give the first tag at or after a place; None if there is none.

    With `names`, which must hold those of `RAW`, the first of these, and no comment.
    """
    for found in _TAG.finditer(source, at):
        slash, name, attributes = found.groups()
        name = name.lower() if name else ""
        if names is None or name in names:
            break
    else:
        return None
    begin, end = found.span()
    is_empty = is_xml and name != "" and attributes.endswith("/")
    inner = _NOTHING
    if name in RAW and not slash and not is_empty:
        closing = _RAW_END[name].search(source, end)
        inner = (end, closing.start() if closing else len(source))
        end = closing.end() if closing else len(source)
    return Tag(begin, end, name, slash == "/", is_empty, attributes or "", inner)


def letters_in(source: str) -> int:
    """Count the letters and digits of a text with tags; entities are none."""
    return len(_NO_LETTERS.sub("", source))


def attributes_of(source: str) -> dict[str, str]:
    """Give the attributes of a tag, by names in lower case."""
    found = _ATTRIBUTE.findall(source[:MAX_ATTRIBUTE_CHARS])
    return {name.lower(): double or single or bare for name, double, single, bare in found}


def place_of_attribute(tag: Tag, name: str) -> int:
    """Give where in the source the value of an attribute begins, or its tag if it has none."""
    before = tag.begin + 1 + len(tag.name)
    places = (
        before + found.start(found.lastindex or 0)
        for found in _ATTRIBUTE.finditer(tag.attributes[:MAX_ATTRIBUTE_CHARS])
        if found[1].lower() == name
    )
    return max(places, default=tag.begin)
