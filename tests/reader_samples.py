"""Small valid files of every format with structure, made in memory: what tests read and damage."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from xml.sax.saxutils import escape

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_DRAWING = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:r="{_RELATIONSHIPS}"'
)
_SHEET = (
    f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{_RELATIONSHIPS}"'
)


def samples() -> dict[str, bytes]:
    """Give file name -> bytes of one valid file for each format."""
    return {
        "paper.pdf": pdf([["The lease ends in May.", "The rent is due."], ["Second page."]]),
        "letter.docx": docx(),
        "talk.pptx": pptx(),
        "numbers.xlsx": xlsx(),
        "letter.odt": odt(),
        "talk.odp": odp(),
        "numbers.ods": ods(),
        "novel.epub": epub(),
        "parts.epub": book(
            {"a.xhtml": "<h1>Preface</h1>", "b.xhtml": '<h1 id="x">Sea</h1><p>Wet.</p>'},
            [("Preface", "a.xhtml", 1), ("Sea", "b.xhtml#x", 1)],
        ),
        "study.ipynb": notebook(),
        "message.eml": eml(),
        "inbox.mbox": mbox(),
        "chatgpt/conversations.json": chatgpt(),
        "claude/conversations.json": claude(),
        "slack/general/2024-05-01.json": slack(),
        "telegram/result.json": telegram(),
        "discord/channel.json": discord(),
        "WhatsApp Chat with Ann.txt": whatsapp(),
    }


def archive(members: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Give a zip archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return buffer.getvalue()


def pdf(pages: Sequence[Sequence[str]], info: Mapping[str, str] | None = None) -> bytes:
    """Give a PDF with lines of Latin text in Helvetica; an empty string leaves a line out."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, lines in enumerate(pages):
        content = _pdf_content(lines)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (5 + 2 * number)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    entries = " ".join(f"/{key} ({value})" for key, value in (info or {}).items())
    objects.append(f"<< {entries} >>".encode("latin-1"))
    return _pdf_file(objects)


def _pdf_content(lines: Sequence[str]) -> bytes:
    shown = ["BT /F1 12 Tf 72 720 Td 14 TL"]
    for line in lines:
        text = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        shown.append(f"({text}) Tj T*")
    return "\n".join([*shown, "ET"]).encode("latin-1")


def _pdf_file(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R %s >>\n" % (
        len(objects) + 1,
        len(objects),
        trailer,
    )
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def encrypted_pdf() -> bytes:
    """Give a PDF that asks for a password, as its encryption entry says."""
    key = "AB" * 32
    encryption = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>"
    trailer = f"{encryption} /ID [<{'00' * 16}> <{'00' * 16}>]"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>",
        b"<< >>",
    ]
    return _pdf_file(objects, trailer.encode())


def core_properties(title: str = "A letter", author: str = "Ann Doe") -> str:
    return (
        f'{XML}<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        f'xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>{escape(title)}</dc:title>'
        f"<dc:creator>{escape(author)}</dc:creator>"
        "<dcterms:modified>2024-05-01T10:00:00Z</dcterms:modified></cp:coreProperties>"
    )


def docx_paragraph(
    text: str, style: str = "", is_list: bool = False, has_break: bool = False
) -> str:
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    if is_list:
        properties += '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    mark = "<w:lastRenderedPageBreak/>" if has_break else ""
    return (
        f"<w:p><w:pPr>{properties}</w:pPr>"
        f"<w:r><w:rPr><w:b/></w:rPr>{mark}"
        f'<w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'
    )


