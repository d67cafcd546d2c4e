"""Text put together from pieces: cleaned, within the limits, with the places it came from."""

from __future__ import annotations

import re

from gossamer.errors import Unreadable

__all__ = ["MARK", "Pieces", "clean", "one_line"]

# Stands in a text where a place begins, until the text is put together: no text holds it itself.
MARK = "\ufffe"
# Control characters have no place in text: they come from broken files and confuse terminals.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\uffff]")
_MANY_BLANK_LINES = re.compile(r"\n[ \t\ufffe]*\n(?:[ \t\ufffe]*\n)+")
_FIRST_LINE_ENDS = re.compile(r"\A(?:[ \t\ufffe]*\n)+\ufffe*")
_SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))


class Pieces:
    """A document's text in the making: numbered pieces with a blank line between them.

    `text` is UTF-8 and `places` says where each number begins. A piece without text leaves
    nothing behind. Raises `Unreadable` once the text is longer than `max_bytes`.
    """

    def __init__(self, max_bytes: int, separator: str = "\n\n") -> None:
        self._max_bytes = max_bytes
        self._separator = separator.encode()
        self._parts: list[bytes] = []
        self._places: list[tuple[int, int]] = []
        self._size = 0

    def add(self, number: int, text: str, separator: str | None = None) -> list[int]:
        """Put a piece at the end; pieces of the number that came last share its place.

        Gives where the piece begins and where each `MARK` in it stood; nothing for an empty piece.
        """
        text = _FIRST_LINE_ENDS.sub(_marks_of, _cleaned(text).rstrip(_SPACES + MARK), count=1)
        parts = [part.encode("utf-8", "replace") for part in text.split(MARK)]
        if not any(parts):
            return []
        if self._parts:
            glue = self._separator if separator is None else separator.encode()
            self._parts.append(glue)
            self._size += len(glue)
        if not self._places or self._places[-1][1] != number:
            self._places.append((self._size, number))
        begins = []
        for part in parts:
            begins.append(self._size)
            self._size += len(part)
        self._parts += parts
        if self._size > self._max_bytes:
            raise Unreadable(
                f"more text than the limit of {self._max_bytes // 1_000_000} MB; split the file "
                "or raise the limit"
            )
        return begins

    @property
    def text(self) -> bytes:
        """The pieces joined, with a line end after the last; empty when there are none."""
        return b"".join(self._parts) + b"\n" if self._parts else b""

    @property
    def count(self) -> int:
        """How many places there are."""
        return len(self._places)

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Where each number begins: (offset in `text`, number)."""
        return tuple(self._places)


def clean(text: str) -> str:
    """Give `text` with LF line ends, no control characters and never two blank lines in a row."""
    return _cleaned(text).replace(MARK, "")


def _cleaned(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
    text = _CONTROLS.sub("", text)
    return _MANY_BLANK_LINES.sub(lambda found: "\n\n" + _marks_of(found), text)


def _marks_of(found: re.Match[str]) -> str:
    return MARK * found.group().count(MARK)


def one_line(value: object, max_chars: int = 300) -> str:
    """Give `value` as one line for a title or metadata; "" for what is not a string."""
    if not isinstance(value, str):
        return ""
    # Cut before and after: collapsing spaces of a hostile megabyte is work for nothing.
    line = " ".join(clean(value[: 8 * max_chars]).split())[:max_chars].strip()
    return line.encode("utf-8", "replace").decode("utf-8")
