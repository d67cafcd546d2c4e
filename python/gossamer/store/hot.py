"""Hot vectors: what was asked for lately, kept within a budget, so that asking again is cheap.

A cache and nothing else: it may be lost, damaged or another index's, and is then empty. What a
question adds is appended to a large file, which is written anew when enough was.
"""

from __future__ import annotations

import struct
import sys
import threading
import zlib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer.errors import GossamerError
from gossamer.files import map_file, write_file
from gossamer.store.hashes import digest_of
from gossamer.store.lock import try_lock

__all__ = ["HOT", "HotVectors"]

HOT = "hot.gsh"
_LOCK = "hot.lock"
_MAGIC, _VERSION = b"GSMHOTVS", 1
_USES_MAGIC = b"GSMHOTUS"  # of a part that says what was used and has no vectors
_HEADER = struct.Struct("<8sII32sQIII")  # .., dimension, stamp, clock, chunks, questions, checksum
_ENTRY_BYTES = 8 + 8 + 4 + 4  # key, when it was used last, how often, checksum of the vector
# An entry that was used twice as often stays for so many more questions.
_USES_WORTH = 32
_MOST_USES = 2**32 - 1
# Questions may take this share of the budget.
_QUESTION_SHARE = 0.1
# A file is written anew for each question while it is small. Beyond that, what is new is appended
# until it takes this share of the file, or so many bytes.
_SMALL_BYTES = 1 << 22
_TAIL_SHARE, _TAIL_BYTES = 1 / 16, 1 << 24


