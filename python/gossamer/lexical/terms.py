"""What a question asks for, and where a text holds it."""

from __future__ import annotations

from gossamer import _core

__all__ = ["find_terms", "terms_of"]


def terms_of(question: str) -> list[str]:
    """Return what a question asks for: folded words without endings, pairs of CJK characters."""
    return _core.question_terms(_utf8(question))


def find_terms(text: bytes, question: str) -> list[tuple[int, int]]:
    """Return where words of the question stand in a text: spans of bytes, rising, apart."""
    return _core.find_terms(text, _utf8(question))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")