def docx_table(rows: Sequence[Sequence[str]]) -> str:
    cells = (
        "<w:tr>" + "".join(f"<w:tc>{docx_paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>"
        for row in rows
    )
    return f"<w:tbl>{''.join(cells)}</w:tbl>"


def docx(body: str | None = None, extra: Mapping[str, str] | None = None) -> bytes:
    """Give a Word document with this body, or one with some of everything."""
    if body is None:
        body = (
            docx_paragraph("The lease", "berschrift1")
            + docx_paragraph("It ends in May & not before.")
            + "<w:p><w:r><w:t>See the note</w:t></w:r>"
            + '<w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
            + docx_paragraph("first", is_list=True)
            + docx_paragraph("second", is_list=True)
            + docx_table([["month", "rent"], ["May", "900"]])
        )
    styles = (
        f'{XML}<w:styles {_W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/>'
        "</w:style>"
        '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift1"/></w:style>'
        "</w:styles>"
    )
    notes = (
        f'{XML}<w:footnotes {_W}><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        f'<w:footnote w:id="2">{docx_paragraph("As the owner said.")}</w:footnote></w:footnotes>'
    )
    return archive(
        {
            "[Content_Types].xml": f"{XML}<Types/>",
            "word/document.xml": f"{XML}<w:document {_W}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": styles,
            "word/footnotes.xml": notes,
            "docProps/core.xml": core_properties(),
            **(extra or {}),
        }
    )


def relationships(parts: Mapping[str, tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="{id_}" Type="{_RELATIONSHIPS}/{kind}" Target="{target}"/>'
        for id_, (kind, target) in parts.items()
    )
    return f'{XML}<Relationships xmlns="urn:relationships">{listed}</Relationships>'


def _shape(text: str, kind: str) -> str:
    lines = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
        f"<p:txBody>{lines}</p:txBody></p:sp>"
    )


def pptx() -> bytes:
    """Give two slides whose files are not in the order in which they are shown."""

    def slide(title: str, body: str) -> str:
        shapes = _shape(body, "body") + _shape(title, "title") + _shape("7", "sldNum")
        return f"{XML}<p:sld {_DRAWING}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"

    slides = '<p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/>'
    notes = f"<p:cSld><p:spTree>{_shape('Speak slowly.', 'body')}</p:spTree></p:cSld>"
    return archive(
        {
            "ppt/presentation.xml": f"{XML}<p:presentation {_DRAWING}><p:sldIdLst>{slides}"
            "</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relationships(
                {"rId1": ("slide", "slides/slide1.xml"), "rId2": ("slide", "slides/slide2.xml")}
            ),
            "ppt/slides/slide1.xml": slide("The end", "Thank you"),
            "ppt/slides/slide2.xml": slide("The beginning", "One point\nAnother point"),
            "ppt/slides/_rels/slide2.xml.rels": relationships(
                {"rId1": ("notesSlide", "../notesSlides/notesSlide1.xml")}
            ),
            "ppt/notesSlides/notesSlide1.xml": f"{XML}<p:notes {_DRAWING}>{notes}</p:notes>",
            "docProps/core.xml": core_properties("A talk"),
        }
    )


def xlsx(extra: Mapping[str, str] | None = None) -> bytes:
    """Give a workbook of two sheets with strings, numbers, a date and an empty row."""
    first = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
        '<row r="3"><c r="A3" s="1"><v>45413</v></c><c r="C3"><v>900.5</v></c></row>'
    )
    second = '<row r="1"><c r="A1" t="inlineStr"><is><t>only here</t></is></c></row>'

    def sheet(rows: str) -> str:
        return f"{XML}<worksheet {_SHEET}><sheetData>{rows}</sheetData></worksheet>"

    return archive(
        {
            "xl/workbook.xml": f"{XML}<workbook {_SHEET}><sheets>"
            '<sheet name="Rent" sheetId="1" r:id="rId1"/>'
            '<sheet name="Other" sheetId="2" r:id="rId2"/>'
            "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relationships(
                {
                    "rId1": ("worksheet", "worksheets/sheet1.xml"),
                    "rId2": ("worksheet", "/xl/worksheets/sheet2.xml"),
                }
            ),
            "xl/sharedStrings.xml": f"{XML}<sst {_SHEET}><si><t>day</t></si>"
            "<si><r><t>re</t></r><r><t>nt</t></r></si></sst>",
            "xl/styles.xml": f'{XML}<styleSheet {_SHEET}><cellXfs><xf numFmtId="0"/>'
            '<xf numFmtId="14"/></cellXfs></styleSheet>',
            "xl/worksheets/sheet1.xml": sheet(first),
            "xl/worksheets/sheet2.xml": sheet(second),
            **(extra or {}),
        }
    )


_OPEN_DOCUMENT = (
    'xmlns:office="urn:office" xmlns:text="urn:text" xmlns:table="urn:table" '
    'xmlns:draw="urn:draw" xmlns:presentation="urn:presentation" xmlns:dc="urn:dc"'
)


def open_document(kind: str, body: str) -> bytes:
    meta = "<dc:title>Open</dc:title><dc:date>2024-05-01T10:00:00</dc:date>"
    return archive(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"{XML}<office:document {_OPEN_DOCUMENT}>{body}</office:document>",
            "meta.xml": f"{XML}<office:meta {_OPEN_DOCUMENT}>{meta}</office:meta>",
        }
    )


def odt() -> bytes:
    return open_document(
        "text",
        '<text:h text:outline-level="2">The lease</text:h><text:p>It ends<text:s/>in May.'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>As the owner said.</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>first</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>May</text:p></table:table-cell>"
        "<table:table-cell><text:p>900</text:p></table:table-cell></table:table-row></table:table>",
    )


def ods(rows: Mapping[str, str] | None = None) -> bytes:
    """Give a workbook of sheets with these rows, and as many empty ones as it may have."""
    if rows is None:
        rows = {"Rent": ods_row("day", "rent") + ods_row(repeated=2) + ods_row("May", "", "900")}
        rows |= {"Empty": "", "Other": ods_row("only here")}
    sheets = (
        f'<table:table table:name="{name}">{some}{ods_row(repeated=1 << 20)}</table:table>'
        for name, some in rows.items()
    )
    return open_document("spreadsheet", "".join(sheets))