@dataclass
class _Entries:
    """Vectors by a key of 64 bits, rising, with their last use and how often they were used."""

    keys: NDArray[np.uint64]
    used: NDArray[np.uint64]
    uses: NDArray[np.uint32]
    sums: NDArray[np.uint32]
    vectors: NDArray[np.float16]

    def find(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Say which keys are there, and where those stand."""
        if not len(self.keys):
            return np.zeros(len(keys), bool), np.zeros(0, np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[places] == keys
        return known, places[known]

    def take(self, rows: NDArray[np.int64]) -> _Entries:
        """Give these rows."""
        return _Entries(
            self.keys[rows], self.used[rows], self.uses[rows], self.sums[rows], self.vectors[rows]
        )


@dataclass
class _News:
    """What was learnt since the file was read."""

    used: dict[int, int] = field(default_factory=dict)
    uses: dict[int, int] = field(default_factory=dict)
    vectors: dict[int, NDArray[np.float16]] = field(default_factory=dict)

    def use(self, key: int, clock: int, times: int = 1) -> None:
        self.used[key] = max(clock, self.used.get(key, 0))
        self.uses[key] = min(self.uses.get(key, 0) + times, _MOST_USES)


@dataclass
class _Kept:
    """What a file holds: a part with almost everything, and what was appended to it."""

    clock: int
    chunks: _Entries
    questions: _Entries
    new_chunks: _News = field(default_factory=_News)
    new_questions: _News = field(default_factory=_News)
    base_end: int = 0
    end: int = 0  # of the last part that is whole
    size: int = 0


class HotVectors:
    """Vectors of chunks and of questions by id and hash, across runs."""

    def __init__(self, folder: Path, stamp: bytes, dim: int, budget: int) -> None:
        self._folder, self._stamp, self._dim, self._budget = folder, stamp, dim, budget
        self._kept = _read(folder / HOT, stamp, dim)
        self._clock = self._kept.clock
        self._new_chunks, self._new_questions = _News(), _News()
        # One index may answer several threads.
        self._lock = threading.RLock()

    @classmethod
    def open(cls, folder: Path, uuid: str, fingerprint: str, dim: int, budget: int) -> HotVectors:
        """Read the cache of an index; an empty one if there is none that fits."""
        stamp = digest_of(f"{uuid} {fingerprint}".encode()).encode("ascii")
        return cls(Path(folder), stamp, dim, budget)

    @property
    def budget(self) -> int:
        """How many bytes the cache may take."""
        return self._budget

    def __len__(self) -> int:
        later = [*self._kept.new_chunks.vectors, *self._new_chunks.vectors]
        return len(np.union1d(self._kept.chunks.keys, np.asarray(later, np.uint64)))

    def get(self, ids: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Say which chunks' vectors are here, and give those, a row each."""
        with self._lock:
            kept, keys = self._kept, np.asarray(ids, np.uint64)
            return self._get(kept.chunks, kept.new_chunks, self._new_chunks, keys)

    def put(self, ids: ArrayLike, vectors: ArrayLike) -> None:
        """Keep vectors of chunks of the current state of the index."""
        rows = np.asarray(vectors, np.float16).reshape(-1, self._dim)
        with self._lock:
            for key, row in zip(np.asarray(ids, np.uint64).tolist(), rows, strict=True):
                self._new_chunks.vectors[key] = row
                self._new_chunks.use(key, self._clock)

    def question(self, hash: bytes) -> NDArray[np.float32] | None:
        """Give the vector of a question by the hash of its text; None if it is not here."""
        key = np.frombuffer(hash[:8], "<u8").astype(np.uint64)
        with self._lock:
            self._clock += 1
            kept = self._kept
            known, vectors = self._get(kept.questions, kept.new_questions, self._new_questions, key)
        return vectors[0] if known[0] else None

    def put_question(self, hash: bytes, vector: ArrayLike) -> None:
        """Keep the vector of a question."""
        key = int.from_bytes(hash[:8], "little")
        with self._lock:
            self._new_questions.vectors[key] = np.asarray(vector, np.float16).reshape(self._dim)
            self._new_questions.use(key, self._clock)

    def save(self, live_ids: ArrayLike | None = None) -> bool:
        """Write what was learnt, with what others wrote meanwhile; say whether it was written.

        Nothing is done when nothing new was learnt, or while another process is writing: this is
        a cache, and it can wait. With `live_ids`, rising, vectors of chunks that are gone go too.
        """
        if not (self._new_chunks.vectors or self._new_questions.vectors):
            return False
        with self._lock, suppress(OSError):
            lock = try_lock(self._folder / _LOCK, "hot vectors")
            if lock is None:
                return False
            with lock:
                for left_behind in self._folder.glob(f".{HOT}.*.part"):
                    left_behind.unlink()
                if live_ids is not None or not self._append():
                    self._write(None if live_ids is None else np.asarray(live_ids, np.uint64))
            return True
        return False

    def _get(
        self, old: _Entries, later: _News, new: _News, keys: NDArray[np.uint64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        mask = np.zeros(len(keys), bool)
        found: list[NDArray[np.float16]] = []
        known, places = old.find(keys)
        place_of = dict(zip(keys[known].tolist(), places.tolist(), strict=True))
        for row, key in enumerate(keys.tolist()):
            vector = new.vectors.get(key, later.vectors.get(key))
            if vector is None and key in place_of:
                vector = old.vectors[place_of[key]]
                if zlib.crc32(vector.tobytes()) != old.sums[place_of[key]]:
                    continue
            if vector is not None:
                mask[row] = True
                found.append(vector)
                new.use(key, self._clock)
        rows = np.stack(found) if found else np.zeros((0, self._dim), np.float16)
        return mask, rows.astype(np.float32)

    def _append(self) -> bool:
        """Put what was learnt at the end of the file; False where it is to be written anew."""
        path = self._folder / HOT
        kept = _read(path, self._stamp, self._dim)
        clock = max(kept.clock, self._clock)
        parts = _pack_news(self._stamp, self._dim, clock, self._new_chunks, self._new_questions)
        size = kept.end + sum(map(len, parts))
        # After a part that is not whole nothing can be appended, nor may the file be cut: others
        # have it mapped.
        if (
            kept.base_end < _SMALL_BYTES
            or kept.end != kept.size
            or size > self._budget
            or size - kept.base_end > _tail_bytes(kept.base_end)
        ):
            return False
        with open(path, "ab") as file:
            file.write(b"".join(parts))
        self._forget_news(_read(path, self._stamp, self._dim))
        return True

    def _write(self, live: NDArray[np.uint64] | None) -> None:
        kept = _read(self._folder / HOT, self._stamp, self._dim)
        clock = max(kept.clock, self._clock)
        # With room for what will be appended.
        budget = self._budget - _HEADER.size
        budget -= _tail_bytes(budget) if budget > _SMALL_BYTES else 0
        chunks, questions = kept.chunks, kept.questions
        for news in (kept.new_chunks, self._new_chunks):
            chunks = _merge(chunks, news, self._dim)
        for news in (kept.new_questions, self._new_questions):
            questions = _merge(questions, news, self._dim)
        if live is not None:
            chunks = chunks.take(np.nonzero(np.isin(chunks.keys, live))[0])
        questions = _within(questions, int(budget * _QUESTION_SHARE), self._dim)
        chunks = _within(chunks, budget - _bytes_of(questions, self._dim), self._dim)
        write_file(self._folder / HOT, _pack(self._stamp, self._dim, clock, chunks, questions))
        self._forget_news(_Kept(clock, chunks, questions))

    def _forget_news(self, kept: _Kept) -> None:
        self._kept, self._clock = kept, kept.clock
        self._new_chunks, self._new_questions = _News(), _News()


def _tail_bytes(size: int) -> int:
    """Give how much may be appended to a file of this size."""
    return min(int(size * _TAIL_SHARE), _TAIL_BYTES)


def _merge(old: _Entries, news: _News, dim: int) -> _Entries:
    """Put what was learnt to what is there."""
    known, places = old.find(np.asarray(list(news.used), np.uint64))
    used, uses = old.used.copy(), old.uses.copy()
    fresh = []
    mended: dict[int, NDArray[np.float16]] = {}  # made again, as their old ones were damaged
    touched = iter(places.tolist())
    for key, is_known in zip(news.used, known.tolist(), strict=True):
        if is_known:
            place = next(touched)
            used[place] = max(int(used[place]), news.used[key])
            uses[place] = min(int(uses[place]) + news.uses[key], _MOST_USES)
            if key in news.vectors:
                mended[place] = news.vectors[key]
        elif key in news.vectors:
            fresh.append(key)
    old = _with_vectors(old, mended)
    rows = [news.vectors[key] for key in fresh]
    added = np.stack(rows) if rows else np.zeros((0, dim), np.float16)
    merged = _Entries(
        np.concatenate([old.keys, np.asarray(fresh, np.uint64)]),
        np.concatenate([used, np.asarray([news.used[key] for key in fresh], np.uint64)]),
        np.concatenate([uses, np.asarray([news.uses[key] for key in fresh], np.uint32)]),
        np.concatenate([old.sums, np.asarray([zlib.crc32(r.tobytes()) for r in rows], np.uint32)]),
        np.concatenate([old.vectors, added]),
    )
    return merged.take(np.argsort(merged.keys))


def _with_vectors(old: _Entries, vectors: dict[int, NDArray[np.float16]]) -> _Entries:
    """Give the entries with other vectors at these places, where they differ."""
    sums = {place: zlib.crc32(vector.tobytes()) for place, vector in vectors.items()}
    others = [place for place, checksum in sums.items() if checksum != old.sums[place]]
    others += [
        place
        for place in sums.keys() - set(others)
        if zlib.crc32(old.vectors[place].tobytes()) != sums[place]
    ]
    if not others:
        return old
    new = replace(old, sums=old.sums.copy(), vectors=old.vectors.copy())
    for place in others:
        new.sums[place], new.vectors[place] = sums[place], vectors[place]
    return new


def _within(entries: _Entries, budget: int, dim: int) -> _Entries:
    """Keep the entries that were used last and most, as many as fit."""
    room = max(0, budget // (_ENTRY_BYTES + 2 * dim))
    if len(entries.keys) <= room:
        return entries
    worth = entries.used.astype(np.float64) + _USES_WORTH * np.log2(1.0 + entries.uses)
    best = np.argsort(-worth, kind="stable")[:room]
    return entries.take(np.sort(best))


def _bytes_of(entries: _Entries, dim: int) -> int:
    return len(entries.keys) * (_ENTRY_BYTES + 2 * dim)


def _pack_news(stamp: bytes, dim: int, clock: int, chunks: _News, questions: _News) -> list[bytes]:
    """Give what was learnt as two parts of a file: new vectors, and uses of old ones."""
    parts: list[bytes] = []
    for is_new in (True, False):
        first = _entries_of_news(chunks, is_new, dim)
        second = _entries_of_news(questions, is_new, dim)
        if len(first.keys) or len(second.keys):
            magic = _MAGIC if is_new else _USES_MAGIC
            parts += _pack(stamp, dim, clock, first, second, magic)
    return parts


def _entries_of_news(news: _News, is_new: bool, dim: int) -> _Entries:
    keys = sorted(key for key in news.used if (key in news.vectors) is is_new)
    rows = [news.vectors[key] for key in keys] if is_new else []
    sums = [zlib.crc32(row.tobytes()) for row in rows] if is_new else [0] * len(keys)
    return _Entries(
        np.asarray(keys, np.uint64),
        np.asarray([news.used[key] for key in keys], np.uint64),
        np.asarray([news.uses[key] for key in keys], np.uint32),
        np.asarray(sums, np.uint32),
        np.stack(rows) if rows else np.zeros((0, dim), np.float16),
    )


def _pack(
    stamp: bytes,
    dim: int,
    clock: int,
    chunks: _Entries,
    questions: _Entries,
    magic: bytes = _MAGIC,
) -> list[bytes]:
    tables, vectors = [], []
    for entries in (chunks, questions):
        for part, kind in (
            (entries.keys, "<u8"),
            (entries.used, "<u8"),
            (entries.uses, "<u4"),
            (entries.sums, "<u4"),
        ):
            tables.append(part.astype(kind).tobytes())
        vectors.append(np.ascontiguousarray(entries.vectors, "<f2").tobytes())
    counts = (len(chunks.keys), len(questions.keys))
    head = _HEADER.pack(magic, _VERSION, dim, stamp, clock, *counts, 0)[:-4]
    checksum = zlib.crc32(head + b"".join(tables)).to_bytes(4, "little")
    return [head, checksum, *tables, *vectors]


def _read(path: Path, stamp: bytes, dim: int) -> _Kept:
    """Read a file of hot vectors; nothing if there is none, or none that fits."""
    empty = _entries_of(np.zeros(0, np.uint8), 0, 0, np.zeros((0, dim), np.float16))
    nothing = _Kept(0, empty, empty)
    try:
        # Windows does not replace a file that is mapped.
        is_mapped = sys.platform != "win32"
        data = map_file(path, follow=False) if is_mapped else np.fromfile(path, np.uint8)
    except (OSError, GossamerError):
        return nothing
    base = _read_part(data, 0, stamp, dim)
    if base is None or base.magic != _MAGIC:
        return nothing
    kept = _Kept(base.clock, base.chunks, base.questions, base_end=base.end, size=len(data))
    part: _Part | None = base
    while part is not None:
        kept.end, kept.clock = part.end, max(kept.clock, part.clock)
        part = _read_part(data, part.end, stamp, dim)
        if part is not None:
            _add_to(kept.new_chunks, part.chunks)
            _add_to(kept.new_questions, part.questions)
    return kept


def _add_to(news: _News, entries: _Entries) -> None:
    """Take in entries that were appended, save damaged vectors."""
    keys, used, uses = entries.keys.tolist(), entries.used.tolist(), entries.uses.tolist()
    for key, clock, times in zip(keys, used, uses, strict=True):
        news.use(key, clock, times)
    # A part that only tells of uses has no vectors.
    for key, row, checksum in zip(keys, entries.vectors, entries.sums.tolist(), strict=False):
        if zlib.crc32(row.tobytes()) == checksum:
            news.vectors[key] = row


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a file that is whole in itself."""

    magic: bytes
    clock: int
    chunks: _Entries
    questions: _Entries
    end: int


def _read_part(data: NDArray[np.uint8], start: int, stamp: bytes, dim: int) -> _Part | None:
    """Read the part of a file that begins here; None if there is none that is whole and fits."""
    if len(data) - start < _HEADER.size:
        return None
    magic, *head, clock, chunks, questions, checksum = _HEADER.unpack_from(data.data, start)
    if magic not in (_MAGIC, _USES_MAGIC) or head != [_VERSION, dim, stamp]:
        return None
    tables = start + _HEADER.size
    tables_end = tables + (chunks + questions) * _ENTRY_BYTES
    end = tables_end + ((chunks + questions) * 2 * dim if magic == _MAGIC else 0)
    if end > len(data):
        return None
    covered = data[start : tables - 4].tobytes() + data[tables:tables_end].tobytes()
    if zlib.crc32(covered) != checksum:
        return None
    vectors = np.frombuffer(data[tables_end:end].data, "<f2").reshape(-1, dim)
    first = _entries_of(data, tables, chunks, vectors[:chunks])
    second = _entries_of(data, tables + chunks * _ENTRY_BYTES, questions, vectors[chunks:])
    return _Part(magic, clock, first, second, end)


def _entries_of(
    data: NDArray[np.uint8], at: int, count: int, vectors: NDArray[np.float16]
) -> _Entries:
    ends = at + 16 * count
    keys, used = np.frombuffer(data[at:ends].tobytes(), "<u8").astype(np.uint64).reshape(2, count)
    raw = data[ends : ends + 8 * count].tobytes()
    uses, sums = np.frombuffer(raw, "<u4").astype(np.uint32).reshape(2, count)
    return _Entries(keys, used, uses, sums, vectors)
