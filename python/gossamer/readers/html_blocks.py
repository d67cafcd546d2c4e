"""HTML on its way into text: blocks, and the lines of the source that they come from."""

from __future__ import annotations

from gossamer.errors import Unreadable
from gossamer.readers.entities import unescape
from gossamer.text.encoding import to_utf8

__all__ = ["Blocks"]

_MAX_INDENT = 9
_CODE_INDENT = "    "  # makes one line code, without fences
# A paragraph that begins with one of these would be taken for a heading or a fence.
_MEANT_AS_MARKUP = ("#", "```", "~~~")


class Blocks:
    """Text in the making: inline text is collected until its block ends.

    `text` and `places` give what came out. Positions in `source` must rise from call to call.
    """

    def __init__(self, source: str, max_bytes: int) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._at, self._line = 0, 1
        self._out: list[bytes] = []
        self._size = 0
        self._places: list[tuple[int, int]] = []
        self._last_kind = ""
        # The open block: its text, its length in bytes, and where lines of the source begin in it.
        self._parts: list[str] = []
        self._length = 0
        self._marks: list[tuple[int, int]] = []
        self._wants_space = False
        self._prefix = ""
        self._kind = "text"  # or "item", "row", "pre"
        self._cells = 0
        self.anchor = ""  # of the open block: the id that leads to it
        self._anchors: list[tuple[int, str]] = []

    @property
    def text(self) -> bytes:
        """The blocks so far, as UTF-8."""
        return b"".join(self._out)

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Where lines of the source begin: (offset in `text`, line)."""
        return tuple(self._places)

    @property
    def anchors(self) -> tuple[tuple[int, str], ...]:
        """The ids that lead to blocks: (offset in `text` of their words, id)."""
        return tuple(self._anchors)

    @property
    def filled(self) -> int:
        """How much text there is so far: it stays while nothing comes in."""
        return self._size + self._length

    @property
    def is_heading(self) -> bool:
        """Whether the open block is a heading."""
        return self._prefix.startswith("#")

    @property
    def open_text(self) -> str:
        """What the open block holds so far."""
        return "".join(self._parts)

    @property
    def is_preformatted(self) -> bool:
        """Whether the open block keeps its spaces and line ends."""
        return self._kind == "pre"

    @property
    def is_row(self) -> bool:
        """Whether the open block is a row of a table."""
        return self._kind == "row"

    def begin(self, kind: str = "text", prefix: str = "", indent: int = 0) -> None:
        """End the open block and begin another, whose first line gets the prefix."""
        self.end()
        self._kind = kind
        self._prefix = "  " * min(indent, _MAX_INDENT) + prefix

    def begin_cell(self) -> None:
        """Part what follows from the cell before it in the open row."""
        if self._cells:
            bar = " |" if self._parts else "|"
            self._parts.append(bar)
            self._length += len(bar)
            self._wants_space = True
        self._cells += 1

    def space(self) -> None:
        """Part what follows from what stands before it."""
        self._wants_space = True

    def break_paragraph(self) -> None:
        """End the open block if there is text in it; an empty one stays what it is to be."""
        if self._parts:
            self.end()

    def line_break(self) -> None:
        """Go to a new line within the block, where it can have several."""
        if self._kind in ("row", "item") or self._prefix:
            self._wants_space = True
        elif self._parts:
            self._append("\n", self._line)
            self._wants_space = False

    def add(self, raw: str, position: int) -> None:
        """Put text that stands at a position of the source into the open block."""
        self._go_to(position)
        self._at = position + len(raw)
        if self._kind == "pre":
            self._add_preformatted(raw)
        elif "\n" not in raw:
            self._add_inline(raw, self._line)
        else:
            lines = raw.split("\n")
            for number, line in enumerate(lines, start=self._line):
                self._add_inline(line, number)
                self._wants_space = True
            self._wants_space = not lines[-1] or lines[-1][-1].isspace()
            self._line += len(lines) - 1

    def add_words(self, words: str, position: int) -> None:
        """Put words that stand in a tag of the source into the open block."""
        self._go_to(position)
        self._append(" " + words if self._parts else words, self._line)
        self._wants_space = True

    def end(self) -> None:
        """End the open block; an empty one leaves nothing behind."""
        text = "".join(self._parts)
        if self._kind == "row":
            text = text.strip("| ") and text
        if text.strip():
            self._write(text)
        self._parts, self._marks = [], []
        self._length = self._cells = 0
        self._wants_space = False
        self._kind, self._prefix, self.anchor = "text", "", ""

    def _go_to(self, position: int) -> None:
        self._line += self._source.count("\n", self._at, position)
        self._at = position

    def _add_inline(self, raw: str, line: int) -> None:
        text = unescape(raw)
        words = " ".join(text.split())
        if not words:
            self._wants_space = self._wants_space or bool(text)
            return
        if (self._wants_space or text[0].isspace()) and self._parts and self._parts[-1] != "\n":
            words = " " + words
        self._append(words, line)
        self._wants_space = text[-1].isspace()

    def _add_preformatted(self, raw: str) -> None:
        for number, line in enumerate(raw.split("\n")):
            if number:
                self._line += 1
                if self._parts:
                    self._append("\n", self._line)
            if line:
                self._append(unescape(line), self._line)

    def _append(self, text: str, line: int) -> None:
        if not self._marks or self._marks[-1][1] != line:
            # A line begins after the space or the line end that parts it from the one before.
            at = self._length + text.startswith((" ", "\n"))
            if self._marks and self._marks[-1][0] == at:  # a line without a word
                self._marks.pop()
            self._marks.append((at, line))
        self._parts.append(text)
        self._length += len(text) if text.isascii() else len(to_utf8(text))

    def _write(self, text: str) -> None:
        prefix, suffix, cut = self._prefix, "", 0
        if self._kind == "pre" and "\n" not in text.strip():
            cut = len(to_utf8(text)) - len(to_utf8(text.lstrip()))
            text, prefix = text.strip(), _CODE_INDENT
        elif self._kind == "pre":
            fence = "````" if "```" in text else "```"
            text, prefix, suffix = text.rstrip(), fence + "\n", "\n" + fence
        elif text.startswith(_MEANT_AS_MARKUP) and not prefix:
            prefix = "\\"
        if self._out:
            is_run = self._kind == self._last_kind and self._kind in ("item", "row")
            self._put(b"\n" if is_run else b"\n\n")
        begin, inside = self._size, self._size + len(prefix) - cut
        self._put(to_utf8(prefix + text + suffix))
        self._last_kind = self._kind
        if self.anchor:
            self._anchors.append((inside, self.anchor))
        for offset, line in self._marks:
            at = begin if offset <= cut else inside + offset
            if self._places and self._places[-1][0] == at:
                self._places.pop()
            is_new = not self._places or line > self._places[-1][1]
            if is_new and at < self._size:
                self._places.append((at, line))

    def _put(self, text: bytes) -> None:
        self._out.append(text)
        self._size += len(text)
        if self._size > self._max_bytes:
            raise Unreadable(f"more than {self._max_bytes / 1e6:,.0f} MB of text")
