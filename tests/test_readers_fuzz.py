"""Every reader, fed with noise, with pieces of files and with files that went bad."""

import importlib
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import pytest

from gossamer.errors import Unreadable
from gossamer.readers import Limits, Reader, kind_of, read_data
from gossamer.readers.formats import module_of
from gossamer.records import Document

RANDOM_CASES = 8
CUT_CASES = 12
MUTATED_CASES = 60
INNER_CASES = 30  # of archives: one member goes bad, the archive itself is whole
LIMITS = Limits(max_file_bytes=1 << 22, max_text_bytes=1 << 22, max_documents=1000)

INSERTED = (b"\0", b"\xff", b"<", b"]]>", b'"', b"{" * 40, b"\n", b"&#")

Members = dict[str, str]

XML = '<?xml version="1.0" encoding="UTF-8"?>'
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

TEXT = "Some words, später mehr 😀.\n\nA second paragraph | with signs # and ``` marks.\n" * 3

HTML = """<html><head><title>T</title><meta name=author content="A"></head><body><nav>x</nav>
<h1>Head</h1><p>Words &amp; more<ul><li>one<li>two</ul><table><tr><td>1<td>2</table>
<pre>code
  more</pre><script>x</script></body></html>"""

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "words"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "source": "print(1)",
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}],
        },
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}

CHATGPT = [
    {
        "title": "A talk",
        "create_time": 1700000000.5,
        "current_node": "b",
        "mapping": {
            "a": {
                "id": "a",
                "parent": None,
                "children": ["b"],
                "message": {
                    "author": {"role": "user"},
                    "create_time": 1700000000.5,
                    "content": {"content_type": "text", "parts": ["A question"]},
                },
            },
            "b": {
                "id": "b",
                "parent": "a",
                "children": [],
                "message": {
                    "author": {"role": "assistant"},
                    "content": {"content_type": "text", "parts": ["An answer"]},
                },
            },
        },
    }
]

CLAUDE = [
    {
        "uuid": "u",
        "name": "A talk",
        "created_at": "2024-05-01T10:00:00Z",
        "chat_messages": [
            {"sender": "human", "text": "A question", "created_at": "2024-05-01T10:00:00Z"},
            {"sender": "assistant", "text": "", "content": [{"type": "text", "text": "Yes"}]},
        ],
    }
]

SLACK = [{"type": "message", "user": "U1", "text": "hello <@U2>", "ts": "1700000000.000100"}]

WHATSAPP = """[01/05/2024, 10:00:00] Ann: Hello
[01/05/2024, 10:01:00] Bob: Hi there
on two lines
[02/05/2024, 09:00:00] Ann: Bye
"""

DOCX: Members = {
    "[Content_Types].xml": f"{XML}<Types/>",
    "word/document.xml": f"{XML}<w:document {W}><w:body>"
    '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>'
    "<w:p><w:r><w:t>Words</w:t><w:tab/><w:t>more</w:t></w:r></w:p><w:tbl><w:tr>"
    "<w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2</w:t></w:r></w:p>"
    "</w:tc></w:tr></w:tbl></w:body></w:document>",
    "word/styles.xml": f'{XML}<w:styles {W}><w:style w:styleId="Heading1">'
    '<w:name w:val="heading 1"/></w:style></w:styles>',
}
PPTX: Members = {
    "ppt/presentation.xml": f"{XML}<p:presentation {P} {R}><p:sldIdLst>"
    '<p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>',
    "ppt/_rels/presentation.xml.rels": f'{XML}<Relationships xmlns="{RELATIONSHIPS}">'
    f'<Relationship Id="rId1" Type="{OFFICE}/slide" Target="slides/slide1.xml"/></Relationships>',
    "ppt/slides/slide1.xml": f"{XML}<p:sld {P} {A}><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r>"
    "<a:t>Slide words</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>",
}
XLSX: Members = {
    "xl/workbook.xml": f'{XML}<workbook {R}><sheets><sheet name="S" sheetId="1" r:id="rId1"/>'
    "</sheets></workbook>",
    "xl/_rels/workbook.xml.rels": f'{XML}<Relationships xmlns="{RELATIONSHIPS}"><Relationship '
    f'Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/sharedStrings.xml": f"{XML}<sst><si><t>Name</t></si><si><t>Ann</t></si></sst>",
    "xl/worksheets/sheet1.xml": f'{XML}<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v>'
    '</c></row><row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><v>5</v></c></row></sheetData>'
    "</worksheet>",
}
ODT: Members = {
    "mimetype": "application/vnd.oasis.opendocument.text",
    "content.xml": f"{XML}<office:document-content "
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>'
    '<text:h text:outline-level="1">Head</text:h><text:p>Words</text:p>'
    "</office:text></office:body></office:document-content>",
}
EPUB: Members = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": f'{XML}<container version="1.0" '
    'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles>'
    "</container>",
    "b.opf": f'{XML}<package xmlns="http://www.idpf.org/2007/opf"><metadata '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title></metadata><manifest>'
    '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine>'
    '<itemref idref="c"/></spine></package>',
    "c.xhtml": f'{XML}<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>One</h1><p>Words</p>'
    "</body></html>",
}


def archive(members: Members) -> bytes:
    return archive_of_bytes({name: content.encode() for name, content in members.items()})


