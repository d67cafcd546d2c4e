"""Tags of HTML, found in one pass over any text: what is not closed goes on to the end."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Tag", "attributes_of", "is_xhtml", "next_tag", "place_of_attribute"]

_TAG = re.compile(
    r"<(?:(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)"
    r"(?P<attributes>(?:[^>=]++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+)(?:>|\Z)"
    r"|!--.*?(?:--!?>|\Z)|[!?/][^>]*+(?:>|\Z))",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([\w:-]{1,64})\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]++))")
_MAX_ATTRIBUTE_CHARS = 4096
_XML_BEGIN = re.compile(r"\ufeff?\s*<\?xml|[^>]{0,512}<html[^>]{0,512}xmlns=", re.IGNORECASE)

# Their content is not markup: it ends at their end tag and nowhere else.
_RAW_END = {
    name: re.compile(rf"</{name}(?=[\s/>])[^>]*+(?:>|\Z)", re.IGNORECASE)
    for name in "script style title textarea iframe noembed noframes xmp".split()
}


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


def next_tag(source: str, at: int, is_xml: bool) -> Tag | None:
    """Give the first tag at or after a place; None if there is none."""
    found = _TAG.search(source, at)
    if found is None:
        return None
    begin, end = found.span()
    name = (found["name"] or "").lower()
    attributes = found["attributes"] or ""
    is_end = bool(found["end"])
    is_empty = is_xml and attributes.endswith("/")
    inner = (end, end)
    if name in _RAW_END and not is_end and not is_empty:
        closing = _RAW_END[name].search(source, end)
        inner = (end, closing.start() if closing else len(source))
        end = closing.end() if closing else len(source)
    return Tag(begin, end, name, is_end, is_empty, attributes, inner)


def attributes_of(source: str) -> dict[str, str]:
    """Give the attributes of a tag, by names in lower case."""
    found = _ATTRIBUTE.findall(source[:_MAX_ATTRIBUTE_CHARS])
    return {name.lower(): double or single or bare for name, double, single, bare in found}


def place_of_attribute(tag: Tag, name: str) -> int:
    """Give where in the source the value of an attribute begins, or its tag if it has none."""
    before = tag.end - 1 - len(tag.attributes)
    places = (
        before + found.start(found.lastindex or 0)
        for found in _ATTRIBUTE.finditer(tag.attributes[:_MAX_ATTRIBUTE_CHARS])
        if found[1].lower() == name
    )
    return max(places, default=tag.begin)
