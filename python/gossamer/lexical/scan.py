"""One pass over texts that counts what a question asks for and ranks chunks by BM25.

Nothing is kept between questions: the texts are read where they stand, at more than half a
gigabyte a second on each core, which is as fast as an index up to about a gigabyte.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer import _core
from gossamer.errors import InvalidArgument
from gossamer.progress import ProgressCallback, run_with_progress

__all__ = [
    "Buffer",
    "Files",
    "LexicalPass",
    "LexicalResult",
    "Spans",
    "find_terms",
    "rank",
    "terms_of",
]


@dataclass(frozen=True, slots=True)
class Spans:
    """Where chunks stand in their texts: three arrays of one length, in bytes.

    Neighbors with the same number are one chunk, such as its headings and its body.
    """

    starts: ArrayLike
    ends: ArrayLike
    numbers: ArrayLike  # of the chunks: what an allow-mask counts and hits are named by


@dataclass(frozen=True, slots=True)
class Files:
    """Files that are read during the pass, and their chunks."""

    paths: Sequence[str | os.PathLike[str]]
    bounds: ArrayLike  # the spans of file i are spans[bounds[i]:bounds[i + 1]]
    spans: Spans


@dataclass(frozen=True, slots=True)
class Buffer:
    """A text in memory and its chunks."""

    text: bytes | memoryview
    spans: Spans


@dataclass(frozen=True, slots=True)
class LexicalResult:
    """Chunks that hold words of the question, best first, and what it took to find them."""

    numbers: NDArray[np.uint32]
    scores: NDArray[np.float32]  # larger is better; comparable within one pass only
    terms: tuple[str, ...]  # folded, without endings
    chunks_with: tuple[int, ...]  # how many chunks hold each term
    chunks: int  # that were counted
    chunks_unreadable: int  # whose text was not there
    files_opened: int
    files_failed: tuple[int, ...]  # positions of files that were missing or too short
    bytes_read: int


class LexicalPass:
    """A question on its way through texts: add all of them, then take the `result`.

    `allowed` says for each chunk number whether the chunk takes part; all do without it. What
    does not is not read, and document frequencies are those of the chunks that do.
    `add_buffer` may be called from several threads at once.
    """

    def __init__(
        self, question: str, *, allowed: NDArray[np.bool_] | None = None, threads: int = 0
    ) -> None:
        mask = None if allowed is None else np.ascontiguousarray(allowed, dtype=np.bool_)
        self._core = _core.LexicalPass(_utf8(question), mask)
        self._threads = threads
        self._terms = tuple(self._core.terms)
        self._failed: list[int] = []
        self._files = 0

    @property
    def terms(self) -> tuple[str, ...]:
        """What is looked for; empty when the question has no words, and then nothing is read."""
        return self._terms

    def add_files(self, files: Files, callback: ProgressCallback | None = None) -> None:
        """Read files and count; one that is missing or too short costs its chunks, no error.

        An interrupt stops it and is raised; the pass is of no use then.
        """
        first = self._files
        self._files += len(files.paths)
        if not self._terms:
            return
        paths = [os.fsencode(path) for path in files.paths]
        bounds = np.ascontiguousarray(files.bounds, dtype=np.uint64)
        spans = _arrays(files.spans)
        failed = run_with_progress(
            lambda progress: self._core.add_files(paths, bounds, *spans, self._threads, progress),
            callback,
        )
        self._failed.extend(first + int(position) for position in failed)

    def add_buffer(self, buffer: Buffer) -> None:
        """Count the chunks of a text in memory; spans beyond its end are not counted."""
        if self._terms:
            # Not np.frombuffer: it refuses a buffer without bytes.
            text = np.asarray(memoryview(buffer.text).cast("B"))
            self._core.add_buffer(text, *_arrays(buffer.spans))

    def result(self, n: int) -> LexicalResult:
        """Return the `n` best chunks; fewer when fewer hold a word of the question."""
        if n < 0:
            raise InvalidArgument(f"n must not be negative, got {n}")
        numbers, scores, chunks_with = self._core.top(n)
        return LexicalResult(
            numbers=numbers,
            scores=scores,
            terms=self._terms,
            chunks_with=tuple(chunks_with),
            chunks=self._core.chunks,
            chunks_unreadable=self._core.chunks_unreadable,
            files_opened=self._core.files_opened,
            files_failed=tuple(self._failed),
            bytes_read=self._core.bytes_read,
        )


def rank(
    question: str,
    n: int,
    files: Files | None = None,
    buffers: Iterable[Callable[[], Buffer]] = (),
    *,
    allowed: NDArray[np.bool_] | None = None,
    threads: int = 0,
) -> LexicalResult:
    """Return the `n` chunks of files and buffers that answer `question` best by their words.

    Each buffer is a function that gives it, called in one of the `threads` (0: as many as there
    are cores), so that stored blocks are decompressed side by side and soon let go.
    """
    lexical = LexicalPass(question, allowed=allowed, threads=threads)
    if files is not None:
        lexical.add_files(files)
    if lexical.terms:
        _add_side_by_side(lexical, buffers, threads or os.cpu_count() or 1)
    return lexical.result(n)


def terms_of(question: str) -> list[str]:
    """Return what a question asks for: folded words without endings, pairs of CJK characters."""
    return _core.question_terms(_utf8(question))


def find_terms(text: bytes, question: str) -> list[tuple[int, int]]:
    """Return where words of the question stand in a text: spans of bytes, rising, apart."""
    return _core.find_terms(text, _utf8(question))


def _add_side_by_side(
    lexical: LexicalPass, buffers: Iterable[Callable[[], Buffer]], threads: int
) -> None:
    """Feed the buffers to some threads; few wait at a time, since each may hold its text."""

    def add(give: Callable[[], Buffer]) -> None:
        lexical.add_buffer(give())

    waiting: deque[Future[None]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="gossamer-lexical")
    try:
        for give in buffers:
            waiting.append(pool.submit(add, give))
            if len(waiting) > 2 * threads:
                waiting.popleft().result()
        while waiting:
            waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")


def _arrays(
    spans: Spans,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint32]]:
    return (
        np.ascontiguousarray(spans.starts, dtype=np.uint64),
        np.ascontiguousarray(spans.ends, dtype=np.uint64),
        np.ascontiguousarray(spans.numbers, dtype=np.uint32),
    )
