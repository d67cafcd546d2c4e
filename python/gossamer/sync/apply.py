"""A package into an edge: everything checked, then one commit; or nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gossamer.errors import (
    CodebookMismatch,
    Damaged,
    GossamerError,
    Locked,
    ModelMismatch,
    UnknownVersion,
    Unwritable,
    WrongState,
)
from gossamer.models.packs import fitting_pack
from gossamer.models.registry import names_place
from gossamer.store import Catalogue, ModelStamp, Settings, Snapshot, Writer, begin
from gossamer.store.folder import read_manifest
from gossamer.store.manifest import Json, Manifest, read_stamp
from gossamer.store.records import AWAY
from gossamer.store.segments import SegmentCatalogue
from gossamer.sync.download import Wanted
from gossamer.sync.edge_vectors import (
    MOST_DIM,
    EdgeCodes,
    Made,
    make_slim,
    make_vectors,
    read_codes,
)
from gossamer.sync.following import Following, base_of
from gossamer.sync.package import Package
from gossamer.sync.records import Base, Conflict, Head, Mode
from gossamer.sync.sections import (
    unpack_absent,
    unpack_conflicts,
    unpack_hot,
    unpack_removed,
    unpack_touched,
)
from gossamer.sync.state import state_of

__all__ = ["Applied", "apply_package", "rename"]

_WAIT_S = 60.0  # for another process that changes the edge: `gossamer compact` takes not as long
_MOST_CATALOGUE_BYTES = 1 << 34
_HOT_ID_BYTES = 20  # of a number and a comma


@dataclass(frozen=True, slots=True)
class Applied:
    """What a package changed."""

    snapshot: Snapshot
    documents_changed: int
    documents_removed: int
    conflicts: tuple[Conflict, ...]


def apply_package(
    folder: Path, package: Package, wanted: Wanted, following: Following, *, may_go_back: bool
) -> Applied:
    """Bring an edge to the state that a package leads to, in one commit.

    WrongState for a package of another index. Damaged for one of a version that was seen before
    (unless `may_go_back`), or that does not lead where it says. Nothing is changed then.
    """
    with begin(folder, "pull", _WAIT_S) as writer:
        _check_index(package.head, writer.snapshot, folder)
        with _as_damage():
            _check_head(package.head, writer.snapshot, wanted, may_go_back)
            step = _Step(writer, package, following)
            made = step.make()
        snapshot = step.commit(made)
    step.keep_hot(snapshot)
    return Applied(snapshot, step.news.document_count, step.removed, step.conflicts)


def rename(folder: Path, following: Following, epoch: str) -> None:
    """Let an edge that is up to date say where its server and its model are now.

    A server that lost its history is in another `epoch`, though the state is the same.
    """
    old = read_manifest(folder)
    if (old.model, old.origin) == _named_as(old, following, epoch):
        return
    with begin(folder, "pull", _WAIT_S) as writer:
        assert writer.snapshot is not None, "an edge that is up to date has a state"
        old = writer.snapshot.manifest
        model, origin = _named_as(old, following, epoch)
        writer.commit(
            writer.changes(),
            save_vectors=None,
            model=model,
            settings=old.settings,
            roots=(),
            origin=origin,
        )


def _named_as(
    manifest: Manifest, following: Following, epoch: str
) -> tuple[ModelStamp, dict[str, Json]]:
    model = replace(manifest.model, name=following.model or manifest.model.name)
    return model, {**manifest.origin, "url": following.url, "epoch": epoch}


class _Step:
    """One package on its way into an edge."""

    def __init__(self, writer: Writer, package: Package, following: Following) -> None:
        self._writer = writer
        self._package = package
        self._following = following
        self._mode = Mode.parse(package.head.mode)
        self._stamp = _stamp_of(package.head, following)
        self._settings = _settings_of(package.head, self._mode)
        # A snapshot begins from nothing, and takes the place of all there is.
        self._old = None if package.head.base is None else writer.snapshot
        self.news = self._read_news()
        self._codes: EdgeCodes | None = None
        if self._mode.kind != "slim":
            shipped = fitting_pack(self._stamp.fingerprint, self._settings.code_bytes)
            self._codes = read_codes(package, self.news, self._old, shipped)
        # A delta is to be there at once; the store packs small segments together in time.
        self._changes = writer.changes(
            None if self._new_codes is None else self._new_codes.pack.codebook,
            is_quick=self._old is not None,
            from_nothing=self._old is None,
            next_chunk_id=package.head.next_chunk_id,
        )
        self.removed = 0
        most = self._mode.hot_bytes + _HOT_ID_BYTES * (self._mode.hot_bytes // self._stamp.dim)
        self._hot = unpack_hot(package.read("hot", most), self._stamp.dim)
        self.conflicts = tuple(unpack_conflicts(package.read_json("conflicts")))

    @property
    def _new_codes(self) -> EdgeCodes | None:
        """Codes that go into segments."""
        return self._codes if self._codes is not None and self._codes.are_in_segments else None

    def make(self) -> Made:
        """Change the catalogue and make the vectors; Damaged unless they are what was promised."""
        head, package = self._package.head, self._package
        for is_file, path in unpack_removed(package.read_json("removed")):
            self._remove(is_file, path)
        for touched in unpack_touched(package.read_json("touched")):
            self._changes.touch(*touched.key, touched.mtime_ns, touched.reader_version)
        codes = self._new_codes
        self._changes.take(self.news, self._texts_of(), None if codes is None else codes.of)
        catalogue = SegmentCatalogue(self._changes.finish(), ())
        catalogue.core.verify()
        made = self._make_rows(catalogue)
        if (state := state_of(catalogue, made.digest)) != head.state:
            raise Damaged(
                f"the package leads to the state {state}, where the server says {head.state}"
            )
        return made

    def commit(self, made: Made) -> Snapshot:
        """Make it the state of the edge."""
        head = self._package.head
        return self._writer.commit(
            self._changes,
            save_vectors=made.save,
            save_codebook=self._save_codebook,
            recoded=made.recoded,
            model=self._stamp,
            settings=self._settings,
            roots=(),
            origin={
                "index": head.index,
                "epoch": head.epoch,
                "version": head.version,
                "state": head.state,
                "mode": head.mode,
                "texts": head.texts,
                "url": self._following.url,
            },
        )

    def keep_hot(self, snapshot: Snapshot) -> None:
        """Put vectors that the package brought into the cache, which is no part of the state."""
        hot, (ids, rows) = snapshot.open_hot(), self._hot
        if hot is not None and len(ids):
            live = snapshot.catalogue.chunk_ids
            is_known = np.isin(ids, live) & np.isfinite(rows).all(axis=1)
            hot.put(ids[is_known], rows[is_known])
            hot.save(live)

    def _read_news(self) -> Catalogue:
        """Read the sources that are new or changed; none of them may be read from this disk."""
        if not self._package.has("catalogue"):
            return Catalogue.empty()
        news = Catalogue.open(self._package.read("catalogue", _MOST_CATALOGUE_BYTES))
        segments, _ = news.text_places
        if (segments != AWAY).any():
            raise Damaged("the package names places of texts, which only the edge can know")
        return news

    def _remove(self, is_file: bool, path: str) -> None:
        """Take a source out; one that came and went between two pulls was never here."""
        old = self._old
        row = None if old is None else old.catalogue.find(is_file, path)
        if old is not None and row is not None:
            self.removed += len(old.catalogue.documents_of(row))
            self._changes.remove_sources([row])

    def _texts_of(self) -> Callable[[int], Iterator[bytes] | None]:
        """Give what reads the texts that the package brings, one by one; the others are away."""
        news, package = self.news, self._package
        if package.head.texts == "away":
            return lambda _: None
        absent = unpack_absent(package.read_json("absent"))
        is_here = [news.chunks_in(row).start not in absent for row in range(news.document_count)]
        lengths = news.text_lengths
        if (length := int(lengths[is_here].sum())) != package.size_of("texts"):
            raise Damaged(
                f"the package has {package.size_of('texts')} bytes of text, where its documents "
                f"have {length}"
            )
        texts = _Stream(package.stream("texts"))
        return lambda row: texts.take(int(lengths[row])) if is_here[row] else None

    @property
    def _save_codebook(self) -> Callable[[Path], object] | None:
        """What writes a codebook of the index's own, unless it is there."""
        codes = self._codes
        is_there = self._old is not None and self._old.own_codebook() is not None
        return None if codes is None or not codes.is_own or is_there else codes.save_codebook

    def _make_rows(self, catalogue: SegmentCatalogue) -> Made:
        if self._codes is not None:
            return self._codes.make(catalogue)
        old = None if self._old is None else self._old.open_vectors()
        if self._mode.kind == "slim":
            return make_slim(self._writer.folder, self._package, catalogue, old)
        return make_vectors(self._package, catalogue, self.news, old)


