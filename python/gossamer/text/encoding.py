"""Bytes to UTF-8: text in any encoding is recognised, and what is no text is refused."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from gossamer.errors import LeftOut, Unreadable

__all__ = ["Decoded", "declared_encoding", "decode", "is_binary", "to_utf8"]

_SLICE_BYTES = 1 << 20
_HEAD_BYTES = 1 << 16  # looked at to tell an encoding
_NUL_HEAD_BYTES = 8192
_UTF8_BOM = codecs.BOM_UTF8
# UTF-32 first: its little-endian mark begins with that of UTF-16.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Every byte but the control characters that stand in no text.
_TEXT_BYTES = bytes({*range(256)} - ({*range(32)} - {*b"\b\t\n\f\r\x1b"}) - {0x7F})
_MOST_CONTROLS = 0.05
_MOST_REPLACED = 0.1
# What people's files are in, when they are not in Unicode; common ones first.
_LEGACY = (
    "cp1252", "cp1250", "cp1251", "gb18030", "big5", "cp932", "euc_jp", "euc_kr", "koi8_r",
    "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "iso8859_2", "iso8859_15", "iso2022_jp",
    "mac_roman", "cp437", "cp850", "cp866",
)  # fmt: skip
# Has a letter for nearly every byte, and is what files not in Unicode are most often in.
_USUAL = "cp1252"
# Names that a file may declare: text encodings, which decode without doing anything else.
_DECLARABLE = re.compile(
    r"(?:cp|windows-?)(?:125\d|437|850|866|874|932|949)|(?:iso-?)?(?:8859|latin)[-_]?\d{1,2}"
    r"|iso-(?:8859-\d{1,2}|2022-jp|2022-kr)|(?:us-)?ascii|gbk?|gb2312|gb18030|big5(?:-?hkscs)?"
    r"|shift[-_]?jis|euc[-_](?:jp|kr)|koi8[-_][ru]|johab|hz|macintosh|mac[-_](?:roman|cyrillic)"
    r"|tis[-_]?620|ks_c_5601-1987",
    re.IGNORECASE,
)
_DECLARATION = re.compile(
    rb"<meta[^>]{0,256}?charset\s{0,8}=\s{0,8}[\"']?\s{0,8}([\w.:-]{1,40})"
    rb"|^\s{0,64}<\?xml[^>]{0,128}?encoding\s{0,8}=\s{0,8}[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)


class Decoded(NamedTuple):
    """Text as UTF-8, the encoding it was in, and whether it is the given bytes unchanged."""

    text: bytes
    encoding: str
    is_verbatim: bool


def decode(data: bytes, declared: str = "") -> Decoded:
    """Give `data` as UTF-8; raises `Unreadable` for what is not text.

    Valid UTF-8 comes back as it is, a byte order mark included. `declared` is what the file says
    of itself: it is believed where the bytes are neither marked nor valid UTF-8.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
    if b"\0" in data[:_NUL_HEAD_BYTES] and (wide := _wide_encoding(data[:_NUL_HEAD_BYTES])):
        return _decoded(data, wide)
    if is_binary(data[:_HEAD_BYTES]):
        raise LeftOut("binary file")
    if _is_utf8(data):
        _refuse_flood(data[:_HEAD_BYTES].decode("utf-8", "ignore"))
        return Decoded(data, "utf-8", True)
    encoding = _declarable(declared) or ("utf-8" if _is_mostly_utf8(data) else _detected(data))
    return _decoded(data, encoding)


def declared_encoding(head: bytes) -> str:
    """Give the encoding that HTML or XML declares in its first bytes; "" where it declares none."""
    found = _DECLARATION.search(head[:4096])
    return (found[1] or found[2]).decode("ascii", "ignore") if found else ""


def is_binary(head: bytes) -> bool:
    """Say whether a file that begins with `head` is no text in any encoding."""
    if head.startswith(tuple(mark for mark, _ in _BOMS)):
        return False
    if b"\0" in head[:_NUL_HEAD_BYTES]:
        return not _wide_encoding(head[:_NUL_HEAD_BYTES])
    return _has_many_controls(head)


def to_utf8(text: str) -> bytes:
    """Encode text of any origin; a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace")


def _decoded(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    _refuse_flood(text[:_HEAD_BYTES])
    return Decoded(to_utf8(text), encoding, False)


def _refuse_flood(text: str) -> None:
    """Refuse text of which much was lost when it was decoded, here or before."""
    if text.count("\ufffd") > _MOST_REPLACED * len(text):
        raise Unreadable("text in an unknown encoding, or damaged")
    if text.count("\0") > _MOST_CONTROLS * len(text):
        raise LeftOut("binary file")


def _wide_encoding(head: bytes) -> str:
    """Tell UTF-16 without a mark by where its NULs are: in text most characters have one.

    Gives "" where the NULs follow no such pattern.
    """
    half = len(head) // 2
    even, odd = head[0 : 2 * half : 2], head[1 : 2 * half : 2]
    if odd.count(0) > 0.4 * half and not _has_many_controls(even):
        return "utf-16-le"
    if even.count(0) > 0.4 * half and not _has_many_controls(odd):
        return "utf-16-be"
    return ""


def _has_many_controls(data: bytes) -> bool:
    return len(data.translate(None, _TEXT_BYTES)) > _MOST_CONTROLS * len(data)


def _is_utf8(data: bytes) -> bool:
    # By slices: a string of the whole could take four times the memory of the file.
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for begin in range(0, len(data), _SLICE_BYTES):
            decoder.decode(view[begin : begin + _SLICE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _is_mostly_utf8(data: bytes) -> bool:
    """Say whether a few bad bytes stand in what is otherwise UTF-8 beyond ASCII."""
    text = _telling(data).decode("utf-8", "replace")
    bad = text.count("\ufffd")
    beyond_ascii = sum(map("\x7f".__lt__, text)) - bad
    return beyond_ascii > 4 * bad


def _detected(data: bytes) -> str:
    # Only here: most files are UTF-8, and the detector takes a while to load.
    import charset_normalizer

    found = charset_normalizer.from_bytes(_telling(data), cp_isolation=list(_LEGACY))
    best = found.best()
    if best is None:
        return _USUAL
    likely = (match for match in found if match.chaos == best.chaos)
    ties = (match for match in likely if match.coherence == best.coherence)
    is_usual = any(_USUAL in match.could_be_from_charset for match in ties)
    return _USUAL if is_usual else best.encoding


def _telling(data: bytes) -> bytes:
    """Give the lines that say something of the encoding: those beyond ASCII, up to a bound."""
    for begin in range(0, len(data), _HEAD_BYTES):
        if not (piece := data[begin : begin + _HEAD_BYTES]).isascii():
            return b"\n".join(line for line in piece.split(b"\n") if not line.isascii())
    return b""


def _declarable(name: str) -> str:
    """Give Python's name for a declared encoding; "" where it cannot be, or is not, believed."""
    # UTF-8 was tried before, and text in UTF-16 could not have said so in ASCII.
    if not _DECLARABLE.fullmatch(name):
        return ""
    try:
        known = codecs.lookup(name).name
    except LookupError:
        return ""
    return _USUAL if known in ("ascii", "iso8859-1") else known  # as browsers take it
