"""Office files, made in memory: long lists and tables, pages that end in paragraphs, gaps."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from benchmarks.places.texts import Texts

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}"'
SLIDE = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:r="{OFFICE}"'
)
OPEN = "urn:oasis:names:tc:opendocument:xmlns"
PAGE_BREAK = "<w:r><w:lastRenderedPageBreak/></w:r>"
STATES = ("visible", "hidden", "visible")
SECTIONS, ITEMS, ROWS = 12, 230, 230


def archive(members: Mapping[str, str]) -> bytes:
    """Give a zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return buffer.getvalue()


def docx(texts: Texts, has_pages: bool) -> bytes:
    """Give a Word document; one with pages has a mark in every third paragraph, inside of it."""
    body: list[str] = []
    for number in range(SECTIONS):
        body.append(_paragraph(f"{number + 1} {texts.row()}", "Heading1"))
        body.append(_paragraph(""))
        body += [_paragraph(texts.paragraph(), has_break=has_pages) for _ in range(3)]
    body += [_paragraph(texts.row(), is_item=True) for _ in range(ITEMS)]
    rows = ([texts.row(), str(number)] for number in range(ROWS))
    cells = ("".join(f"<w:tc>{_paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    body.append(f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>")
    body += [_paragraph(texts.paragraph()) for _ in range(5)]
    return archive(
        {"word/document.xml": f"{XML}<w:document {W}><w:body>{''.join(body)}</w:body></w:document>"}
    )


def _paragraph(text: str, style: str = "", is_item: bool = False, has_break: bool = False) -> str:
    about = f'<w:pStyle w:val="{style}"/>' if style else ""
    if is_item:
        about += '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    at = text.index(". ") + 2 if has_break else 0
    runs = [text[:at], text[at:]] if has_break else [text]
    shown = [f'<w:r><w:t xml:space="preserve">{escape(run)}</w:t></w:r>' for run in runs]
    return f"<w:p><w:pPr>{about}</w:pPr>{PAGE_BREAK.join(shown)}</w:p>"


def odt(texts: Texts, has_pages: bool) -> bytes:
    """Give an OpenDocument text, with footnotes; one with pages has marks inside paragraphs."""
    body: list[str] = []
    for number in range(SECTIONS):
        body.append(f'<text:h text:outline-level="1">{number + 1} {texts.row()}</text:h><text:p/>')
        for _ in range(3):
            first, rest = texts.sentence(), texts.paragraph(3)
            mark = "<text:soft-page-break/>" if has_pages else ""
            body.append(f"<text:p>{escape(first)} {mark}{escape(rest)}</text:p>")
        note = f"<text:note><text:note-body><text:p>{escape(texts.row())}</text:p>"
        note += "</text:note-body></text:note>"
        body.append(f"<text:p>{escape(texts.sentence())}{note}</text:p>")
    items = (
        f"<text:list-item><text:p>{texts.row()}</text:p></text:list-item>" for _ in range(ITEMS)
    )
    body.append(f"<text:list>{''.join(items)}</text:list>")
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    rows = (cell.format(texts.row()) + cell.format(number) for number in range(ROWS))
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    body.append(f"<table:table>{table}</table:table>")
    names = " ".join(f'xmlns:{name}="{OPEN}:{name}:1.0"' for name in ("office", "text", "table"))
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"{XML}<office:document-content {names}><office:body><office:text>"
            f"{''.join(body)}</office:text></office:body></office:document-content>",
        }
    )


def xlsx(texts: Texts) -> bytes:
    """Give a workbook of three sheets, one hidden, in which some rows are left out."""
    sheets = {"Budget": 2, "Old budget": 3, "Notes": 1}
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}" state="{STATES[at - 1]}"/>'
        for at, name in enumerate(sheets, 1)
    )
    members = {
        "xl/workbook.xml": f"{XML}<workbook {SHEET}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relationships("worksheet", "worksheets/sheet", 3),
    }
    for at, step in enumerate(sheets.values(), 1):
        rows = (
            f'<row r="{number}">'
            f'<c r="A{number}" t="inlineStr"><is><t>{texts.row()}</t></is></c>'
            f'<c r="C{number}"><v>{number}</v></c></row>'
            for number in range(at, at + step * 120, step)
        )
        members[f"xl/worksheets/sheet{at}.xml"] = (
            f"{XML}<worksheet {SHEET}><sheetData>{''.join(rows)}</sheetData></worksheet>"
        )
    return archive(members)


def pptx(texts: Texts, count: int = 60) -> bytes:
    """Give a presentation, every other slide of which has notes; files are in another order."""
    ids = "".join(f'<p:sldId id="{255 + at}" r:id="r{at}"/>' for at in range(count, 0, -1))
    members = {
        "ppt/presentation.xml": f"{XML}<p:presentation {SLIDE}><p:sldIdLst>{ids}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relationships("slide", "slides/slide", count),
    }
    for at in range(1, count + 1):
        shapes = [_shape("title", [texts.row()]), _shape("body", [texts.row() for _ in range(4)])]
        members[f"ppt/slides/slide{at}.xml"] = _slide("sld", shapes)
        if at % 2:
            target = f"../notesSlides/notesSlide{at}.xml"
            members[f"ppt/slides/_rels/slide{at}.xml.rels"] = (
                f'{XML}<Relationships><Relationship Id="n" Type="{OFFICE}/notesSlide" '
                f'Target="{target}"/></Relationships>'
            )
            notes = [_shape("body", [texts.paragraph(2)])]
            members[f"ppt/notesSlides/notesSlide{at}.xml"] = _slide("notes", notes)
    return archive(members)


def _slide(name: str, shapes: Sequence[str]) -> str:
    tree = f"<p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld>"
    return f"{XML}<p:{name} {SLIDE}>{tree}</p:{name}>"


def _shape(kind: str, lines: Sequence[str]) -> str:
    shown = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
    place = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
    return f"<p:sp>{place}<p:txBody>{shown}</p:txBody></p:sp>"


def _relationships(kind: str, target: str, count: int) -> str:
    listed = "".join(
        f'<Relationship Id="r{at}" Type="{OFFICE}/{kind}" Target="{target}{at}.xml"/>'
        for at in range(1, count + 1)
    )
    return f"{XML}<Relationships>{listed}</Relationships>"
