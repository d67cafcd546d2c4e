"""What an edge keeps of each chunk, made from what it has and what a package brings.

Codes go into the segments with the rest. Vectors of a server without codes are a file of rows by
rising id: a function of what is indexed, whichever way it came. A slim edge holds the server's own
graph, bit for bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import CodebookMismatch, Damaged
from gossamer.files import map_file, write_file
from gossamer.models.packs import Pack
from gossamer.store import Catalogue, Snapshot
from gossamer.store.segments import SegmentCatalogue, stamp_of
from gossamer.store.snapshot import segments_of
from gossamer.store.writer import Recoded
from gossamer.sync.package import Package
from gossamer.sync.state import digest_of_rows
from gossamer.vectors.codes import Codebook
from gossamer.vectors.deltas import state_of_file
from gossamer.vectors.model_pack import unpack_codebook
from gossamer.vectors.vector_index import VectorIndex

__all__ = [
    "ENGINE",
    "MOST_DIM",
    "EdgeCodes",
    "Made",
    "graph_bytes",
    "make_slim",
    "make_vectors",
    "read_codes",
]

ENGINE = "package.engine"  # a slim engine's file while it is checked
_MOST_CODEBOOK_BYTES = 1 << 28
_MOST_DELTA_BYTES = 1 << 32
MOST_DIM = 1 << 16
_GRAPH = 6  # the kind of its section, see docs/format.md

Ids = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Made:
    """What is kept of chunks, ready to be committed."""

    digest: bytes  # what the state is computed from
    save: Callable[[Path], object] | None = None  # a file of vectors, where there is one
    recoded: Recoded | None = None  # codes of all chunks, where segments have none yet


class EdgeCodes:
    """The codes that a package brings: those of the chunks of `news`."""

    def __init__(
        self, package: Package, news: Catalogue, old: Snapshot | None, shipped: Pack | None
    ) -> None:
        """Take them; `shipped` is what comes with the model.

        A codebook of the index's own is in the package, or with the old state.
        """
        self._old = old
        self.pack, self.is_own = _codebook_of(package, old, shipped)
        _check_codebook(package, self.pack.codebook)
        self._ids = news.chunk_ids
        self._codes = _rows_of(package, self._ids, self.pack.codebook.code_bytes, np.dtype("u1"))
        if (
            old is not None
            and old.has_codes
            and old.catalogue.chunk_count
            and segments_of(old).core.stamp != stamp_of(self.pack.codebook)
        ):
            raise Damaged("the package has codes of another codebook than the edge")

    @property
    def are_in_segments(self) -> bool:
        """Whether they go to others in segments; an old edge has them in a file of vectors yet."""
        return self._old is None or self._old.has_codes

    def of(self, ids: Ids) -> NDArray[np.uint8]:
        """Give the codes of chunks of `news`."""
        return self._codes[np.searchsorted(self._ids, ids)]

    def make(self, catalogue: SegmentCatalogue) -> Made:
        """Give what becomes of all chunks."""
        ids = catalogue.chunk_ids
        if not len(ids):
            return Made(digest_of_rows(ids, []))
        if self.are_in_segments:
            return Made(digest_of_rows(ids, [catalogue.core.codes_of(ids.astype(np.uint64))]))
        assert self._old is not None, "only an old edge has codes elsewhere"
        old = self._old.open_vectors(self.pack.codebook)
        codes = _join_rows(ids, self._ids, self._codes, None if old is None else old.codes_of)
        recoded = Recoded(self.pack.codebook, ids, codes)
        return Made(digest_of_rows(ids, [codes]), recoded=recoded)

    def save_codebook(self, path: Path) -> None:
        """Write the codebook as a file of its own."""
        VectorIndex.create(self.pack.codebook, calibration=self.pack.calibration).save(path)


def read_codes(
    package: Package, news: Catalogue, old: Snapshot | None, shipped: Pack | None
) -> EdgeCodes | None:
    """Read the codes that a package brings; None where the server has none."""
    if package.head.settings.get("rows_kind") != "codes":
        return None
    return EdgeCodes(package, news, old, shipped)


def make_vectors(
    package: Package, catalogue: Catalogue, news: Catalogue, old: VectorIndex | None
) -> Made:
    """Put vectors of the package (of the chunks of `news`) to those of the old file that stay."""
    ids = catalogue.chunk_ids
    if not len(ids):
        return Made(digest_of_rows(ids, []))
    kind = package.head.settings.get("rows_kind")
    if kind != "vectors":
        raise Damaged(f"the package holds {kind!r}, and codes or vectors were expected")
    new = _rows_of(package, news.chunk_ids, _dim_of(package), np.dtype("<f2"))
    rows = _join_rows(ids, news.chunk_ids, new, None if old is None else old.vectors)
    return Made(digest_of_rows(ids, [rows]), lambda path: _save_vectors(path, ids, rows))


def make_slim(
    folder: Path, package: Package, catalogue: Catalogue, old: VectorIndex | None
) -> Made:
    """Write the slim engine as the package has it, or as its delta makes it of the old one."""
    ids = catalogue.chunk_ids
    path = folder / ENGINE
    is_whole = package.has("engine")
    if is_whole:
        write_file(path, package.stream("engine"))
    elif package.has("engine_delta") and old is not None:
        old.apply_delta(package.read("engine_delta", _MOST_DELTA_BYTES))
        old.save(path, with_source=False)
    elif len(ids):
        raise Damaged("the package lacks the slim graph of its chunks")
    else:
        return Made(b"")
    # What was saved here needs no second look. A chunk whose text the server could not read has
    # no vector there, and none here.
    if not np.isin(VectorIndex.open(path, verify=is_whole).ids, ids).all():
        raise Damaged("the slim graph of the package is of other chunks than its catalogue")
    digest = bytes.fromhex(state_of_file(path))
    return Made(digest, (lambda target: os.replace(path, target)) if len(ids) else None)


def graph_bytes(path: Path) -> int:
    """Give what the graph takes of an engine's file; 0 if it has none."""
    return sum(length for kind, length, _ in _core.sections(map_file(path)) if kind == _GRAPH)


