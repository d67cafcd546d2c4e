"""From a file, or a text that was given, to chunks that are ready to be embedded."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gossamer.chunking import chunk_document, embedded_text
from gossamer.errors import LeftOut, Unreadable
from gossamer.passages import context_line
from gossamer.readers import READER_VERSION, Limits, load_bytes, read_data
from gossamer.records import ChunkSpan, Document, Value
from gossamer.sources.folder import FoundFile
from gossamer.store import DocumentRecord, SourceRecord, Status, hash_of_bytes
from gossamer.store.records import locate_title
from gossamer.text.tokenizer import Tokenizer

__all__ = ["READ_AGAIN", "GivenText", "Prepared", "PreparedDocument", "Preparer"]

# A file that changes again within so short a time may keep its time stamp: it is read once more.
_RACY_NS = 2 * 10**9
# No version of the readers: the next update looks at the file's content, whatever its time.
READ_AGAIN = 0


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text that a program gives, under an id of its own."""

    id: str
    text: str
    title: str = ""
    markup: str = "plain"
    metadata: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document's chunks, the texts to embed, and the text to store (None: read from its file)."""

    record: DocumentRecord
    spans: Sequence[ChunkSpan]
    embedded: Sequence[str]
    text_to_store: bytes | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source that was read; without documents if it is skipped or failed."""

    source: SourceRecord
    documents: Sequence[PreparedDocument] = ()
    is_same: bool = False  # the content is what was indexed, whatever the time of the file says

    @property
    def texts(self) -> list[str]:
        """Every text to embed, document by document."""
        return [text for document in self.documents for text in document.embedded]


@dataclass(frozen=True, slots=True)
class Preparer:
    """Reads and cuts sources the way one index wants it."""

    tokenizer: Tokenizer
    chunk_tokens: int
    store_text: bool
    limits: Limits

    def prepare_file(self, file: FoundFile, known_hash: int = 0) -> Prepared:
        """Read a file; whatever is wrong with it becomes the reason why it is not indexed.

        `known_hash` is that of the content that is indexed: if it is still the same there is
        nothing more to do. 0: none is, or it was read differently.
        """
        content_hash = 0
        read_at = time.time_ns()
        try:
            data = load_bytes(file.path, self.limits)
            content_hash = hash_of_bytes(data)
            if content_hash == known_hash:
                source = _source_of(file, read_at, content_hash, "", Status.INDEXED, "")
                return Prepared(source, is_same=True)
            documents = read_data(file.path, data, self.limits)
        except Unreadable as error:
            status = Status.SKIPPED if isinstance(error, LeftOut) else Status.FAILED
            source = _source_of(file, read_at, content_hash, "", status, str(error))
            return Prepared(source)
        source = _source_of(file, read_at, content_hash, documents[0].kind, Status.INDEXED, "")
        return self._chunk(source, documents)

    def prepare_text(self, given: GivenText) -> Prepared:
        """Cut a text that was given."""
        text = given.text.encode("utf-8", "replace")
        said = json.dumps([given.title, given.markup, dict(given.metadata)], sort_keys=True)
        content_hash = hash_of_bytes(text + said.encode())
        source = SourceRecord(
            root="",
            name=given.id,
            size=len(text),
            mtime_ns=time.time_ns(),
            content_hash=content_hash,
            kind="text",
            reader_version=READER_VERSION,
        )
        document = Document(text, "text", given.markup, given.title, metadata=dict(given.metadata))
        return self._chunk(source, [document])

    def _chunk(self, source: SourceRecord, documents: Sequence[Document]) -> Prepared:
        name = source.name if source.root else ""
        prepared = [self._chunk_document(name, document) for document in documents]
        return Prepared(source, prepared)

    def _chunk_document(self, name: str, document: Document) -> PreparedDocument:
        is_stored = self.store_text or not document.is_verbatim
        line = context_line(name, document.title)
        spans = chunk_document(document, self.tokenizer, self.chunk_tokens, line)
        title_span = locate_title(document.text, document.title) if document.title else None
        text = document.text
        if is_stored and document.title and title_span is None:
            # Behind the text, where lines keep their numbers and words of the title are counted.
            text += b"\n" + document.title.encode("utf-8", "replace")
            title_span = (len(document.text) + 1, len(text))
        record = DocumentRecord(
            text_length=len(text),
            kind=document.kind,
            key=document.key,
            title="" if title_span else document.title,
            title_span=title_span,
            unit=document.unit,
            places=document.places,
            metadata=document.metadata,
        )
        texts = [_embedded(line, document.text, span) for span in spans]
        return PreparedDocument(record, spans, texts, text if is_stored else None)


def _embedded(line: str, text: bytes, span: ChunkSpan) -> str:
    headings = [text[start:end].decode("utf-8") for start, end in span.context]
    return embedded_text(line, headings, text[span.start : span.end].decode("utf-8"))


def _source_of(
    file: FoundFile, read_at: int, content_hash: int, kind: str, status: Status, reason: str
) -> SourceRecord:
    root, name = _root_and_name(file)
    is_racy = abs(read_at - file.mtime_ns) < _RACY_NS
    return SourceRecord(
        root=root,
        name=name,
        size=file.size,
        mtime_ns=file.mtime_ns,
        content_hash=content_hash,
        kind=kind,
        status=status,
        reason=reason,
        reader_version=READ_AGAIN if is_racy else READER_VERSION,
    )


def _root_and_name(file: FoundFile) -> tuple[str, str]:
    """Divide a path into the folder that was added (a file's own folder) and the rest."""
    root: Path = file.root if file.root != file.path else file.path.parent
    return root.as_posix(), file.path.relative_to(root).as_posix()
