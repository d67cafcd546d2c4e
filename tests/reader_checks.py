"""What tests of readers share: reading by the name of a file, and looking at what came out."""

from __future__ import annotations

from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers import chats, epub, mail, notebook, office, pdf
from gossamer.readers.limits import Limits
from gossamer.records import Document

READERS = {
    ".pdf": pdf,
    ".docx": office,
    ".pptx": office,
    ".xlsx": office,
    ".odt": office,
    ".odp": office,
    ".ods": office,
    ".epub": epub,
    ".ipynb": notebook,
    ".eml": mail,
    ".mbox": mail,
    ".json": chats,
    ".txt": chats,
}


def read(name: str, data: bytes, **limits: int) -> list[Document]:
    """Read bytes with the reader that is responsible for such a name."""
    path = Path(name)
    return READERS[path.suffix].read(path, data, Limits(**limits))


def read_one(name: str, data: bytes) -> Document:
    """Read bytes that hold one document."""
    (document,) = read(name, data)
    return document


def read_if_possible(name: str, data: bytes) -> list[Document]:
    """Read damaged bytes: what is refused with a reason gives nothing, other errors come out."""
    try:
        return read(name, data)
    except Unreadable as error:
        if not str(error):
            raise
        return []


def pieces_of(document: Document) -> dict[int, str]:
    """Cut the text where its places say, as number -> what stands there."""
    ends = [offset for offset, _ in document.places[1:]] + [len(document.text)]
    return {
        number: document.text[offset:end].decode().strip()
        for (offset, number), end in zip(document.places, ends, strict=True)
    }


def place_of(document: Document, text: str) -> int:
    """Say which number the place has at which a text of a document begins."""
    begin = document.text.index(text.encode())
    return [number for offset, number in document.places if offset <= begin][-1]
