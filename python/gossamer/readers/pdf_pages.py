"""The pages of a PDF as text. PDFium keeps its state in globals: one document at a time."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gossamer.errors import Unreadable
from gossamer.readers.paragraphs import Line, join_lines
from gossamer.readers.pdf_contents import Contents
from gossamer.readers.pdf_running import EdgeLine, find_running
from gossamer.readers.pieces import Pieces, one_line
from gossamer.records import Document, Value

__all__ = ["extract_pdf"]

_MAX_PAGES = 50_000
_MAX_PAGE_CHARS = 5_000_000
_EDGE_LINES = 2  # at the top and bottom of a page, that can be running lines
_LARGE = 1.15  # times the size of most lines
_HYPHEN = "\x02"  # what PDFium puts for a hyphen at the end of a line it joined to the next
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?")
_TOOL_PREFIX = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel)) - ")
_NO_TITLES = {"untitled", "untitled document", "no title", "title", "(anonymous)"}

_GOES_ON = re.compile(r"[^\W\d_],?\Z")  # a page that ends so ends within a sentence


@dataclass(frozen=True, slots=True)
class _Page:
    """A page cut where running lines could be: a few lines, the joined rest, a few lines."""

    number: int
    top: list[EdgeLine]
    body: str
    bottom: list[EdgeLine]


def extract_pdf(data: bytes, max_text_bytes: int) -> Document:
    """Give a PDF as one document with its pages as places.

    Raises `Unreadable` for a PDF that is damaged, asks for a password, or holds no text. Not for
    several threads at once, and a hostile file can take any time and memory.
    """
    pages, metadata = _read_pages(data, max_text_bytes)
    running = find_running([(page.top, page.bottom[::-1]) for page in pages])
    pieces = Pieces(max_text_bytes)
    before = ""
    for page, lines in zip(pages, running, strict=True):
        text = _page_text(page, lines)
        pieces.add(page.number, text, " " if _goes_on(before, text) else None)
        before = text or before
    if not pieces.text:
        raise Unreadable("no text in it; scanned? OCR is not done")
    return Document(
        text=pieces.text,
        kind="pdf",
        title=str(metadata.pop("title", "")),
        unit="page",
        places=pieces.places,
        metadata=metadata,
    )


def _read_pages(data: bytes, max_text_bytes: int) -> tuple[list[_Page], dict[str, Value]]:
    import pypdfium2  # type: ignore[import-untyped]

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable("password-protected") from error
        raise Unreadable("damaged, or not a PDF") from error
    try:
        if len(pdf) > _MAX_PAGES:
            raise Unreadable(f"{len(pdf)} pages, more than the limit of {_MAX_PAGES}")
        pages: list[_Page] = []
        contents = Contents(len(pdf))
        room = max_text_bytes
        for number in range(len(pdf)):
            lines = _lines_of_page(pdf, number)
            room -= sum(len(line.text) for line in lines)
            if room < 0:
                raise Unreadable("more text than the limit; split the file or raise the limit")
            pages.append(_cut(number + 1, contents.leave_out(lines)))
        return pages, _metadata(pdf)
    finally:
        pdf.close()


def _lines_of_page(pdf: Any, number: int) -> list[Line]:
    """Give the lines of a page; none for a page that PDFium cannot load."""
    import pypdfium2

    try:
        page = pdf[number]
    except pypdfium2.PdfiumError:
        return []
    try:
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        page.close()
        return []
    try:
        return list(_lines(text_page))
    finally:
        text_page.close()
        page.close()


def _lines(text_page: Any) -> Iterator[Line]:
    from pypdfium2 import raw

    count = min(text_page.count_chars(), _MAX_PAGE_CHARS)
    codes = (raw.FPDFText_GetUnicode(text_page, index) for index in range(count))
    # One character for each index, so that positions can be asked for.
    text = "".join(chr(code) if code <= sys.maxunicode else "\ufffd" for code in codes)
    begin = 0
    for end in [*(found.start() for found in re.finditer("[\r\n]", text)), len(text)]:
        line = text[begin:end]
        stripped = line.strip()
        if stripped:
            first = begin + len(line) - len(line.lstrip())
            yield _placed(text_page, stripped, first)
        begin = end + 1


def _placed(text_page: Any, text: str, first: int) -> Line:
    last = first + len(text) - 1
    word_end = first + len(text.split(None, 1)[0]) - 1
    left = _box(text_page, first)[0]
    # The middle one of several, because a bullet or a word in another font says little.
    heights = sorted(
        top - bottom
        for _, bottom, _, top in (
            _box(text_page, first + (last - first) * step // 6) for step in range(7)
        )
    )
    return Line(
        text=_mended(text),
        left=left,
        right=_box(text_page, last)[2],
        first_y=_baseline(text_page, first),
        last_y=_baseline(text_page, last),
        size=heights[3],
        first_word_width=_box(text_page, word_end)[2] - left,
    )


def _box(text_page: Any, index: int) -> tuple[float, float, float, float]:
    """Give left, bottom, right, top of a character with its font's height; zeros if unknown."""
    from pypdfium2 import raw

    box = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(box)):
        return 0.0, 0.0, 0.0, 0.0
    return box.left, box.bottom, box.right, box.top


