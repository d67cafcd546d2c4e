"""One index into another: what was built elsewhere, or apart, comes in without being embedded."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gossamer.errors import InvalidArgument, ModelMismatch, WrongState
from gossamer.store import Manifest, Snapshot, Writer
from gossamer.store.segments import SegmentCatalogue
from gossamer.update.words import GrowingWords

__all__ = ["AdoptReport", "adopt_index"]


@dataclass(frozen=True, slots=True)
class AdoptReport:
    """What came, and what it took the place of."""

    sources: int
    documents: int
    chunks: int
    replaced: int  # sources of the same path or id


def adopt_index(writer: Writer, other: Snapshot) -> AdoptReport:
    """Put all that another index holds into the one that is being written, in one commit.

    ModelMismatch if its chunks were cut or embedded otherwise, WrongState if one of the two
    follows a server, InvalidArgument if one of them keeps all vectors or has other codes.
    """
    snapshot = writer.snapshot
    assert snapshot is not None, "there is an index to put it into"
    manifest, theirs = snapshot.manifest, other.manifest
    _check(manifest, theirs)
    if not isinstance(other.catalogue, SegmentCatalogue):
        raise WrongState(
            f"the index in {other.folder} is of an earlier release; the next change of it makes it "
            "one of this, `gossamer compact` for example"
        )
    catalogue = other.catalogue
    is_empty = not snapshot.catalogue.chunk_count
    if (catalogue.chunk_count and not other.has_codes) or not (is_empty or snapshot.has_codes):
        raise InvalidArgument(
            "one of the two indexes has no codes yet (few chunks of a model that has no codebook "
            "of its own); add the files instead"
        )
    codebook = None if not is_empty or snapshot.pack is None else snapshot.pack.codebook
    changes = writer.changes(codebook)
    if catalogue.source_count:
        changes.adopt(catalogue)
    before = snapshot.catalogue.source_count
    after = writer.commit(
        changes,
        save_vectors=None,
        model=manifest.model,
        settings=replace(
            manifest.settings, walk={**theirs.settings.walk, **manifest.settings.walk}
        ),
        roots=tuple(sorted({*manifest.roots, *theirs.roots})),
        keep_journal=True,
    )
    if manifest.settings.lexical == "fts5":
        GrowingWords(after).close()  # which makes them anew
    return AdoptReport(
        sources=catalogue.source_count,
        documents=catalogue.document_count,
        chunks=catalogue.chunk_count,
        replaced=before + catalogue.source_count - after.catalogue.source_count,
    )


def _check(own: Manifest, theirs: Manifest) -> None:
    model, other = own.model, theirs.model
    if (model.fingerprint, model.chunk_tokens) != (other.fingerprint, other.chunk_tokens):
        raise ModelMismatch(
            f"this index is of {model.name} with chunks of {model.chunk_tokens} tokens, the other "
            f"one of {other.name} with {other.chunk_tokens}; only indexes of one kind can be joined"
        )
    if own.origin or theirs.origin:
        raise WrongState("an index that follows a server holds what the server does; join there")
    for manifest in (own, theirs):
        if manifest.settings.keep == "all":
            raise InvalidArgument(
                "an index that keeps all vectors has them in its own file; add the files instead"
            )
