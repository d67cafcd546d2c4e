"""The index folder: what is indexed, where its text is, and how it changes without ever breaking.

`docs/format.md` describes the files. Any number of processes read; one at a time writes.

Reading::

    snapshot = open_index(folder)              # NoIndex, Damaged, UnknownVersion, NotGossamer
    snapshot.manifest                          # Manifest: model, settings, roots, counts, files
    snapshot.catalogue                         # Catalogue: sources, documents, chunks
    snapshot.texts.read(segment, start, end)   # text of documents that are not read from files
    snapshot.vectors                           # VectorIndex, or None while nothing is indexed
    snapshot.is_current()                      # False once a writer has committed

Looking things up (ids are those of chunks; rows number sources and documents from 0)::

    catalogue.chunk_ids                        # all of them, rising
    catalogue.document_rows(ids)               # UnknownId for one that is gone
    catalogue.spans(ids)                       # (starts, ends) in the text of their document
    catalogue.checks(ids)                      # check_of(embedded text), 32 bits each
    catalogue.contexts(ids)                    # list[tuple[Span, ...]]
    catalogue.document(row)                    # DocumentRecord
    catalogue.source_rows[document_row]        # the source of each document
    catalogue.source(row)                      # SourceRecord
    catalogue.find_path(path), .find_text(id)  # row of a source, None if it is not there
    catalogue.documents_of(row), .chunks_of(row)    # range of document rows; ids of a source
    catalogue.digest()                         # the same for the same content, on any machine
    catalogue.part(rows), .with_away_texts()   # some of the sources; texts that are not here

Writing::

    with begin(folder, command="gossamer add", wait_s=0) as writer:    # Locked, Unwritable
        writer.snapshot                        # what is there now; None for a new index
        journal = writer.journal(fingerprint, dim, max_bytes)
        known, vectors = journal.find(hashes)  # of a build that was interrupted
        journal.add(hashes, vectors)
        segment, offset = writer.add_text(text)
        changes = writer.changes()
        ids = changes.replace_source(source, documents)     # chunk ids, rising
        changes.remove_sources(rows)
        changes.touch_source(row, mtime_ns)                 # the same content, another time
        changes.merge(catalogue, places)                    # of another machine, ids and all
        save = lambda path: index.save(path, with_codebook=False)
        writer.commit(changes, save_vectors=save, model=..., settings=..., roots=..., ...)

Nothing is changed before `commit` returns; leaving the block without it takes everything back.
The journal alone stays, until the next commit.

`HotVectors` is a cache beside all this, which may be lost at any time; `check.check` verifies a
folder and says how to repair it.
"""

from gossamer.store.catalogue import Catalogue
from gossamer.store.changes import Changes
from gossamer.store.folder import default_folder, list_indexes
from gossamer.store.hashes import check_of, hash_of_bytes, hash_of_text
from gossamer.store.hot import HotVectors
from gossamer.store.journal import Journal
from gossamer.store.manifest import Manifest, ModelStamp, Settings
from gossamer.store.records import ChunkedDocument, DocumentRecord, SourceRecord, Status
from gossamer.store.snapshot import Snapshot, open_index
from gossamer.store.writer import Writer, begin

__all__ = [
    "Catalogue",
    "Changes",
    "ChunkedDocument",
    "DocumentRecord",
    "HotVectors",
    "Journal",
    "Manifest",
    "ModelStamp",
    "Settings",
    "Snapshot",
    "SourceRecord",
    "Status",
    "Writer",
    "begin",
    "check_of",
    "default_folder",
    "hash_of_bytes",
    "hash_of_text",
    "list_indexes",
    "open_index",
]
