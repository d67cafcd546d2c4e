"""Which kind a file is of, which module reads that kind, and what is left out unopened."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

from gossamer.readers.languages import full_name_language, language_of, shebang_language
from gossamer.readers.limits import Limits
from gossamer.text.encoding import is_binary

__all__ = ["HEAD_BYTES", "kind_of", "module_of", "reason_to_skip"]

HEAD_BYTES = 8192  # of a file, which `kind_of` may look at


def kind_of(path: Path, head: bytes) -> str | None:
    """Name the kind of a file by its name, or else by its first `HEAD_BYTES`; None if binary.

    Source code gives the name of its language, text of no other kind gives "text".
    """
    # Files of a maildir end in their flags and a host name, which says nothing.
    if path.parent.name in ("cur", "new") and _is_begun_by_mail_headers(head):
        return "mail"
    if (language := full_name_language(path)) is not None:
        return language
    if (kind := _KIND_OF_EXTENSION.get(path.suffix.lower())) is not None:
        return kind
    if (language := language_of(path)) is not None:
        return language
    for kind, is_begun_by in _BEGINS.items():
        if is_begun_by(head):
            return kind
    return shebang_language(head) or (None if is_binary(head) else "text")


def module_of(kind: str) -> str:
    """Name the module of gossamer.readers that reads files of this kind."""
    known = _TABLE["kinds"].get(kind)
    return "code" if known is None else known["reader"]


def reason_to_skip(path: Path, limits: Limits) -> str | None:
    """Say why a file is left out, judged by its name alone; None if it is to be read."""
    name = path.name.lower()
    if not limits.include_secrets and _may_hold_secrets(name):
        return "may hold secrets (read it with include_secrets)"
    if not limits.include_generated and (".min." in name or name in _LOCK_FILES):
        return "generated (read it with include_generated)"
    what = _BINARY_EXTENSIONS.get(path.suffix.lower())
    return None if what is None else f"{what}, which holds no text to read"


def _may_hold_secrets(name: str) -> bool:
    if name in _PUBLIC_NAMES:
        return False
    return any(fnmatchcase(name, pattern) for pattern in _SECRET_NAMES)


def _is_begun_by_pdf(head: bytes) -> bool:
    return b"%PDF-" in head[:1024]


def _is_begun_by_html(head: bytes) -> bool:
    return _HTML_BEGIN.match(head) is not None


def _is_begun_by_mail_headers(head: bytes) -> bool:
    return _MAIL_BEGIN.match(head) is not None


_HTML_BEGIN = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--[^>]*-->\s*)?<(?:!doctype html|html)[\s>]", re.I
)
# An mbox "From " line, or header lines of which one is known to stand in every message.
_MAIL_BEGIN = re.compile(
    rb"(?:From \S+ .*\n)?(?:[A-Za-z][\w-]*:.*\n(?:[ \t].*\n)*){0,64}?"
    rb"(?:Return-Path|Received|Message-ID|MIME-Version|Delivered-To):",
    re.I,
)

# Says from the first bytes of a file with no telling name whether it is of a kind.
_BEGINS = {
    "html": _is_begun_by_html,
    "pdf": _is_begun_by_pdf,
    "mail": _is_begun_by_mail_headers,
}
# What names of files say, which pages read too. Each kind has a module of gossamer.readers, which
# gives read(path, data, limits) -> list[Document]; a kind that is not listed is the name of a
# language, read as source code.
_TABLE = json.loads(Path(__file__).with_name("formats.json").read_text(encoding="utf-8"))
_KIND_OF_EXTENSION: dict[str, str] = {
    "." + extension: kind
    for kind, known in _TABLE["kinds"].items()
    for extension in known["extensions"].split()
}
_SECRET_NAMES, _PUBLIC_NAMES, _LOCK_FILES = (
    tuple(_TABLE[name].split()) for name in ("secrets", "public", "generated")
)
_BINARY_EXTENSIONS: dict[str, str] = {
    "." + extension: what
    for what, extensions in _TABLE["without_text"].items()
    for extension in extensions.split()
}
