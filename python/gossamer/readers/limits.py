"""How much a reader may take from one file, and what it leaves out on purpose."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]

_MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that keep one file, however large or hostile, from stopping a run."""

    max_file_bytes: int = 256 * _MB  # a larger file is not opened
    max_html_bytes: int = 64 * _MB  # takes several times its length while it is read
    max_text_bytes: int = 512 * _MB  # all text taken out of one file
    max_documents: int = 1_000_000  # in one file: messages of a mailbox, conversations of a chat
    max_json_bytes: int = 1 * _MB  # larger JSON is data, not something to read
    include_secrets: bool = False  # read files that usually hold keys or passwords
    include_generated: bool = False  # read minified and generated source code