def archive_of_bytes(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def pdf() -> bytes:
    stream = b"BT /F1 24 Tf 72 720 Td (Words on a page) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    begin = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + table
    return out + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % begin


def message() -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "Später"
    mail["Date"], mail["Message-ID"] = "Wed, 01 May 2024 10:00:00 +0000", "<1@example.org>"
    mail.set_content("Hello,\n\nwords später.\n")
    mail.add_alternative("<p>Hello <b>words</b></p>", subtype="html")
    return bytes(mail)


ARCHIVES = {
    "a.docx": DOCX,
    "a.pptx": PPTX,
    "a.xlsx": XLSX,
    "a.odt": ODT,
    "a.epub": EPUB,
}
SAMPLES: dict[str, Callable[[], bytes]] = {
    "a.txt": TEXT.encode,
    "utf16.txt": lambda: TEXT.encode("utf-16"),
    "chat.txt": WHATSAPP.encode,
    "a.md": f"---\ntitle: T\ntags: [a, b]\n---\n# Head\n{TEXT}".encode,
    "toml.md": f'+++\ntitle = "T"\ndate = 2024-05-01\n+++\n{TEXT}'.encode,
    "a.rst": f"Head\n====\n\n{TEXT}".encode,
    "a.html": HTML.encode,
    "a.py": b"#!/usr/bin/env python\ndef f():\n    return 1\n".__bytes__,
    "a.csv": b'name,age\nAnn,5\n"Bob, the",7\n'.__bytes__,
    "a.jsonl": b'{"title": "T", "text": "words"}\n{"a": ["b", {"c": "d"}]}\n'.__bytes__,
    "a.json": b'{"name": "value", "list": [1, 2, {"a": null}]}'.__bytes__,
    "chatgpt.json": lambda: json.dumps(CHATGPT).encode(),
    "claude.json": lambda: json.dumps(CLAUDE).encode(),
    "slack.json": lambda: json.dumps(SLACK).encode(),
    "a.ipynb": lambda: json.dumps(NOTEBOOK).encode(),
    "a.eml": message,
    "a.mbox": lambda: b"From a@b Wed May  1 10:00:00 2024\n" + message() + b"\n",
    "a.pdf": pdf,
    "noname": TEXT.encode,
    **{name: (lambda members=members: archive(members)) for name, members in ARCHIVES.items()},
}


def mutated(data: bytes, source: random.Random) -> bytes:
    """Change, put in, leave out or repeat a few pieces."""
    out = bytearray(data)
    for _ in range(source.randint(1, 6)):
        at = source.randrange(len(out) + 1)
        length = source.choice((1, 1, 2, 8, 40))
        action = source.randrange(4)
        if action == 0:
            out[at : at + length] = source.randbytes(length)
        elif action == 1:
            out[at:at] = source.choice(
                (b"\0", b"\xff", b"<", b"]]>", b'"', b"{" * 40, b"\n", b"&#")
            )
        elif action == 2:
            del out[at : at + length]
        else:
            out[at:at] = out[at : at + length] * source.choice((1, 3, 50))
    return bytes(out)


def bad_files(name: str) -> Iterator[bytes]:
    source = random.Random(name)
    whole = SAMPLES[name]()
    for _ in range(RANDOM_CASES):
        yield source.randbytes(source.choice((1, 10, 1000, 20_000)))
    # Noise after the right beginning goes deeper into a reader.
    yield whole[:16] + source.randbytes(2000)
    for case in range(CUT_CASES):
        yield whole[: len(whole) * case // CUT_CASES]
    for _ in range(MUTATED_CASES):
        yield mutated(whole, source)
    members = {part: text.encode() for part, text in ARCHIVES.get(name, {}).items()}
    for case in range(INNER_CASES if members else 0):
        part = list(members)[case % len(members)]
        yield archive_of_bytes({**members, part: mutated(members[part], source)})


def read_unguarded(path: Path, data: bytes, limits: Limits) -> list[Document]:
    """Call the reader itself, without the net that is under it."""
    kind = kind_of(path, data)
    if kind is None:
        return []
    reader: Reader = importlib.import_module(f"gossamer.readers.{module_of(kind)}")
    return reader.read(path, data, limits)


def check(document: Document) -> None:
    document.text.decode("utf-8")
    document.title.encode("utf-8")
    offsets = [offset for offset, _ in document.places]
    assert offsets == sorted(set(offsets))
    assert all(0 <= offset < len(document.text) for offset in offsets)
    assert all(isinstance(value, str | int | float | bool) for value in document.metadata.values())


@pytest.mark.parametrize("name", SAMPLES)
def test_a_good_file_is_read(name: str):
    documents = read_data(Path(name), SAMPLES[name](), LIMITS)

    assert documents
    for document in documents:
        check(document)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_bad_file_gives_documents_or_a_reason_and_nothing_else(name: str):
    for data in bad_files(name):
        for read in (read_data, read_unguarded):
            with suppress(Unreadable):
                for document in read(Path(name), data, LIMITS):
                    check(document)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_in_the_clothes_of_another_kind_is_no_danger(name: str):
    data = SAMPLES[name]()
    for other in SAMPLES:
        with suppress(Unreadable):
            for document in read_unguarded(Path(other), data, LIMITS):
                check(document)
