"""Office files and e-books, read by the standard library: what each unit holds."""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from benchmarks.places.held import Units

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
BLOCKS = ("h1", "h2", "h3", "h4", "p", "li", "pre", "dt", "dd", "td", "th")


def docx(path: Path) -> Units:
    """Pages where Word left marks; else paragraphs that say something, a table row as one."""
    body = _xml(path, "word/document.xml")[0]
    has_pages = next(body.iter(f"{W}lastRenderedPageBreak"), None) is not None
    count, page = 0, 1
    texts: dict[tuple[str, int], str] = {}
    for block in body:
        if not "".join(block.itertext()).strip():
            continue
        count += 1 if block.tag == f"{W}p" else 0
        for row in block.iter(f"{W}tr"):
            count += 1
            _add(texts, page if has_pages else count, " ".join(row.itertext()))
        for run in block.iter() if block.tag == f"{W}p" else ():
            page += run.tag == f"{W}lastRenderedPageBreak"
            _add(texts, page if has_pages else count, run.text or "")
    return Units(texts)


def odt(path: Path) -> Units:
    """Pages where they are marked; else paragraphs, a note as the paragraph it stands in."""
    body = _xml(path, "content.xml")[0][0]
    has_pages = next(body.iter(f"{TEXT}soft-page-break"), None) is not None
    page = 1
    texts: dict[tuple[str, int], str] = {}
    blocks = (block for block in _odt_blocks(body) if "".join(block.itertext()).strip())
    for count, block in enumerate(blocks, 1):
        for part in block.iter():
            page += part.tag == f"{TEXT}soft-page-break"
            said = (part.text or "") + " " + (part.tail or "" if part is not block else "")
            # What follows a break is its tail, and on the new page.
            _add(texts, page if has_pages else count, said)
    return Units(texts)


def _odt_blocks(body: Element) -> Iterator[Element]:
    for block in body:
        if block.tag in (f"{TEXT}p", f"{TEXT}h"):
            yield block
        else:
            inner = {f"{TEXT}list": f"{TEXT}list-item", f"{TABLE}table": f"{TABLE}table-row"}
            yield from block.iter(inner[block.tag])


def xlsx(path: Path) -> Units:
    """Rows by the name of their sheet and the number that Excel shows."""
    targets = {one.get("Id"): one.get("Target") for one in _xml(path, "xl/_rels/workbook.xml.rels")}
    texts: dict[tuple[str, int], str] = {}
    for sheet in _xml(path, "xl/workbook.xml").iter(f"{S}sheet"):
        for row in _xml(path, f"xl/{targets[sheet.get(ID)]}").iter(f"{S}row"):
            texts[sheet.get("name", ""), int(row.get("r", ""))] = " ".join(row.itertext())
    return Units(texts)


def pptx(path: Path) -> Units:
    """Slides in the order of the show, each with its notes."""
    targets = {
        one.get("Id"): one.get("Target", "")
        for one in _xml(path, "ppt/_rels/presentation.xml.rels")
    }
    texts: dict[tuple[str, int], str] = {}
    for number, slide in enumerate(_xml(path, "ppt/presentation.xml").iter(f"{P}sldId"), 1):
        name = posixpath.basename(targets[slide.get(ID)])
        parts = [f"ppt/slides/{name}"]
        if (links := f"ppt/slides/_rels/{name}.rels") in zipfile.ZipFile(path).namelist():
            parts += [f"ppt/slides/{one.get('Target')}" for one in _xml(path, links)]
        lines = [
            "".join(line.itertext())
            for part in parts
            for line in _xml(path, posixpath.normpath(part)).iter(f"{A}p")
        ]
        texts["", number] = "\n".join(lines)
    return Units(texts)


def epub(path: Path) -> Units:
    """Chapters by the number that their first heading says, until numbers begin again; other parts
    by their heading, and of these each paragraph."""
    with zipfile.ZipFile(path) as book:
        names = book.namelist()
        package = next(name for name in names if name.endswith(".opf"))
    tree = _xml(path, package)
    items = {one.get("id"): one.get("href", "") for one in tree.iter() if one.tag.endswith("}item")}
    pages = [items[one.get("idref")] for one in tree.iter() if one.tag.endswith("}itemref")]
    texts: dict[tuple[str, int], str] = {}
    last, number, key, count = 0, 0, "front matter", 0
    for page in (one for one in pages if not one.startswith("nav")):
        blocks = _Blocks(_read(path, posixpath.join(posixpath.dirname(package), page)).decode())
        if blocks.heading:
            stated = _stated(blocks.heading)
            number = stated if stated == last + 1 else 0
            last, key, count = max(last, number), "" if number else blocks.heading, 0
        for block in blocks.texts:
            count += 1
            at = ("", number) if number else (key, count)
            texts[at] = f"{texts.get(at, '')}\n{block}"
    return Units(texts)


def _stated(heading: str) -> int:
    found = re.match(r"(?:(\d+)\.|Chapter (\w+)$)", heading)
    if found is None:
        return 0
    return int(found[1]) if found[1] else NUMBER_WORDS.index(found[2].lower()) + 1


class _Blocks(HTMLParser):
    """The blocks of a page, and its first heading."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.heading = ""
        self.texts: list[str] = []
        self._body = source[source.index("<body") :]
        self._is_heading = False
        self.feed(self._body)
        self.heading = " ".join(self.heading.split())
        self.texts = [text for text in self.texts if text.strip()]

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self.texts.append("")
        self._is_heading = self._is_heading or (tag == "h1" and not self.heading)

    def handle_endtag(self, tag: str) -> None:
        self._is_heading = self._is_heading and tag != "h1"

    def handle_data(self, data: str) -> None:
        self.texts = self.texts or [""]
        self.texts[-1] += data
        if self._is_heading:
            self.heading += data


def _add(texts: dict[tuple[str, int], str], number: int, said: str) -> None:
    texts["", number] = f"{texts.get(('', number), '')} {said}"


def _read(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def _xml(path: Path, name: str) -> Element:
    return ElementTree.parse(io.BytesIO(_read(path, name))).getroot()