def _rows_of(package: Package, ids: Ids, width: int, kind: np.dtype[T]) -> NDArray[T]:
    """Give the rows that the package has: of these ids, in their order."""
    size = len(ids) * width * kind.itemsize
    data = package.read("rows", size)
    if len(data) != size:
        raise Damaged(f"the package has {len(data)} bytes of rows, where {size} were expected")
    return np.frombuffer(data, kind).reshape(-1, width)


def _join_rows(
    ids: Ids, new_ids: Ids, new: NDArray[T], old_rows: Callable[[Ids], NDArray[Any]] | None
) -> NDArray[T]:
    """Give the rows of all ids: the new ones, and the rest of the old state."""
    is_new = np.isin(ids, new_ids)
    if int(is_new.sum()) != len(new_ids):
        raise Damaged("the package has rows of chunks that are not in its catalogue")
    rows = np.empty((len(ids), new.shape[1]), new.dtype)
    rows[is_new] = new
    if not is_new.all():
        if old_rows is None:
            raise Damaged("the package lacks rows of chunks that are in its catalogue")
        rows[~is_new] = old_rows(ids[~is_new])
    return rows


def _codebook_of(package: Package, old: Snapshot | None, shipped: Pack | None) -> tuple[Pack, bool]:
    """Give the codebook of the codes, and whether it is the index's own."""
    if package.has("codebook"):
        return Pack(*unpack_codebook(package.read("codebook", _MOST_CODEBOOK_BYTES))), True
    if shipped is not None:
        return shipped, False
    if old is not None and (own := old.own_codebook()) is not None:
        return Pack(*own), True
    if old is not None and not old.has_codes:
        index = old.open_vectors()
        if index is not None and index.codebook is not None:
            return Pack(index.codebook, index.calibration), True
    raise CodebookMismatch(
        "the server's codes are of a codebook that ships with its model and not with yours; bring "
        "gossamer up to date on both sides"
    )


def _check_codebook(package: Package, codebook: Codebook) -> None:
    expected, found = package.head.settings.get("codebook"), f"{codebook.fingerprint:016x}"
    if expected != found:
        raise CodebookMismatch(
            f"the server's codes are of codebook {expected}, and the one here is {found}; bring "
            "gossamer up to date on both sides"
        )


def _save_vectors(path: Path, ids: Ids, rows: NDArray[np.generic]) -> None:
    index = VectorIndex.build(
        rows.astype(np.float32), metric="ip", keep="all", code_bytes=0, ids=ids, calibrate=False
    )
    index.save(path)


def _dim_of(package: Package) -> int:
    dim = package.head.model.get("dim")
    if not isinstance(dim, int) or not 0 < dim <= MOST_DIM:
        raise Damaged(f"the package says that its vectors have {dim!r} numbers")
    return dim
