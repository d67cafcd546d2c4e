"""The process in which PDFs are read: a length and a PDF in, a length and its text out."""

from __future__ import annotations

import json
import os
import struct
import sys
from typing import IO

from gossamer.errors import Unreadable

__all__ = ["READY", "answer"]

READY = b"ready"
_MAX_MEMORY_BYTES = 2 << 30


def answer(data: bytes, max_text_bytes: int) -> bytes:
    """Give the document in a PDF, or why there is none, as JSON."""
    from gossamer.readers.pdf_pages import extract_pdf

    try:
        document = extract_pdf(data, max_text_bytes)
    except Unreadable as reason:
        return json.dumps({"unreadable": str(reason)}).encode()
    return json.dumps(
        {
            "text": document.text.decode("utf-8"),
            "title": document.title,
            "places": document.places,
            "metadata": dict(document.metadata),
        }
    ).encode()


def _serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until the questions end."""
    answers.write(READY)
    answers.flush()
    while len(head := questions.read(16)) == 16:
        size, max_text_bytes = struct.unpack("<QQ", head)
        reply = answer(questions.read(size), max_text_bytes)
        answers.write(struct.pack("<Q", len(reply)))
        answers.write(reply)
        answers.flush()


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    least = _MAX_MEMORY_BYTES if most == resource.RLIM_INFINITY else min(most, _MAX_MEMORY_BYTES)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (least, most))
    except (OSError, ValueError):  # systems that know the limit but do not keep it
        return


def _main() -> None:
    # Whatever a library prints must not end up among the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _limit_memory()
    _serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    _main()
