"""Which line of a mail's file each word of a part comes from, however the part is encoded.

A mark stands for the beginning of each line of the file but the first, and goes through the
decoders with the text.
"""

from __future__ import annotations

import binascii
import io
import quopri
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from gossamer.readers.html import extract_html
from gossamer.readers.pieces import MARK

__all__ = ["LINE_MARK", "MarkedText", "mark_html", "mark_plain", "transfer_decoded"]

# Goes through every decoder of characters, is no sign of a binary file, and no text needs it.
LINE_MARK = "\f"
_MARK_BYTE = LINE_MARK.encode()
_NO_LETTERS = re.compile(rb"[^A-Za-z0-9+/]")
# Where a mark may stand: before a character of UTF-8; before a space in any other encoding.
_BEGINS_CHARACTER = re.compile(rb"[\x00-\x7f\xc0-\xff]")
_SPACE = re.compile(rb"[\x00-\x20]")
_LINE_END = re.compile(rb"\n")
_PREFORMATTED = re.compile(r"<(pre|xmp)(?=[\s/>]).*?(?=</\1|\Z)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class MarkedText:
    """Text with a `MARK` where each of these lines of the file begins in it."""

    text: str
    lines: Sequence[int]


def transfer_decoded(body: bytes, encoding: str, has_shifts: bool = False) -> bytes:
    """Decode the body of a part, with a mark for each line of it after the first.

    In character encodings that shift, what a byte means depends on those before it in its line.
    """
    lines = list(io.BytesIO(body.replace(_MARK_BYTE, b" ")))
    if encoding == "base64":
        return _marked(_from_base64(lines), has_shifts)
    if encoding == "quoted-printable":
        lines = [quopri.decodestring(line).replace(_MARK_BYTE, b" ") for line in lines]
    return _marked(lines, has_shifts)


def mark_plain(text: str, first: int) -> MarkedText:
    """Take over the marks of a part that begins on this line of the file."""
    text = text.replace(MARK, "")
    lines = range(first, first + text.count(LINE_MARK) + 1)
    return MarkedText(MARK + text.replace(LINE_MARK, MARK), lines)


def mark_html(text: str, first: int, max_bytes: int) -> MarkedText:
    """Take the text out of a part that is HTML and begins on this line of the file."""
    source, lines = _html_by_lines(text, first)
    page = extract_html(source, max_bytes)
    parts, at = [], 0
    for offset, _ in page.places:
        parts.append(page.text[at:offset])
        at = offset
    parts.append(page.text[at:])
    marked = MARK.join(part.decode("utf-8", "replace").replace(MARK, "") for part in parts)
    return MarkedText(marked, [lines[line - 1] for _, line in page.places])


def _from_base64(lines: Sequence[bytes]) -> list[bytes]:
    """Give what each line of base64 holds; a letter goes where its byte ends."""
    letters = [_NO_LETTERS.sub(b"", line) for line in lines]
    whole = b"".join(letters)
    whole = whole[:-1] if len(whole) % 4 == 1 else whole  # cut off: half a byte
    decoded = binascii.a2b_base64(whole + b"=" * (-len(whole) % 4)).replace(_MARK_BYTE, b" ")
    found, count, at = [], 0, 0
    for line in letters:
        count += len(line)
        end = count * 3 // 4
        found.append(decoded[at:end])
        at = end
    return found


def _marked(lines: Sequence[bytes], has_shifts: bool) -> bytes:
    """Join the lines with marks between them, none of which parts a character."""
    whole = b"".join(lines)
    if b"\0" in whole:  # UTF-16, which has no room for a mark, or no text at all
        return whole
    may_stand = _BEGINS_CHARACTER if _is_utf8(whole) else _SPACE
    may_stand = _LINE_END if has_shifts else may_stand
    parts: list[bytes] = []
    waiting, is_begun = 0, True
    for number, line in enumerate(lines):
        waiting += number > 0
        at = 0
        if not is_begun:
            found = may_stand.search(line)
            at = found.start() if found else len(line)
        if at < len(line):
            parts += [line[:at], _MARK_BYTE * waiting, line[at:]]
            waiting, is_begun = 0, line.endswith((b"\n", b" "))
        else:
            parts.append(line)
    return b"".join(parts)


def _html_by_lines(text: str, first: int) -> tuple[str, list[int]]:
    """Give HTML that has a line end wherever a word begins a line of the file, and these lines.

    A space is as good as a line end to HTML, save where text is laid out with both.
    """
    text = text.replace(MARK, "").replace("\r\n", "\n").replace("\r", " ")
    whole = text.replace(LINE_MARK, "")
    laid_out = [edge for found in _PREFORMATTED.finditer(whole) for edge in found.span()]

    def is_space(at: int) -> bool:
        return whole[at : at + 1] == " " and bisect_right(laid_out, at) % 2 == 0

    parts = [""]
    lines = [first]
    end = 0  # of what was passed, in the text without marks
    for line, section in enumerate(text.split(LINE_MARK), first):
        begin, end = end, end + len(section)
        if begin and is_space(begin - 1):
            parts[-1] = parts[-1][:-1] + "\n"
            lines.append(line)
        elif parts[-1].endswith("\n") or line == first:
            lines[-1] = line
        else:
            word = section.partition("\n")[0].partition(" ")[0]
            is_parted = len(word) < len(section) and is_space(begin + len(word))
            section = f"{word}\n{section[len(word) + 1 :]}" if is_parted else section
        lines += [line] * section.count("\n")
        parts += [section] if section else []
    return "".join(parts), lines


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
