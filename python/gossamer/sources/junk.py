"""Folders and files that no one means to search, known by their names or by what is in them."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["INDEX_MARKER", "folder_reason", "is_junk"]

INDEX_MARKER = "MANIFEST.gossamer"

# Hidden ones are listed too: they are junk even where hidden files are asked for.
_JUNK_NAMES = frozenset((
    ".git", ".hg", ".svn", ".bzr", "_darcs", "CVS", ".jj",
    "node_modules", "bower_components", "jspm_packages", ".yarn", ".pnpm-store", ".npm",
    "__pycache__", "__pypackages__", "site-packages", ".venv", ".tox", ".nox", ".eggs",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints",
    ".cache", ".gradle", ".terraform", ".next", ".nuxt", ".svelte-kit", ".parcel-cache",
    ".idea", ".vs", ".ccls-cache", ".clangd", ".dart_tool", ".stack-work", ".bundle",
    "__MACOSX", "$RECYCLE.BIN", "System Volume Information", "lost+found", ".Trash", ".Trashes",
    ".Spotlight-V100", ".fseventsd", ".DS_Store", "Thumbs.db", "desktop.ini",
))  # fmt: skip
_JUNK_ENDINGS = (".dist-info", ".egg-info")
# A folder that holds such a file says itself that it can be made again.
_MARKERS = ("pyvenv.cfg", "CACHEDIR.TAG")


def is_junk(name: str) -> bool:
    """Say whether an entry of this name is made by a program for itself."""
    return name in _JUNK_NAMES or name.endswith(_JUNK_ENDINGS)


def folder_reason(names: Collection[str], is_junk_wanted: bool) -> str | None:
    """Say by its entries why a folder is left out; None if it is not."""
    if INDEX_MARKER in names:
        return "a Gossamer index"
    if is_junk_wanted:
        return None
    found = next((marker for marker in _MARKERS if marker in names), None)
    return None if found is None else f"a folder that a program makes for itself ({found})"
