"""Text put together from pieces: cleaned, within the limits, with the places it came from."""

from __future__ import annotations

import re

from gossamer.errors import Unreadable

__all__ = ["Pieces", "clean", "one_line"]

# Control characters have no place in text: they come from broken files and confuse terminals.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_MANY_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


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

    def add(self, number: int, text: str) -> None:
        """Put a piece at the end; pieces of the number that came last share its place."""
        part = clean(text).strip("\n").rstrip().encode("utf-8", "replace")
        if not part:
            return
        if self._parts:
            part = self._separator + part
        begin = self._size + (len(self._separator) if self._parts else 0)
        if not self._places or self._places[-1][1] != number:
            self._places.append((begin, number))
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._max_bytes:
            raise Unreadable(
                f"more text than the limit of {self._max_bytes // 1_000_000} MB; split the file "
                "or raise the limit"
            )

    @property
    def text(self) -> bytes:
        """The pieces joined, with a line end after the last; empty when there are none."""
        return b"".join(self._parts) + b"\n" if self._parts else b""

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Where each number begins: (offset in `text`, number)."""
        return tuple(self._places)


def clean(text: str) -> str:
    """Give `text` with LF line ends, no control characters and never two blank lines in a row."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
    return _MANY_BLANK_LINES.sub("\n\n", _CONTROLS.sub("", text))


def one_line(value: object, max_chars: int = 300) -> str:
    """Give `value` as one line for a title or metadata; "" for what is not a string."""
    if not isinstance(value, str):
        return ""
    # Cut before and after: collapsing spaces of a hostile megabyte is work for nothing.
    line = " ".join(clean(value[: 8 * max_chars]).split())[:max_chars].strip()
    return line.encode("utf-8", "replace").decode("utf-8")
