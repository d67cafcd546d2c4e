"""From a file, or a text that was given, to chunks that are ready to be embedded."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gossamer.chunking import (
    Chunker,
    chunk_document,
    context_line,
    embedded_span,
    run_chunker,
    with_anchors,
)
from gossamer.errors import (
    GossamerError,
    LeftOut,
    MissingModel,
    Unavailable,
    Unreachable,
    Unreadable,
)
from gossamer.readers import READER_VERSION, Limits, load_bytes, read_data
from gossamer.records import ChunkSpan, Document, Value
from gossamer.sources.folder import FoundFile, as_stored_time
from gossamer.store import DocumentRecord, SourceRecord, Status, hash_of_bytes, hash_of_text
from gossamer.store.records import locate_title
from gossamer.text.tokenizer import Tokenizer

__all__ = [
    "READ_AGAIN",
    "GivenText",
    "Prepared",
    "PreparedDocument",
    "Preparer",
    "hash_of_given",
    "version_of_reading",
]

# A file that changes again within so short a time may keep its time stamp: it is read once more.
_RACY_NS = 2 * 10**9
# No version of the readers: the next update looks at the file's content, whatever its time.
READ_AGAIN = 0
_SECOND_NS = 10**9


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
    """A document's chunks, and what their texts are made of when they are embedded."""

    record: DocumentRecord
    spans: Sequence[ChunkSpan]
    names: Sequence[bytes]  # the hash of each chunk's text
    line: str  # stands before each chunk
    text: bytes  # the title may stand behind the document's own
    is_stored: bool  # else it is read from its file

    def embedded(self, number: int) -> str:
        """Give the text to embed for a chunk; made when it is needed, as all take much memory."""
        return embedded_span(self.line, self.text, self.spans[number])


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source that was read; without documents if it is skipped or failed."""

    source: SourceRecord
    documents: Sequence[PreparedDocument] = ()
    is_same: bool = False  # the content is what was indexed, whatever the time of the file says
    problem: str = ""  # why it could not be read though it is indexed, and stays as it was

    @property
    def chunk_count(self) -> int:
        """How many chunks all its documents have."""
        return sum(len(document.spans) for document in self.documents)

    @property
    def names(self) -> list[bytes]:
        """The hash of every text to embed, document by document."""
        return [name for document in self.documents for name in document.names]

    @property
    def text_bytes(self) -> int:
        """How much text it holds in memory."""
        return sum(len(document.text) for document in self.documents)

    def failed(self, error: GossamerError) -> Prepared:
        """Give the same source as one that is left out, and why."""
        return Prepared(_without_text(self.source, Unreadable(str(error))))

    def texts(self) -> Iterator[str]:
        """Give every text to embed, document by document."""
        for document in self.documents:
            for number in range(len(document.spans)):
                yield document.embedded(number)


@dataclass(frozen=True, slots=True)
class Preparer:
    """Reads and cuts sources the way one index wants it."""

    tokenizer: Tokenizer
    chunk_tokens: int
    store_text: bool
    limits: Limits
    chunker: Chunker | None = None  # cuts in place of our own

    def prepare_file(self, file: FoundFile, known: SourceRecord | None = None) -> Prepared:
        """Read a file; whatever is wrong with it becomes the reason why it is not indexed.

        `known` is what the index has of it. Where that is still so there is nothing more to do,
        and what was indexed stays while the disk does not give the file.
        """
        content_hash, read_at = 0, time.time_ns()
        try:
            data, mtime_ns = load_bytes(file.path, self.limits)
            # As it was read, which may be later than the walk.
            file = replace(file, size=len(data), mtime_ns=as_stored_time(mtime_ns))
            content_hash = hash_of_bytes(data)
            source = self._source_of(file, read_at, content_hash)
            if known is not None and self._is_indexed_as(known, content_hash):
                return Prepared(source, is_same=True)
            documents = read_data(file.path, data, self.limits)
            return self._chunk(replace(source, kind=documents[0].kind), documents)
        except Unreadable as error:
            if isinstance(error, Unavailable) and known and known.status == Status.INDEXED:
                again = replace(known, reader_version=READ_AGAIN)
                return Prepared(again, is_same=True, problem=str(error))
            source = _without_text(self._source_of(file, read_at, content_hash), error)
            return Prepared(source, is_same=known is not None and _is_left_out_as(known, source))

    def prepare_text(self, given: GivenText) -> Prepared:
        """Cut a text that was given."""
        text = given.text.encode("utf-8", "replace")
        source = SourceRecord(
            root="",
            name=given.id,
            size=len(text),
            # Whole seconds: nobody asks for more, and a thousand texts have the same few.
            mtime_ns=time.time_ns() // _SECOND_NS * _SECOND_NS,
            content_hash=hash_of_given(given),
            kind="text",
            reader_version=READER_VERSION,
        )
        document = Document(
            text,
            "text",
            given.markup,
            given.title,
            metadata=dict(given.metadata),
            has_slugs=True,
        )
        try:
            return self._chunk(source, [document])
        except Unreadable as error:
            return Prepared(_without_text(source, error))

    def _is_indexed_as(self, known: SourceRecord, content_hash: int) -> bool:
        is_read_alike = known.reader_version in (version_of_reading(self.limits), READ_AGAIN)
        is_same = is_read_alike and known.content_hash == content_hash
        return is_same and known.status == Status.INDEXED

    def _source_of(self, file: FoundFile, read_at: int, content_hash: int) -> SourceRecord:
        root, name = _root_and_name(file)
        is_racy = abs(read_at - file.mtime_ns) < _RACY_NS
        return SourceRecord(
            root=root,
            name=name,
            size=file.size,
            mtime_ns=file.mtime_ns,
            content_hash=content_hash,
            reader_version=READ_AGAIN if is_racy else version_of_reading(self.limits),
        )

    def _chunk(self, source: SourceRecord, documents: Sequence[Document]) -> Prepared:
        name = source.name if source.root else ""
        try:
            return Prepared(source, [self._chunk_document(name, one) for one in documents])
        except (MissingModel, Unreachable):
            raise  # the tokenizer's fault, and that of every other file
        except MemoryError:
            raise Unreadable("too large to be cut into chunks with the memory there is") from None
        except Exception as error:
            said = str(error)[:200] or type(error).__name__
            raise Unreadable(f"cannot be cut into chunks: {said}") from error

    def _cut(self, document: Document, line: str) -> Sequence[ChunkSpan]:
        if self.chunker is None:
            return chunk_document(document, self.tokenizer, self.chunk_tokens, line)
        return run_chunker(self.chunker, document, self.tokenizer, self.chunk_tokens, line)

    def _chunk_document(self, name: str, document: Document) -> PreparedDocument:
        is_stored = self.store_text or not document.is_verbatim
        # Half a pair of surrogates cannot be stored; what is embedded must be what is stored.
        title = document.title.encode("utf-8", "replace").decode("utf-8")
        document = replace(document, title=title)
        line = context_line(name, title)
        spans = self._cut(document, line)
        title_span = locate_title(document.text, title) if title else None
        text = document.text
        if is_stored and title and title_span is None:
            # Behind the text, where lines keep their numbers and words of the title are counted.
            text += b"\n" + title.encode("utf-8")
            title_span = (len(document.text) + 1, len(text))
        record = DocumentRecord(
            text_length=len(text),
            kind=document.kind,
            key=document.key,
            title="" if title_span else title,
            title_span=title_span,
            unit=document.unit,
            places=document.places,
            # Others cut where they like: what their chunks stand under need be no heading.
            metadata=document.metadata if self.chunker else with_anchors(document, spans),
        )
        names = [hash_of_text(embedded_span(line, text, span)) for span in spans]
        return PreparedDocument(record, spans, names, line, text, is_stored)


def version_of_reading(limits: Limits) -> int:
    """Give what a source remembers of how it was read: other limits count as another reader."""
    if limits == Limits():
        return READER_VERSION
    return READER_VERSION + ((zlib.crc32(repr(limits).encode()) % 0xFFFF + 1) << 8)


def hash_of_given(given: GivenText) -> int:
    """Hash everything that a program said of a text."""
    text = given.text.encode("utf-8", "replace")
    said = json.dumps([given.title, given.markup, dict(given.metadata)], sort_keys=True)
    return hash_of_bytes(text + said.encode())


def _without_text(source: SourceRecord, error: Unreadable) -> SourceRecord:
    """Give a source that is left out; what failed is tried again whenever it is come across."""
    is_skipped = isinstance(error, LeftOut)
    return replace(
        source,
        kind="",
        status=Status.SKIPPED if is_skipped else Status.FAILED,
        reason=str(error),
        reader_version=source.reader_version if is_skipped else READ_AGAIN,
    )


def _is_left_out_as(known: SourceRecord, source: SourceRecord) -> bool:
    same = replace(known, root=source.root, name=source.name, reader_version=source.reader_version)
    return same == source


def _root_and_name(file: FoundFile) -> tuple[str, str]:
    """Divide a path into the folder that was added (a file's own folder) and the rest."""
    root: Path = file.root if file.root != file.path else file.path.parent
    return root.as_posix(), file.path.relative_to(root).as_posix()