def _baseline(text_page: Any, index: int) -> float:
    from pypdfium2 import raw

    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(text_page, index, ctypes.byref(x), ctypes.byref(y))
    return y.value


def _mended(text: str) -> str:
    """Join words that were hyphenated at a line end, and surrogates that came in two halves."""
    parts = text.split(_HYPHEN)
    mended = parts[0]
    for part in parts[1:]:
        # "Front-Cover" and "2024-25" have a hyphen of their own.
        mended += part if part[:1].islower() else f"-{part}"
    return mended.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _cut(number: int, lines: Sequence[Line]) -> _Page:
    sizes = sorted(line.size for line in lines)
    large = _LARGE * sizes[len(sizes) // 2] if sizes else 0.0
    joined = join_lines(lines)
    edges = [
        EdgeLine(glue, line.text, line.first_y, line.size > large)
        for line, (glue, _) in zip(lines, joined, strict=True)
    ]
    stop = max(_EDGE_LINES, len(lines) - _EDGE_LINES)
    body = "".join(glue + text for glue, text in joined[_EDGE_LINES:stop])
    return _Page(number, edges[:_EDGE_LINES], body, edges[stop:])


def _page_text(page: _Page, running: set[EdgeLine]) -> str:
    top, bottom = (
        "".join(line.glue + line.text for line in lines if line not in running)
        for lines in (page.top, page.bottom)
    )
    return f"{top}{page.body}{bottom}".strip()


def _goes_on(before: str, text: str) -> bool:
    """Whether a sentence goes on from one page to the next."""
    return bool(_GOES_ON.search(before)) and text[:1].islower()


def _metadata(pdf: Any) -> dict[str, Value]:
    found: dict[str, Value] = {}
    title = _TOOL_PREFIX.sub("", one_line(pdf.get_metadata_value("Title")))
    if title.lower() not in _NO_TITLES:
        found["title"] = title
    for key, name in (("author", "Author"), ("subject", "Subject"), ("keywords", "Keywords")):
        found[key] = one_line(pdf.get_metadata_value(name))
    for name in ("CreationDate", "ModDate"):
        found["date"] = _as_iso(one_line(pdf.get_metadata_value(name))) or found.get("date", "")
    return {key: value for key, value in found.items() if value}


def _as_iso(date: str) -> str:
    """Turn D:20240501120000+02'00' into 2024-05-01T12:00:00; "" for what is no date."""
    matched = _DATE.match(date)
    if matched is None:
        return ""
    year, month, day, hour, minute, second = matched.groups()
    try:
        when = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0)
        )
    except ValueError:
        return ""
    return when.isoformat() if hour else when.date().isoformat()