def ods_row(*cells: str, repeated: int = 1) -> str:
    shown = "".join(
        f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>"
        if cell
        else '<table:table-cell table:number-columns-repeated="2"/>'
        for cell in cells or [""]
    )
    return f'<table:table-row table:number-rows-repeated="{repeated}">{shown}</table:table-row>'


def odp() -> bytes:
    slide = (
        '<draw:page><draw:frame presentation:class="title"><text:p>{}</text:p></draw:frame>'
        "<draw:frame><text:p>{}</text:p></draw:frame></draw:page>"
    )
    return open_document(
        "presentation", slide.format("One", "first words") + slide.format("Two", "more words")
    )


def epub(extra: Mapping[str, str] | None = None) -> bytes:
    """Give a book of two chapters whose files are not in reading order."""
    container = (
        f'{XML}<container xmlns="urn:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    package = (
        f'{XML}<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Moby</dc:title>'
        "<dc:creator>H. M.</dc:creator><dc:date>1851-10-18</dc:date></metadata><manifest>"
        '<item id="b" href="b%20b.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="p" href="p.png" media-type="image/png"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="p"/><itemref idref="b"/></spine></package>'
    )
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>{}</h1><p>{}</p></body></html>'
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": package,
            "OEBPS/a.xhtml": XML + page.format("Loomings", "Call me Ishmael."),
            "OEBPS/b b.xhtml": XML + page.format("The Carpet-Bag", "I stuffed a shirt &amp; left."),
            **(extra or {}),
        }
    )


def book(
    pages: Mapping[str, str],
    contents: Sequence[tuple[str, str, int]] = (),
    has_nav: bool = True,
    guide: str = "",
) -> bytes:
    """Give a book of these bodies with contents of (label, target, depth), a nav or a toc.ncx."""
    depth, points = 0, []
    tags = ("<ol><li>", "</li></ol>", "</li><li>") if has_nav else ("<navPoint>", "</navPoint>", "")
    for number, (label, target, deep) in enumerate(contents):
        if not has_nav and number and deep == depth:
            points.append("</navPoint><navPoint>")
        points.append(tags[0] * (deep - depth) or tags[1] * (depth - deep) + tags[2])
        depth = deep
        link = f'<a href="{target}">{label}</a>'
        point = f'<navLabel><text>{label}</text></navLabel><content src="{target}"/>'
        points.append(link if has_nav else point)
    listed = "".join(points) + tags[1] * depth
    nav = f'<html xmlns="http://www.w3.org/1999/xhtml"><nav type="toc">{listed}</nav></html>'
    title = "<docTitle><text>Moby</text></docTitle>"
    ncx = f'<ncx xmlns="urn:ncx">{title}<navMap>{listed}</navMap></ncx>'
    html_type = "application/xhtml+xml"
    names = {f"p{number}": name for number, name in enumerate(pages)}
    items = [(id_, name, html_type, "") for id_, name in names.items()]
    if contents and has_nav:
        items.append(("nav", "nav.xhtml", html_type, "nav"))
    elif contents:
        items.append(("ncx", "toc.ncx", "application/x-dtbncx+xml", ""))
    manifest = "".join(
        f'<item id="{id_}" href="{name}" media-type="{kind}" properties="{properties}"/>'
        for id_, name, kind, properties in items
    )
    spine = "".join(f'<itemref idref="{id_}"/>' for id_ in [*names, "nav"])
    package = (
        '<package xmlns="urn:opf" xmlns:dc="urn:dc"><metadata><dc:title>Moby</dc:title></metadata>'
        f"<manifest>{manifest}</manifest><spine>{spine}</spine>"
        f'<guide><reference type="text" href="{guide}"/></guide></package>'
    )
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'
    return epub(
        {
            "OEBPS/book.opf": XML + package,
            "OEBPS/nav.xhtml": XML + nav,
            "OEBPS/toc.ncx": XML + ncx,
            **{f"OEBPS/{name}": XML + page.format(body) for name, body in pages.items()},
        }
    )


def notebook() -> bytes:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# A study\n", "of whales"]},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 1,
            "source": "print('whale')",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["whale\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}},
            ],
        },
        {"cell_type": "markdown", "metadata": {}, "source": "The end."},
    ]
    kernel = {"kernelspec": {"language": "python", "name": "python3"}}
    whole = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1).encode()


