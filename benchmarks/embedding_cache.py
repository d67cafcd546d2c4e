"""Vectors of texts, embedded once and kept for all cases and runs.

    python -m benchmarks.embedding_cache import HASHES VECTORS

takes vectors that were made elsewhere: hashes of texts (n × 16 bytes) and their vectors (n × dim
in 16 bits), both as .npy; rows of zeros are left out.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Floats, cache_folder
from gossamer.embed import Embedder, load_embedder
from gossamer.embed.tokens import QuestionVectors, TextVectors, token_embedder
from gossamer.store.hashes import HASH_BYTES, hash_of_text
from gossamer.store.journal import Journal, as_kept
from gossamer.store.lock import try_lock

# What a run that is interrupted loses at most.
AT_ONCE = 64
REPORT_EVERY_S = 15.0
NO_LIMIT = 1 << 50
LOOKED_UP_AT_ONCE = 4096


class CachedEmbedder:
    """An `Embedder` that embeds no text twice. All vectors are rounded to 16 bits.

    The log of an update that goes on after a kill does the same for longer: it is used here.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._lock = _lock(folder)
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self.dim = embedder.dim
        self.max_tokens = embedder.max_tokens
        self.tokenizer = embedder.tokenizer
        self._log = Journal(folder / "vectors.log", self.fingerprint, self.dim, NO_LIMIT)
        self._new: dict[bytes, NDArray[np.float16]] = {}  # since the log was opened
        self._spent_s = self._said_s = 0.0
        tokens = token_embedder(embedder)
        assert tokens is not None, "the default model gives vectors of tokens"
        self._token_embedder = tokens
        self._tokens: dict[str, tuple[NDArray[np.float16], NDArray[np.uint32]]] = {}

    def __len__(self) -> int:
        return len(self._log) + len(self._new)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """Give the vectors; those that are missing are embedded and kept."""
        rows = np.zeros((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), LOOKED_UP_AT_ONCE):
            here = slice(start, start + LOOKED_UP_AT_ONCE)
            named = [(hash_of_text(text), text) for text in texts[here]]
            self._embed_missing(dict(named))
            rows[here] = self._vectors([name for name, _ in named])
            if progress is not None:
                progress(start + len(named))
        return rows

    def embed_question(self, text: str) -> Floats:
        """Give the vector of a question, which is not that of the same text as a chunk."""
        name = hash_of_text(f"question: {text}")
        if self._missing([name]):
            self.keep([name], self._embedder.embed_question(text)[None])
        return self._vectors([name]).reshape(self.dim)

    gives_tokens = True

    def embed_tokens(self, texts: Sequence[str]) -> TextVectors:
        """Give vectors, and those of tokens, which are remembered for this run alone."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._tokens]
        if missing:
            made = self._token_embedder.embed_tokens(missing)
            ends = np.cumsum(made.counts)[:-1]
            rows = np.split(made.tokens.astype(np.float16), ends)
            starts = np.split(made.starts, ends)
            self._tokens.update(zip(missing, zip(rows, starts, strict=True), strict=True))
        found = [self._tokens[text] for text in texts]
        return TextVectors(
            self.embed(texts),
            np.concatenate([rows for rows, _ in found]).astype(np.float32),
            np.array([len(starts) for _, starts in found], np.uint32),
            np.concatenate([starts for _, starts in found]),
        )

    def embed_question_tokens(self, text: str) -> QuestionVectors:
        """Give the vectors of a question as the model does."""
        return self._token_embedder.embed_question_tokens(text)

    def keep(self, names: Sequence[bytes], vectors: NDArray[np.floating]) -> None:
        """Take vectors in by the hashes of their texts; those that are here stay as they are."""
        is_missing = np.isin(np.arange(len(names)), self._missing_places(names))
        fresh = [name for name, is_new in zip(names, is_missing, strict=True) if is_new]
        if fresh:
            self._log.add(fresh, vectors[is_missing])
            self._new.update(zip(fresh, vectors[is_missing].astype(np.float16), strict=True))

    def _embed_missing(self, named: Mapping[bytes, str]) -> None:
        missing = self._missing(list(named))
        for start in range(0, len(missing), AT_ONCE):
            some = missing[start : start + AT_ONCE]
            started = time.monotonic()
            self.keep(some, self._embedder.embed([named[name] for name in some]))
            self._spent_s += time.monotonic() - started
            if self._spent_s > self._said_s + REPORT_EVERY_S:
                self._said_s = self._spent_s
                _say(f"embedded {len(self._new):,} texts that were not kept, {self._spent_s:.0f} s")

    def _missing(self, names: list[bytes]) -> list[bytes]:
        return [names[place] for place in self._missing_places(names)]

    def _missing_places(self, names: Sequence[bytes]) -> list[int]:
        if not names:
            return []
        is_known, _ = self._log.find(names)
        return [
            place for place in np.flatnonzero(~is_known).tolist() if names[place] not in self._new
        ]

    def _vectors(self, names: Sequence[bytes]) -> Floats:
        rows = np.zeros((len(names), self.dim), np.float32)
        if names:
            is_known, rows[is_known] = self._log.find(names)
            for place in np.flatnonzero(~is_known).tolist():
                rows[place] = as_kept(self._new[names[place]])
        return rows


@cache
def cached_minilm() -> CachedEmbedder:
    """Give the default model with everything that it ever embedded for a benchmark."""
    embedder = load_embedder("minilm")
    return CachedEmbedder(embedder, cache_folder() / f"vectors-{embedder.fingerprint[:12]}")


def import_vectors(hashes: Path, vectors: Path) -> int:
    """Take vectors of the default model in; give how many there are now."""
    embedder = cached_minilm()
    names = np.load(hashes, allow_pickle=False)
    rows = np.load(vectors, mmap_mode="r", allow_pickle=False)
    if names.shape != (len(rows), HASH_BYTES) or rows.shape[1] != embedder.dim:
        raise SystemExit(f"{names.shape} and {rows.shape} are no hashes and vectors of this model")
    for start in range(0, len(rows), LOOKED_UP_AT_ONCE):
        some = np.asarray(rows[start : start + LOOKED_UP_AT_ONCE])
        is_done = some.any(axis=1)
        known = [name.tobytes() for name in names[start : start + LOOKED_UP_AT_ONCE][is_done]]
        embedder.keep(known, some[is_done])
    return len(embedder)


def _lock(folder: Path) -> ExitStack:
    lock = try_lock(folder / "lock", "benchmarks")
    if lock is None:
        raise SystemExit(f"another benchmark is using {folder}; wait until it is done")
    return lock


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.embedding_cache",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", choices=["import"])
    parser.add_argument("hashes", type=Path)
    parser.add_argument("vectors", type=Path)
    given = parser.parse_args()
    print(f"{import_vectors(given.hashes, given.vectors):,} vectors are here now")


if __name__ == "__main__":
    main()
