"""A text that is about to be replaced, just as a program gave it."""

from __future__ import annotations

from gossamer.chunking import ANCHORS
from gossamer.readers.languages import LANGUAGES
from gossamer.store import DocumentRecord, Snapshot, SourceRecord
from gossamer.sync.conflicts import Lost
from gossamer.update.given import MARKUPS
from gossamer.update.prepare import GivenText, hash_of_given

__all__ = ["lost_text"]


def lost_text(snapshot: Snapshot, id: str) -> Lost:
    """Give the text that is indexed under an id, and what was said of it; nothing if none is.

    The index does not keep the markup: it is the one that leads to the hash that the index does
    keep. Where none of those that are known does, it is left out.
    """
    catalogue = snapshot.catalogue
    row = catalogue.find(False, id)
    if row is None:
        return Lost()
    source = catalogue.source(row)
    for document_row in catalogue.documents_of(row):
        document = catalogue.document(document_row)
        end = document.offset + document.text_length
        text = snapshot.texts.read(document.segment, document.offset, end)
        return Lost(text[: source.size], _about(source, document, text))
    return Lost()  # nothing in it could be found, so nothing of it is kept


def _about(source: SourceRecord, document: DocumentRecord, stored: bytes) -> dict[str, object]:
    title = document.title
    if document.title_span is not None:  # behind the text, where that does not hold it
        start, end = document.title_span
        title = stored[start:end].decode("utf-8", "replace")
    metadata = {name: value for name, value in document.metadata.items() if name != ANCHORS}
    about: dict[str, object] = {"id": source.name, "title": title, "metadata": metadata}
    text = stored[: source.size].decode("utf-8", "replace")
    for markup in (*MARKUPS, *(f"code/{language}" for language in LANGUAGES)):
        given = GivenText(source.name, text, title, markup, metadata)
        if hash_of_given(given) == source.content_hash:
            return about | {"markup": markup}
    return about
