"""The title of a page, without the name of its site that all pages of the site share."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["title_of"]

_SEPARATOR = re.compile(r"\s*[|»«›‹·•—]\s*|\s+[-–~:]\s+|:\s+")
_NO_LETTERS = re.compile(r"[\x00-/:-@\[-`{-\x7f]+")


def title_of(title: str, headings: Sequence[str], sites: Sequence[str]) -> str:
    """Give the part of a title that is a heading of the page, or what is not the site's name."""
    cuts = [found.span() for found in _SEPARATOR.finditer(title)]
    said = {_letters_of(heading) for heading in headings}
    parts = [title[:begin] for begin, _ in cuts] + [title[end:] for _, end in cuts]
    for part in parts:
        if (letters := _letters_of(part)) and letters in said:
            return part
    for begin, end in reversed(cuts):
        if begin and _is_named(title[end:], sites):
            return title[:begin]
    if cuts and _is_named(title[: cuts[0][0]], sites):
        return title[cuts[0][1] :] or title
    return title


def _is_named(part: str, sites: Sequence[str]) -> bool:
    letters = _letters_of(part)
    # "Search within Python 3.11 documentation" names a site, too.
    return bool(letters) and any(_letters_of(site).endswith(letters) for site in sites)


def _letters_of(words: str) -> str:
    return _NO_LETTERS.sub("", words).lower()