def eml() -> bytes:
    """Give a message with a plain and an HTML text and an attachment."""
    message = EmailMessage()
    message["From"] = "Ann Doe <ann@example.org>"
    message["To"] = "bob@example.org"
    message["Subject"] = "Größe der Wohnung"
    message["Date"] = "Wed, 01 May 2024 12:00:00 +0200"
    message["Message-ID"] = "<one@example.org>"
    message.set_content("Hello Bob,\n\n> how large is it?\n\nEighty square metres, größer nicht.\n")
    message.add_alternative("<p>Hello <b>Bob</b></p>", subtype="html")
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="plan.pdf")
    return message.as_bytes()


def mbox() -> bytes:
    return (
        b"From ann@example.org Wed May  1 12:00:00 2024\n"
        b"From: Ann <ann@example.org>\nTo: Bob <bob@example.org>\nSubject: Lease\n"
        b"Date: Wed, 1 May 2024 12:00:00 +0000\nMessage-ID: <1@example.org>\n\n"
        b"The lease ends in May.\n>From then on it is free.\n\n"
        b"From bob@example.org Thu May  2 12:00:00 2024\n"
        b"From: Bob <bob@example.org>\nSubject: =?utf-8?q?Re=3A_Lease?=\n"
        b"Content-Type: text/html; charset=iso-8859-1\n"
        b"Content-Transfer-Encoding: quoted-printable\n\n<p>Sch=F6n.</p>\n"
    )


def _chatgpt_node(
    id_: str, parent: str | None, children: list[str], role: str, text: str
) -> object:
    content = {"content_type": "text", "parts": [text]}
    message = {"id": id_, "author": {"role": role}, "content": content, "create_time": 1714550000.0}
    return {"id": id_, "message": message, "parent": parent, "children": children}


def chatgpt(current: str = "d") -> bytes:
    """Give one conversation with a branch that was given up."""
    nodes = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        "a": _chatgpt_node("a", "root", ["b", "c"], "user", "When is the lease due?"),
        "b": _chatgpt_node("b", "a", [], "assistant", "I do not know."),
        "c": _chatgpt_node("c", "a", ["d"], "assistant", "# Answer\n\nIn May."),
        "d": _chatgpt_node("d", "c", [], "user", "Thanks"),
    }
    chat = {
        "title": "Lease",
        "create_time": 1714550000.0,
        "mapping": nodes,
        "current_node": current,
        "conversation_id": "conversation-1",
    }
    return json.dumps([chat]).encode()


def claude() -> bytes:
    messages = [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "When is it due?",
            "content": [{"type": "text", "text": "When is it due?"}],
            "attachments": [{"file_name": "lease.pdf", "extracted_content": "..."}],
        },
        {"uuid": "m2", "sender": "assistant", "text": "In May.", "content": []},
    ]
    chat = {
        "uuid": "chat-1",
        "name": "Lease",
        "created_at": "2024-05-01T10:00:00.123456Z",
        "chat_messages": messages,
    }
    return json.dumps([chat]).encode()


def slack() -> bytes:
    messages = [
        {"type": "message", "user": "U1", "text": "Hi <@U2>, see <https://e.org|this> &amp; that",
         "ts": "1714555555.000200"},
        {"type": "message", "subtype": "channel_join", "user": "U2", "text": "joined",
         "ts": "1714555556.000200"},
        {"type": "message", "user": "U2", "text": "Thanks", "ts": "1714555557.000200",
         "files": [{"name": "plan.pdf"}]},
    ]  # fmt: skip
    return json.dumps(messages).encode()


def slack_users() -> bytes:
    users = [
        {"id": "U1", "name": "ann", "profile": {"display_name": "Ann"}},
        {"id": "U2", "name": "bob", "profile": {"display_name": "", "real_name": "Bob B."}},
    ]
    return json.dumps(users).encode()


def telegram() -> bytes:
    messages = [
        {"id": 1, "type": "service", "date": "2024-05-01T10:00:00", "text": ""},
        {"id": 2, "type": "message", "date": "2024-05-01T10:01:00", "from": "Ann",
         "text": ["See ", {"type": "bold", "text": "this"}]},
        {"id": 3, "type": "message", "date": "2024-05-01T10:02:00", "from": "Bob", "text": "Fine"},
    ]  # fmt: skip
    chat = {"name": "Flat", "type": "private_group", "id": 7, "messages": messages}
    return json.dumps(chat).encode()


def discord() -> bytes:
    messages = [
        {"id": "1", "timestamp": "2024-05-01T10:00:00+00:00", "content": "Hi",
         "author": {"name": "ann", "nickname": "Ann"}},
    ]  # fmt: skip
    export = {"guild": {"id": "1", "name": "Home"}, "channel": {"id": "2", "name": "flat"}}
    return json.dumps({**export, "messages": messages}).encode()


def whatsapp() -> bytes:
    return (
        "31.12.23, 10:00 - Messages and calls are end-to-end encrypted.\n"
        "31.12.23, 10:01 - Ann: Hello\nand a second line\n"
        "31.12.23, 10:02 - Bob: Grüße\n"
    ).encode()
