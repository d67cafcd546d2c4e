"""`Offer`: what a server gives to edges and takes from them, whatever carries it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import RLock

import numpy as np
from numpy.typing import NDArray

import gossamer
from gossamer.errors import Locked, WrongState
from gossamer.files import make_folder
from gossamer.io_errors import explaining
from gossamer.query.passages import Passages
from gossamer.records import RemoteChunk
from gossamer.store.lock import LOCK, try_lock
from gossamer.sync.cache import PACKAGES, PackageCache
from gossamer.sync.conflicts import Conflicts
from gossamer.sync.estimate import Estimator
from gossamer.sync.history import SYNC, ChangedKeys, History
from gossamer.sync.package import write_package
from gossamer.sync.packing import Contents, Engine, MovedOn, head_of, sections_of, without_source
from gossamer.sync.push import Pusher
from gossamer.sync.records import (
    PROTOCOL,
    Base,
    Building,
    Conflict,
    Mode,
    Plan,
    PushItem,
    PushResult,
    check_texts,
)
from gossamer.sync.replica import Built
from gossamer.sync.replicas import Replicas
from gossamer.sync.served import Encoded, Served, identity_of
from gossamer.sync.uploads import UPLOADS
from gossamer.update.index import ChangeableIndex
from gossamer.vectors.deltas import join_deltas

__all__ = ["Offer"]

Mask = NDArray[np.bool_]

_MODES = ("codes", "hot:BYTES", "slim:f16:DEGREE", "slim:int8:DEGREE")
# How long a request waits for a replica before it is told to come again.
_PATIENCE_S = 2.0


@dataclass(frozen=True)
class _Now:
    """The state of the index, and what an edge lacks to come to it, read at the same moment."""

    served: Served
    base: Base | None  # None if the edge must take a snapshot
    changed: ChangedKeys


class Offer:
    """An index that edges follow. Any thread may ask; other processes may change the index."""

    def __init__(
        self,
        index: ChangeableIndex,
        *,
        token: str = "",
        history_bytes: int = 64_000_000,
        uploads: Path | None = None,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        """Begin to offer an index; its history is in the subfolder `sync`.

        With a `token` every package is signed. Old versions are forgotten once the history takes
        more than `history_bytes`. Files that edges push go to `uploads`, below the index folder
        if not given. A request waits `patience_s` for a slim index that is being made. Locked if
        another server offers the index.
        """
        origin = index.snapshot.manifest.origin
        if origin:
            raise WrongState(
                f"this index follows {origin.get('url', 'a server')}: edges follow that one"
            )
        self._index = index
        self._token = token
        self._patience_s = patience_s
        self._release = gossamer.__version__
        self._lock = RLock()
        self._encoded = Encoded()
        self._served: Served | None = None
        with ExitStack() as stack:
            stack.enter_context(_alone(index.folder))
            self._history = History(index.folder, history_bytes)
            stack.callback(self._history.close)
            self._packages = PackageCache(index.folder / SYNC / PACKAGES)
            self._replicas = Replicas(index.folder / SYNC, self._history)
            self._estimator = Estimator()
            self._conflicts = Conflicts(self._history.database)
            self._pusher = Pusher(
                index, self._history, self._conflicts, uploads or index.folder / UPLOADS
            )
            stack.callback(self._replicas.close)
            self._now()
            self._closing = stack.pop_all()

    def info(self) -> dict[str, object]:
        """Say what is offered."""
        served = self._now().served
        return {
            "protocol": PROTOCOL,
            "index": served.manifest.uuid,
            "epoch": served.epoch,
            "version": served.version,
            "model": served.stamp,
            "chunks": served.catalogue.chunk_count,
            "documents": served.catalogue.document_count,
            "modes": list(_MODES),
            "is_signed": bool(self._token),
        }

    def plan(self, mode: Mode, *, texts: str, budget: int | None) -> Plan:
        """Say what an edge would take; with a budget, choose what fits into it.

        TooLarge, with the least that an edge of this kind takes, if nothing does.
        """
        return self._estimator.plan(self._now().served, mode, check_texts(texts), budget)

    def package(self, mode: Mode, *, texts: str, base: Base | None) -> Path | Building | None:
        """Give what brings an edge from its base to the current version; None if it is there.

        A snapshot where nothing is known of the base. Building while the server makes what is
        needed: ask again.
        """
        check_texts(texts)
        now = self._now(base, mode.profile)
        if base is not None and base.version > now.served.version:
            raise WrongState(
                f"the edge is at version {base.version}, and this server at "
                f"{now.served.version}: it was put back to an older state. Let the edge follow it "
                "anew, in another folder"
            )
        if mode.kind == "slim":
            return self._slim_package(mode, texts, base, now)
        state = now.served.codes_state
        if base is not None and (base.version, base.state) == (now.served.version, state):
            return None
        return self._write(mode, texts, now, None)

    def vectors(self, ids: Sequence[int]) -> tuple[Mask, NDArray[np.float16]]:
        """Say which of these chunks' vectors can be had, and give those, a row each."""
        served = self._now().served
        wanted = np.asarray(ids, np.int64).reshape(-1)
        mask = np.isin(wanted, served.catalogue.chunk_ids)
        could, rows = served.ask(wanted[mask], self._replicas.donors(served.epoch))
        mask[mask] = could
        return mask, rows.astype(np.float16)

    def chunks(self, ids: Sequence[int]) -> list[RemoteChunk | None]:
        """Give chunks with their texts; None for one that is gone, or whose text has changed."""
        served = self._now().served
        wanted = np.asarray(ids, np.int64).reshape(-1)
        is_known = np.isin(wanted, served.catalogue.chunk_ids)
        found = iter(Passages(served.snapshot).read(wanted[is_known], with_places=True))
        passages = [next(found) if known else None for known in is_known.tolist()]
        return [
            None
            if one is None
            else RemoteChunk(one.id, one.title, one.body, one.embedded, one.first, one.last)
            for one in passages
        ]

    def push(self, items: Sequence[PushItem]) -> list[PushResult]:
        """Make changes that edges ask for, in their order; what was pushed before is done once."""
        return self._pusher.push(items, self._record)

    def conflicts(self, after: int = 0) -> list[Conflict]:
        """Give the conflicts with larger numbers than this one, without the texts that lost."""
        return self._conflicts.after(after, self._now().served.version)

    def conflict(self, number: int) -> Conflict:
        """Give a conflict with the text that lost; UnknownId if there is none of this number."""
        return self._conflicts.get(number)

    def lost_bytes(self, number: int) -> bytes:
        """Give what a conflict replaced, as it was: a file need not be text. UnknownId if none."""
        return self._conflicts.lost_bytes(number)

    def close(self) -> None:
        """Stop what is being made, and close the history."""
        self._closing.close()

    def _now(self, base: Base | None = None, profile: str = "") -> _Now:
        """Read the index as it is now and record it; give what changed since a base."""
        with self._lock:
            served = self._record()
            history = self._history
            is_known = (
                base is not None
                and base.epoch == served.epoch
                and history.oldest <= base.version <= served.version
                and history.state(profile, base.version) == base.state
            )
            if base is None or not is_known:
                return _Now(served, None, ChangedKeys(frozenset(), frozenset()))
            return _Now(served, base, history.changed_since(base.version))

    def _record(self) -> Served:
        """Read the index as it is now, and record it if it is new."""
        with self._lock:
            (snapshot, model), served = self._index.now(), self._served
            # Someone may have deleted the history, which began anew then.
            is_same = served is not None and served.epoch == self._history.epoch
            if served is None or served.snapshot is not snapshot or not is_same:
                self._history.advance(snapshot, identity_of(snapshot))
                epoch = self._history.epoch
                if served is None or served.epoch != epoch:
                    self._encoded = Encoded()
                served = self._served = Served(snapshot, model, epoch, self._encoded)
                self._pusher.settle(snapshot)
            return served

    def _slim_package(
        self, mode: Mode, texts: str, base: Base | None, now: _Now
    ) -> Path | Building | None:
        least = -1 if base is None else base.version
        built = self._replicas.follow(mode, now.served, least, self._patience_s)
        if isinstance(built, Building):
            return built
        if built.file is None and built.served.catalogue.chunk_count:
            raise WrongState(
                "not one text of this index can be read now, and a slim edge needs their vectors; "
                "bring the files back, or add them again"
            )
        if base is not None and (base.version, base.state) == (built.served.version, built.state):
            return None
        # It may be a version or two behind: what counts is how sources stand there.
        at_base = self._now(base, mode.profile)
        engine = self._engine_of(built, mode, at_base.base)
        chosen = _Now(built.served, at_base.base if engine.delta else None, at_base.changed)
        try:
            return self._write(mode, texts, chosen, engine)
        except MovedOn:
            self._replicas.drop(mode, built)
            return Building(0, now.served.catalogue.chunk_count)

    def _engine_of(self, built: Built, mode: Mode, base: Base | None) -> Engine:
        """Give what changes an edge's engine, or the whole of it where that is not known."""
        version = built.served.version
        if base is not None and base.version < version:
            deltas = self._history.deltas(mode.profile, base.version, version)
            delta = join_deltas(deltas) if deltas else b""
            if delta and len(delta) <= _size_of(built.file):
                return Engine(built.state, None, delta)
        return Engine(built.state, built.file)

    def _write(self, mode: Mode, texts: str, now: _Now, engine: Engine | None) -> Path:
        """Give the package that leads to this state, from the cache if it is there."""
        served, base = now.served, now.base
        told = self._conflicts.between(-1 if base is None else base.version, served.version)
        contents = Contents(served, mode, texts, base, now.changed, engine, told)
        head = head_of(contents, bool(self._token))
        self._history.put_state(mode.profile, head.version, head.state)
        request = json.dumps(
            [
                *(PROTOCOL, self._release),
                *(head.index, head.epoch, head.version, head.state, head.mode, head.texts),
                None if base is None else [base.version, base.state],
                [conflict.number for conflict in told],
                blake2b(self._token.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest(),
            ]
        )

        def make(path: Path) -> list[int]:
            with without_source(contents, path.parent) as whole:
                absent: list[int] = []
                write_package(path, head, sections_of(whole, absent), self._token)
                return absent

        return self._packages.get(request, make, lambda row: served.text(row) is not None)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other servers from offering an index: what one records, another would not know of."""
    with explaining(folder):
        make_folder(folder / SYNC)
        release = try_lock(folder / SYNC / LOCK, "serve")
    if release is None:
        raise Locked(
            f"another server offers the index in {folder} to edges: let them follow that one, or "
            "stop it; this one can be searched meanwhile"
        )
    with release:
        yield


def _size_of(path: Path | None) -> int:
    try:
        return 0 if path is None else path.stat().st_size
    except OSError:
        return 0
