"""Indexes of the product that cases share, and every call that reaches inside them."""

import atexit
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks import folders
from benchmarks.datasets import Floats, Ids
from benchmarks.embedding_cache import cached_minilm
from gossamer.embed import Embedder
from gossamer.index import Index
from gossamer.model import Embedders
from gossamer.query.passages import Passages
from gossamer.query.results import Results
from gossamer.query.run import Query, run_query

READ_AT_ONCE = 4096


@dataclass(frozen=True)
class Chunks:
    """Every chunk of an index: what it says and its vector."""

    ids: Ids  # rising
    sources: list[str]
    texts: list[str]
    vectors: Floats


def mdn_index(every: int = 1) -> Path:
    """Give the index of `folders.mdn(every)` with the default settings; built once a run."""
    return _build_mdn(every)


def copy_index(target: Path) -> None:
    """Copy the index of `mdn_index`, as its owner: the copy is trusted too."""
    shutil.copytree(mdn_index(), target)
    Index.open(target).accept()


def create_index(folder: Path, embedder: Embedder | None = None, keep: str = "none") -> Index:
    """Make an empty index with the default model, embedded by `embedder` if given."""
    Index.create(folder, model="minilm", keep=keep)
    return open_index(folder, embedder)


def open_index(folder: Path, embedder: Embedder | None = None, threads: int = 0) -> Index:
    """Open an index; `embedder` gives the vectors of its own model in its place."""
    if embedder is None:
        return Index.open(folder, threads=threads)

    def take_place(loaded: Embedder) -> Embedders:
        assert embedder.fingerprint == loaded.fingerprint
        return Embedders(embedder, embedder)

    return Index.open(folder, share=take_place, threads=threads)


def embedder_of(index: Index) -> Embedder:
    """Give what an index embeds by."""
    return index.model.embedder


def search(index: Index, question: str, k: int, mode: str, allowed: Ids | None = None) -> Results:
    """Search as `Index.search` does, among the chunks with these ids (None: all)."""
    snapshot, model = index.now()
    others = () if allowed is None else np.setdiff1d(snapshot.catalogue.chunk_ids, allowed)
    return run_query(snapshot, model, Query(question, k, mode, excluded=tuple(map(int, others))))


def read_chunks(index: Index) -> Chunks:
    """Read the texts of all chunks back and embed them."""
    snapshot = index.snapshot
    sources: list[str] = []
    texts: list[str] = []
    for start in range(0, len(snapshot.catalogue.chunk_ids), READ_AT_ONCE):
        for passage in Passages(snapshot).read(
            snapshot.catalogue.chunk_ids[start : start + READ_AT_ONCE]
        ):
            assert passage is not None, "the files have not changed"
            sources.append(passage.path)
            texts.append(passage.embedded)
    return Chunks(snapshot.catalogue.chunk_ids, sources, texts, embedder_of(index).embed(texts))


def read_bodies(index: Index) -> list[str]:
    """Read what every chunk says, without the lines of context that are embedded before it."""
    snapshot = index.snapshot
    bodies: list[str] = []
    for start in range(0, len(snapshot.catalogue.chunk_ids), READ_AT_ONCE):
        for passage in Passages(snapshot).read(
            snapshot.catalogue.chunk_ids[start : start + READ_AT_ONCE]
        ):
            assert passage is not None, "the files have not changed"
            bodies.append(passage.body)
    return bodies


def source_names(index: Index) -> set[str]:
    """Give the paths of all files and the ids of all texts."""
    catalogue = index.snapshot.catalogue
    return {catalogue.source(row).path for row in range(catalogue.source_count)}


def scratch_folder(name: str) -> Path:
    """Give a path for an index of this run; what is there is removed when the run ends."""
    return _scratch() / name


@cache
def _build_mdn(every: int) -> Path:
    folder = scratch_folder(f"mdn-{every}")
    create_index(folder, cached_minilm()).add_paths([folders.mdn(every)])
    return folder


@cache
def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="gossamer-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
