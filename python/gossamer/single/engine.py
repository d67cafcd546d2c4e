"""The engine's part of a single file: that of the index, or one that keeps vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InvalidArgument, WrongState
from gossamer.files import map_file
from gossamer.models import packs
from gossamer.progress import ProgressCallback
from gossamer.single.container import Container, Section
from gossamer.single.kinds import ENGINE
from gossamer.single.model_file import model_file_of
from gossamer.sync.served import Served
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["EngineChoice", "engine_sections"]

Ids = NDArray[np.int64]

_SCALARS = {"f16": "f16", "int8": "i8"}  # as the engine calls them
_GRAPHS = ("none", "slim", "full")


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """What is kept of each chunk's vector: what the index keeps, or all of it, with a graph."""

    vectors: str = "none"
    graph: str = "none"

    def __post_init__(self) -> None:
        if self.vectors not in ("none", *_SCALARS):
            raise InvalidArgument(f"vectors are none, f16 or int8, got {self.vectors!r}")
        if self.graph not in _GRAPHS:
            raise InvalidArgument(f"a graph is none, slim or full, got {self.graph!r}")
        if self.graph != "none" and self.vectors == "none":
            raise InvalidArgument("a graph is walked over vectors: choose vectors f16 or int8 too")

    @property
    def keeps_all(self) -> bool:
        """Whether all vectors are put in."""
        return self.vectors != "none"


def engine_sections(
    served: Served,
    ids: Ids,
    choice: EngineChoice,
    path: Path,
    progress: ProgressCallback,
) -> list[Section]:
    """Give the sections of an engine for these chunks of an index; `path` is for a file meanwhile.

    The codebook is left out where the model's own file has it. None without chunks.
    """
    if not len(ids):
        return []
    if choice.keeps_all:
        index = _build(served, ids, choice, progress)
        index.save(path, with_codebook=not _is_shared(served, index), with_source=False)
    else:
        _save_own(served, ids, path)
    container = Container(map_file(path))
    kinds = [kind for kind in container.lengths if kind in ENGINE]
    return [Section(kind, container.section(kind)) for kind in kinds]


def _save_own(served: Served, ids: Ids, path: Path) -> None:
    index = served.snapshot.open_vectors()  # not the one that is searched meanwhile
    assert index is not None, "there are chunks, so there are vectors"
    gone = np.setdiff1d(index.ids, ids, assume_unique=True)
    if len(gone):
        index.delete(gone)
    if index.stats().deleted:
        index.compact()
    is_shared = _is_shared(served, index)
    index.save(path, with_codebook=not is_shared, with_calibration=not is_shared, with_source=False)


def _is_shared(served: Served, index: VectorIndex) -> bool:
    """Whether the model has a file of its own that holds the codebook."""
    stamp, book = served.manifest.model, index.codebook
    pack = None if model_file_of(stamp) is None else packs.shipped_pack(stamp.fingerprint)
    return book is not None and pack is not None and pack.codebook.fingerprint == book.fingerprint


def _build(
    served: Served, ids: Ids, choice: EngineChoice, progress: ProgressCallback
) -> VectorIndex:
    """Build an index that keeps all vectors; those that are not at hand are embedded."""
    done = 0

    def note(count: int) -> None:
        nonlocal done
        done += count
        progress("embedding", done, len(ids))

    is_here, vectors = served.vectors(ids, note)
    if not is_here.all():
        raise WrongState(
            f"the texts of {int((~is_here).sum())} chunks changed meanwhile; export again"
        )
    has_graph = choice.graph != "none"
    book = None if has_graph else served.codebook
    return VectorIndex.build(
        vectors,
        metric="ip",
        keep="all",
        graph=choice.graph if has_graph else None,
        code_bytes=0 if book is None else None,
        codebook=book,
        ids=ids,
        scalar=_SCALARS[choice.vectors],
        progress=progress,
    )