class _Stream:
    """Blocks of bytes, taken in pieces of any length."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._block = b""
        self._at = 0

    def take(self, count: int) -> Iterator[bytes]:
        """Give the next bytes, to be used up before any others; Damaged if there are fewer."""
        while count:
            if self._at == len(self._block):
                self._block, self._at = next(self._blocks, b""), 0
                if not self._block:
                    raise Damaged("the texts of the package end too early")
            piece = self._block[self._at : self._at + count]
            self._at += len(piece)
            count -= len(piece)
            yield piece


def _check_index(head: Head, snapshot: Snapshot | None, folder: Path) -> None:
    """Refuse a package for another index than this one."""
    if snapshot is None:
        return
    origin = snapshot.manifest.origin
    if not origin:
        raise WrongState(
            f"the index in {folder} follows no server; choose a new or empty folder for one "
            "that does"
        )
    if head.index != origin.get("index"):
        raise WrongState(
            f"the package is of another index ({head.index}) than the one that {folder} follows "
            f"({origin.get('index')}); pull it into a new or empty folder"
        )


def _check_head(head: Head, snapshot: Snapshot | None, wanted: Wanted, may_go_back: bool) -> None:
    """Refuse a package that was not asked for, that begins elsewhere, or that was seen before."""
    own = None if snapshot is None else base_of(snapshot.manifest)
    if (head.mode, head.texts) != (wanted.mode, wanted.texts):
        raise Damaged(
            f"the package is for an edge with {head.mode} and texts {head.texts}, and one with "
            f"{wanted.mode} and texts {wanted.texts} was asked for"
        )
    if head.base is not None and (wanted.base is None or head.base != own):
        raise Damaged(f"the package begins from {_named(head.base)}, and the edge is {_named(own)}")
    is_replay = own is not None and (
        head.version < own.version if head.base is None else head.version <= own.version
    )
    if is_replay and not may_go_back:
        raise Damaged(
            f"the package is of version {head.version}, and the edge is at {_named(own)} already"
        )


def _named(base: Base | None) -> str:
    return "nothing" if base is None else f"version {base.version} ({base.state[:12]})"


def _stamp_of(head: Head, following: Following) -> ModelStamp:
    """Give the model of the index, by a name that means the same on this machine."""
    try:
        values = {"probe": [], **head.model}
        values["name"] = following.model or values["name"]
        stamp = read_stamp(values)
        if not 0 < stamp.dim <= MOST_DIM:
            raise ValueError(f"dim={stamp.dim}")
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise Damaged(f"the package does not say which model it is of ({error})") from None
    if not following.model and names_place(stamp.name):
        raise ModelMismatch(
            f"the server's model is {stamp.name}, which is a place of its own; say where the same "
            "model is for this machine: `gossamer pull URL --model PLACE`"
        )
    return stamp


def _settings_of(head: Head, mode: Mode) -> Settings:
    code_bytes = head.settings.get("code_bytes")
    if not isinstance(code_bytes, int) or not 0 <= code_bytes <= 1 << 16:
        raise Damaged(f"the package says code_bytes = {code_bytes!r}")
    keep = {"codes": "none", "hot": str(mode), "slim": "all"}[mode.kind]
    return Settings(code_bytes=code_bytes, store_text=True, keep=keep, lexical="scan")


@contextmanager
def _as_damage() -> Iterator[None]:
    """Raise Damaged in place of whatever a package brings about that does not fit together.

    What has other reasons is raised as it is: a full disk, another model, a later version.
    """
    try:
        yield
    except (CodebookMismatch, Damaged, Locked, ModelMismatch, UnknownVersion, Unwritable):
        raise
    except (GossamerError, ValueError, ArithmeticError) as error:
        raise Damaged(str(error)) from error
