"""Books, notebooks and tables, made in memory."""

import json

from benchmarks.places.make_office import XML, archive
from benchmarks.places.texts import Texts

XHTML = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
NUMBERS = ("One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def epub(texts: Texts) -> bytes:
    """Give a novel: a cover, a title page, a preface, ten chapters of one or two files, an end."""
    pages = {
        "cover": f"<p>{texts.row()}</p>",
        "title": f"<h1>The whale</h1><p>{texts.row()}</p>",
        "preface": f"<h1>Preface</h1>{_paragraphs(texts, 4)}",
    }
    labels = {"title": "The whale", "preface": "Preface"}
    for number, name in enumerate(NUMBERS, 1):
        labels[f"c{number}"] = f"Chapter {name}"
        pages[f"c{number}"] = f"<h1>Chapter {name}</h1>{_paragraphs(texts, 6)}"
        if number % 3 == 0:
            pages[f"c{number}b"] = _paragraphs(texts, 4)
    labels["end"] = "Epilogue"
    pages["end"] = f"<h1>Epilogue</h1>{_paragraphs(texts, 3)}"
    links = "".join(f'<li><a href="{id_}.xhtml">{label}</a></li>' for id_, label in labels.items())
    nav = f'<html {XHTML}><body><nav epub:type="toc"><ol>{links}</ol></nav></body></html>'
    kind = 'media-type="application/xhtml+xml"'
    items = "".join(f'<item id="{id_}" href="{id_}.xhtml" {kind}/>' for id_ in pages)
    items += f'<item id="nav" href="nav.xhtml" {kind} properties="nav"/>'
    # The contents stand between the title and the preface, as in most books.
    order = ["cover", "title", "nav", *list(pages)[2:]]
    spine = "".join(f'<itemref idref="{id_}"/>' for id_ in order)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The whale</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book.opf"/></rootfiles></container>'
    )
    bodies = {
        f"{id_}.xhtml": f"<html {XHTML}><body>{body}</body></html>" for id_, body in pages.items()
    }
    members = {"META-INF/container.xml": container, "book.opf": package, "nav.xhtml": nav, **bodies}
    return archive({name: XML + content for name, content in members.items()})


def _paragraphs(texts: Texts, count: int) -> str:
    return "".join(f"<p>{texts.paragraph(3)}</p>" for _ in range(count))


def notebook(texts: Texts, count: int = 120) -> bytes:
    """Give a notebook; every third cell is code with output, every seventh is empty."""
    cells: list[object] = []
    for number in range(count):
        if number % 7 == 3:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": ""})
        elif number % 3 == 0:
            output = {"output_type": "stream", "name": "stdout", "text": [texts.row() + "\n"]}
            source = [f"# {texts.row()}\n", f"f({number})"]
            cells.append({"cell_type": "code", "source": source, "outputs": [output]})
        else:
            cells.append({"cell_type": "markdown", "source": [texts.paragraph(2)]})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1).encode()


def csv(texts: Texts, count: int = 300) -> bytes:
    """Give a table; every fifth cell has a line end inside."""
    lines = ["number,words,more"]
    for number in range(count):
        more = f'"{texts.row()}\n{texts.row()}"' if number % 5 == 0 else texts.row()
        lines.append(f"{number},{texts.row()},{more}")
    return "\n".join(lines).encode() + b"\n"


def jsonl(texts: Texts, count: int = 300) -> bytes:
    """Give records, every sixth line empty."""
    records = (
        json.dumps({"id": number, "text": texts.row(), "tags": {"more": texts.row()}})
        for number in range(count)
    )
    return "".join(
        ("\n" if at % 6 == 0 else "") + one + "\n" for at, one in enumerate(records)
    ).encode()
