"""Marks of furniture: roles, classes and labels of elements, and what a link shows."""

from __future__ import annotations

import re
from functools import lru_cache

from gossamer.readers.entities import unescape
from gossamer.readers.html_tags import attributes_of

__all__ = ["FIRM", "MAIN", "WEAK", "is_anchor_mark", "is_way", "mark_of"]

# Furniture; furniture if half of it is links; the main part of the page.
NONE, FIRM, WEAK, MAIN = range(4)
_ROLES = frozenset(
    ("navigation", "search", "contentinfo", "banner", "menu", "menubar", "toolbar", "tablist",
     "directory", "dialog", "alertdialog", "doc-toc", "doc-index", "doc-pagelist", "doc-backlink",
     "toc", "page-list", "landmarks")
)  # fmt: skip
_FIRM_WORDS = frozenset(
    ("footer", "printfooter", "navheader", "navfooter", "breadcrumb", "breadcrumbs", "toctree",
     "sphinxsidebar", "catlinks", "editsection", "searchbox", "searchform", "linenodiv", "linenos",
     "skipnav", "skiplink", "toplang", "bottomlang", "genindextable", "modindextable")
)  # fmt: skip
_WEAK_WORDS = frozenset(
    ("nav", "navbar", "navigation", "navlinks", "navlist", "navbox", "navpath", "navpanel",
     "topnav", "bottomnav", "subnav", "sidenav", "menu", "menubar", "mainmenu", "submenu",
     "toolbar", "sidebar", "sidebarwrapper", "crumb", "crumbs", "toc", "minitoc", "localtoc",
     "globaltoc", "tocwrapper", "pagination", "pager", "pagenav", "prevnext", "related", "relbar",
     "langlinks", "indextable", "jumptable", "skip")
)  # fmt: skip
_NEGATIONS = frozenset(("no", "not", "has", "with", "without", "hide"))
_CONTENTS = frozenset(("contents", "topic"))
_NAMES = frozenset(("aside", "header"))  # as weak as a class of such a name
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

# Signs, and what fonts of icons have in their place.
_SIGNS = re.compile("[\\s¶#§◆◇∞☍⚓⛓🔗\ufe0f\u200b\ufeff\ue000-\uf8ff]+")
_ANCHOR_WORDS = re.compile(r"headerlink|permalink|anchor|hash-?link|self-?link|sectionlink", re.I)
_WAY = re.compile(
    r"\s(?:accesskey\s*+=|rel\s*+=\s*+[\"']?"
    r"(?:next|prev|previous|up|start|first|last|contents|index)[\s\"'>])",
    re.IGNORECASE,
)
_WAYS = frozenset(("next", "previous", "prev", "up", "home", "top", "contents", "index"))
_SKIPS = re.compile(r"\s*(?:skip|jump) to\s", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_MAX_MARKED_CHARS = 200


@lru_cache(maxsize=1024)
def mark_of(name: str, attributes: str) -> int:
    """Say what a tag is by its name and its attributes."""
    if name == "main":
        return MAIN
    found = attributes_of(attributes) if "=" in attributes else {}
    roles = f"{found.get('role', '')} {found.get('epub:type', '')}".lower().split()
    if "main" in roles:
        return MAIN
    if not _ROLES.isdisjoint(roles):
        return FIRM
    named = f"{found.get('class', '')} {found.get('aria-label', '')}"
    if name != "section" and "section" not in named:  # whose id is what its heading says
        named += f" {found.get('id', '')}"
    tokens = [_words_of(token) for token in named.split()]
    words = {word for token in tokens if token[:1] and token[0] not in _NEGATIONS for word in token}
    is_contents = words >= _CONTENTS or {"table", "of", "contents"} <= words
    if is_contents or not _FIRM_WORDS.isdisjoint(words):
        return FIRM
    return WEAK if name in _NAMES or not _WEAK_WORDS.isdisjoint(words) else NONE


def is_anchor_mark(content: str, attributes: str, has_heading: bool) -> bool:
    """Say whether a link shows nothing but a sign to copy its target by, or leads over a menu."""
    if _SKIPS.match(content):
        return True
    said = _words(content)
    if not _SIGNS.fullmatch(said):
        return False
    return has_heading or "¶" in said or _ANCHOR_WORDS.search(attributes) is not None


def is_way(content: str, attributes: str) -> int:
    """Say how surely a link leads to a page's neighbors: 2, 1 or 0."""
    if _WAY.search(attributes):
        return 2
    words = _words(content).lower().strip("«»<>←→‹›|[]() ")
    return int(words in _WAYS)


def _words(content: str) -> str:
    if len(content) > _MAX_MARKED_CHARS:
        return ""
    return unescape(_TAG.sub("", content)).strip()


def _words_of(token: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(token)]
