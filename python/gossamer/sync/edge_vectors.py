"""The engine's file of an edge, made from what it has and what a package brings.

An edge of codes holds all rows by rising id: a function of what is indexed, whichever way it came.
A slim edge holds the server's own graph, bit for bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import CodebookMismatch, Damaged
from gossamer.files import map_file, write_file
from gossamer.model import Pack
from gossamer.store import Catalogue
from gossamer.sync.package import Package
from gossamer.sync.state import digest_of_rows
from gossamer.vectors.codes import Codebook
from gossamer.vectors.deltas import state_of_file
from gossamer.vectors.model_pack import unpack_codebook
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["ENGINE", "MOST_DIM", "Made", "graph_bytes", "make_codes", "make_slim"]

ENGINE = "package.engine"  # a slim engine's file while it is checked
_MOST_CODEBOOK_BYTES = 1 << 28
_MOST_DELTA_BYTES = 1 << 32
MOST_DIM = 1 << 16
_GRAPH = 6  # the kind of its section, see docs/format.md

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Made:
    """Vectors that are ready to be committed."""

    digest: bytes  # what the state is computed from
    save: Callable[[Path], object] | None  # None if there are none


def make_codes(
    package: Package,
    catalogue: Catalogue,
    news: Catalogue,
    old: VectorIndex | None,
    pack: Pack | None,
) -> Made:
    """Put rows of the package (the chunks of `news`) to those of the old engine's that stay.

    `pack` is what ships with the model; a codebook of the index's own is in the package, or in
    the engine's old file.
    """
    ids = catalogue.chunk_ids
    if not len(ids):
        return Made(digest_of_rows(ids, []), None)
    kind = package.head.settings.get("rows_kind")
    if kind == "vectors":
        dim = _dim_of(package)
        rows = _rows_of(
            package, ids, news, dim, np.dtype("<f2"), None if old is None else old.vectors
        )
        return Made(digest_of_rows(ids, [rows]), lambda path: _save_vectors(path, ids, rows))
    if kind != "codes":
        raise Damaged(f"the package holds {kind!r}, and codes or vectors were expected")
    own, is_own = _codebook_of(package, old, pack)
    _check_codebook(package, own.codebook)
    width = own.codebook.code_bytes
    codes = _rows_of(
        package, ids, news, width, np.dtype("u1"), None if old is None else old.codes_of
    )
    return Made(
        digest_of_rows(ids, [codes]), lambda path: _save_codes(path, ids, codes, own, is_own)
    )


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
        return Made(b"", None)
    # What was saved here needs no second look. A chunk whose text the server could not read has
    # no vector there, and none here.
    if not np.isin(VectorIndex.open(path, verify=is_whole).ids, ids).all():
        raise Damaged("the slim graph of the package is of other chunks than its catalogue")
    digest = bytes.fromhex(state_of_file(path))
    return Made(digest, (lambda target: os.replace(path, target)) if len(ids) else None)


def graph_bytes(path: Path) -> int:
    """Give what the graph takes of an engine's file; 0 if it has none."""
    return sum(length for kind, length, _ in _core.sections(map_file(path)) if kind == _GRAPH)


def _rows_of(
    package: Package,
    ids: Ids,
    news: Catalogue,
    width: int,
    kind: np.dtype[np.generic],
    old_rows: Callable[[Ids], NDArray[np.generic]] | None,
) -> NDArray[np.generic]:
    """Give the rows of all ids: those of `news` from the package, the rest from the old engine."""
    new_ids = news.chunk_ids
    size = len(new_ids) * width * kind.itemsize
    data = package.read("rows", size)
    if len(data) != size:
        raise Damaged(f"the package has {len(data)} bytes of rows, where {size} were expected")
    is_new = np.isin(ids, new_ids)
    if int(is_new.sum()) != len(new_ids):
        raise Damaged("the package has rows of chunks that are not in its catalogue")
    rows = np.empty((len(ids), width), kind)
    rows[is_new] = np.frombuffer(data, kind).reshape(-1, width)
    if not is_new.all():
        if old_rows is None:
            raise Damaged("the package lacks rows of chunks that are in its catalogue")
        rows[~is_new] = old_rows(ids[~is_new])
    return rows


def _codebook_of(package: Package, old: VectorIndex | None, pack: Pack | None) -> tuple[Pack, bool]:
    """Give the codebook of the codes, and whether it is the index's own."""
    if package.has("codebook"):
        return Pack(*unpack_codebook(package.read("codebook", _MOST_CODEBOOK_BYTES))), True
    if pack is not None:
        return pack, False
    if old is not None and old.codebook is not None:
        return Pack(old.codebook, old.calibration), True
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


def _save_codes(path: Path, ids: Ids, codes: NDArray[np.generic], pack: Pack, is_own: bool) -> None:
    index = VectorIndex.create(pack.codebook, calibration=pack.calibration)
    index.add_codes(ids, codes)
    index.save(path, with_codebook=is_own, with_calibration=is_own)


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
