"""One state of an index, open for reading: whole, whatever writers do meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer._core import Calibration
from gossamer.errors import (
    Damaged,
    GossamerError,
    MissingCodebook,
    NotGossamer,
    Truncated,
    Untrusted,
    WrongState,
)
from gossamer.files import map_file, release_pages
from gossamer.models.packs import Pack, fitting_pack
from gossamer.once import once
from gossamer.properties import cached_property
from gossamer.store.catalogue import Catalogue, encode_name
from gossamer.store.codecs import USUAL
from gossamer.store.folder import check_size, read_manifest, read_whole
from gossamer.store.hot import HotVectors
from gossamer.store.manifest import FileEntry, Json, Manifest, Site
from gossamer.store.ratio import most_unpacked
from gossamer.store.records import AWAY, is_at_or_below
from gossamer.store.segments import SegmentCatalogue, SegmentTexts
from gossamer.store.trust import is_trusted, refuse
from gossamer.store.words import open_words
from gossamer.vectors.codes import Codebook
from gossamer.vectors.options import parse_bytes
from gossamer.vectors.vector_index import VectorIndex

if TYPE_CHECKING:
    from gossamer.lexical.fts5 import FtsIndex

__all__ = ["Snapshot", "open_index", "segments_of"]

# A writer commits rarely; one that does between two reads of ours does not do so this often.
_TRIES = 20
_SAVE_HOT_EVERY_S = 5.0


@dataclass(frozen=True, eq=False)
class _OpenSegment:
    """A segment, and its file in memory."""

    segment: _core.Segment
    file: NDArray[np.uint8]


# Segments that are open, as long as anybody has them.
_opened: WeakValueDictionary[tuple[object, ...], _OpenSegment] = WeakValueDictionary()


class Snapshot:
    """One state of an index, with what questions read: parts are opened when first needed.

    It stays readable when newer ones are committed.
    """

    is_lost = False  # whether its file is not there any more as it was: another one has to be read
    site_named: Site | None = None  # by who opened it, whatever the index says
    _save_hot_at = 0.0

    def __init__(self, folder: Path, manifest: Manifest, *, trust: bool = False) -> None:
        self.folder = folder
        self.manifest = manifest
        self.trust = trust
        self.is_trusted = trust or is_trusted(folder, manifest)
        # What another index says is in files of this machine is not looked for there.
        self._roots = manifest.roots if self.is_trusted else ()
        self.catalogue: Catalogue
        self.texts: SegmentTexts
        if manifest.files_of("catalogue"):
            self._open_catalogue()
        else:
            self._open_segments()
        if not self.is_trusted:
            self._check_bounds()
        self._vectors = self._map("vectors")
        self._codebooks = self._map("codebook")

    def _open_segments(self) -> None:
        self._opened = [self._open_segment(entry) for entry in self.manifest.files_of("segment")]
        segments = [one.segment for one in self._opened]
        if not self.is_trusted:
            unpacked = sum(segment.unpacked_bytes for segment in segments)
            if unpacked > most_unpacked(sum(entry.size for entry in self.manifest.files)):
                raise self.refusal(f"a catalogue is not read that unpacks to {unpacked:,} bytes")
        self.catalogue = SegmentCatalogue(segments, self._roots)
        self.texts = SegmentTexts(segments)
        if not self.is_trusted:
            _check_ids(self.catalogue, self.manifest)

    def _open_segment(self, entry: FileEntry) -> _OpenSegment:
        """Open a segment, or take the one that another state has open: it never changes."""
        path = check_size(self.folder, entry)
        status = path.lstat()
        key = (path, entry, status.st_ino, status.st_mtime_ns, self.is_trusted)
        if (known := _opened.get(key)) is not None:
            return known
        try:
            file = map_file(path, follow=False)
            opened = _OpenSegment(_core.Segment(entry.number, file, self.is_trusted, USUAL), file)
        except NotGossamer as error:
            raise Damaged(f"{entry.name}: {error}") from None
        except GossamerError as error:
            raise type(error)(f"{entry.name}: {error}") from None
        _opened[key] = opened
        return opened

    def _open_catalogue(self) -> None:
        """Open an index of version 1, which has one catalogue and texts apart from it."""
        (entry,) = self.manifest.files_of("catalogue")
        catalogue = Catalogue.open(read_whole(self.folder, entry), is_own=self.is_trusted)
        _check_ids(catalogue, self.manifest)
        self.whole = catalogue  # wherever its texts are
        self.catalogue = catalogue.with_files_below(self._roots)
        self.texts = SegmentTexts(
            [
                _core.OldTexts(entry.number, file, USUAL)
                for entry, file in zip(
                    self.manifest.files_of("texts"), self._map("texts"), strict=True
                )
            ]
        )

    @cached_property
    def core(self) -> _core.Catalogue:
        """The catalogue as the core looks things up in it."""
        catalogue = self.catalogue
        if isinstance(catalogue, SegmentCatalogue):
            return catalogue.core
        return _core.Catalogue.of_list(catalogue.listing)

    @cached_property
    def collection(self) -> _core.Collection:
        """What questions are asked of: the catalogue, and the folders that may be read."""
        collection = _core.Collection(self.core, [encode_name(root) for root in self._roots])
        site = self.site
        collection.set_site(
            site.base_url.encode("utf-8", "replace"), site.url_style.encode("ascii")
        )
        return collection

    @property
    def site(self) -> Site:
        """Where people read what is indexed."""
        return self.site_named or self.manifest.site

    def _map(self, kind: str) -> list[NDArray[np.uint8]]:
        paths = [check_size(self.folder, entry) for entry in self.manifest.files_of(kind)]
        return [map_file(path, follow=False) for path in paths]

    def part_bytes(self) -> dict[str, int]:
        """Give what catalogue, vectors (or codes) and texts take on the disk."""
        kinds = {"catalogue": "catalogue", "vectors": "vectors", "codebook": "vectors"}
        sizes = dict.fromkeys(("catalogue", "vectors", "texts"), 0)
        for entry in self.manifest.files:
            if entry.kind != "segment":
                sizes[kinds.get(entry.kind, "texts")] += entry.size
        if isinstance(self.catalogue, SegmentCatalogue):
            for segment in self.catalogue.segments:
                for kind, size in zip(sizes, segment.part_bytes(), strict=True):
                    sizes[kind] += size
        return sizes

    @property
    def has_codes(self) -> bool:
        """Whether the codes of chunks are in the segments, not in a file of vectors."""
        return isinstance(self.catalogue, SegmentCatalogue) and not self._vectors

    def _check_bounds(self) -> None:
        """Refuse texts of others that unpack to too much, or that documents have in common."""
        length = sum(self.texts.lengths.values())
        if length > most_unpacked(sum(entry.size for entry in self.manifest.files)):
            raise self.refusal(f"texts are not read that unpack to {length:,} bytes")
        segments, offsets = self.catalogue.text_places
        order = np.lexsort((offsets, segments))
        order = order[segments[order] != AWAY]
        ends = (offsets + self.catalogue.text_lengths)[order]
        is_same = segments[order][1:] == segments[order][:-1]
        if (is_same & (ends[:-1] > offsets[order][1:])).any():
            raise Damaged("two documents of the catalogue have text in common")

    @once
    def pack(self) -> Pack | None:
        """The codebook that ships with the model; None if the index has its own, or none."""
        settings = self.manifest.settings
        if settings.keep == "all":
            return None
        return fitting_pack(self.manifest.model.fingerprint, settings.code_bytes)

    @once
    def vectors(self) -> VectorIndex | None:
        """The engine's index; None while nothing is indexed."""
        with self.explaining_damage():
            return self.open_vectors()

    def open_vectors(self, codebook: Codebook | None = None) -> VectorIndex | None:
        """Open the engine's index anew, with another codebook than the shipped one if it is given.

        None while there is nothing in it.
        """
        pack = self.pack if codebook is None else Pack(codebook, None)
        index = self._open_engine(None if pack is None else pack.codebook)
        if index is None or pack is None or codebook is not None:
            return index
        if (own := index.codebook) is not None and own.fingerprint == pack.codebook.fingerprint:
            index.calibration = pack.calibration
        return index

    def _open_engine(self, codebook: Codebook | None) -> VectorIndex | None:
        try:
            index = self._open_codes(codebook)
        except GossamerError as error:
            raise type(error)(f"{self.folder}: {error}") from None
        if index is not None and (dim := index.dim) != (stated := self.manifest.model.dim):
            raise Damaged(f"{self.folder}: vectors have {dim} dimensions, the model {stated}")
        return index

    def _open_codes(self, codebook: Codebook | None) -> VectorIndex | None:
        if self._vectors:
            return VectorIndex(_core.Index.open(self._vectors[0], codebook))
        if not isinstance(self.catalogue, SegmentCatalogue) or not self.catalogue.chunk_count:
            return None
        calibration = None
        if (own := self.own_codebook()) is not None:
            codebook, calibration = own
        if codebook is None:
            raise MissingCodebook("the codes of this index need the model's codebook to open")
        index = VectorIndex(self.catalogue.core.open_codes(codebook, calibration))
        if len(self._opened) > 1:  # they were gathered, and are not read again
            for one in self._opened:
                release_pages(one.file)
        return index

    def own_codebook(self) -> tuple[Codebook, Calibration] | None:
        """Give the codebook that was trained for this index, and its calibration; None without."""
        if not self._codebooks:
            return None
        own = _core.Index.open(self._codebooks[0], None)
        assert own.codebook is not None, "it is saved for its codebook alone"
        return own.codebook, own.calibration

    @once
    def hot(self) -> HotVectors | None:
        """The cache of hot vectors, for all questions."""
        return self.open_hot()

    def save_hot(self, *, at_once: bool = False) -> None:
        """Keep what was learnt about hot vectors, where the folder can be written to.

        Not after each of many searches, unless `at_once`: others wait while a file is written.
        """
        hot: HotVectors | None = vars(self).get("hot")
        now = time.monotonic()
        if hot is None or (now < self._save_hot_at and not at_once):
            return
        self._save_hot_at = now + _SAVE_HOT_EVERY_S
        with suppress(OSError):
            hot.save()

    def open_hot(self) -> HotVectors | None:
        """Open the cache of hot vectors; None if the index keeps none, or is not trusted."""
        kind, _, budget = self.manifest.settings.keep.partition(":")
        if kind != "hot" or not self.is_trusted:
            return None
        model, origin = self.manifest.model, self.manifest.origin
        # A server that was put back to an older state may give ids of chunks again.
        name = f"{self.manifest.uuid}{origin.get('epoch', '')}"
        return HotVectors.open(self.folder, name, model.fingerprint, model.dim, parse_bytes(budget))

    @once
    def words(self) -> FtsIndex | None:
        """The lexical index, if the index keeps one and it is whole; else texts are read."""
        return open_words(self.folder, self.manifest) if self.is_trusted else None

    def may_look_at(self, path: str) -> bool:
        """Whether a file is at or below a folder that was added to an index that is trusted."""
        return self.is_trusted and is_at_or_below(path, self.manifest.roots)

    def refusal(self, what: str) -> Untrusted:
        """Give the error that says what is not done with an index that is not trusted."""
        return refuse(self.folder, self.manifest, what)

    @property
    def home(self) -> Path:
        """The folder that changes are made in; WrongState where there is none."""
        return self.folder

    @property
    def name(self) -> str:
        """What the index is called."""
        return self.folder.name

    @property
    def place(self) -> str:
        """Where it is."""
        return str(self.folder)

    @property
    def remote(self) -> Mapping[str, Json]:
        """What is known of its file, where it is one at an address; nothing of a folder."""
        return {}

    @property
    def word_source(self) -> str:
        """Where the core looks for words: "texts", "postings" or "none"."""
        return "texts"

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know of where it is."""
        return ()

    def read_words(self, ranges: Sequence[Sequence[int]]) -> list[bytes]:
        """Give ranges of the postings; a folder has none."""
        raise WrongState(f"{len(ranges)} ranges of postings are wanted of a folder, which has none")

    @contextmanager
    def explaining_damage(self) -> Iterator[None]:
        """Let damage that is found within say where, and what to do."""
        try:
            yield
        except (Damaged, Truncated) as error:
            raise _as_damage(self.folder, error) from error

    def reopen(self) -> Snapshot:
        """Open the state that was committed last; errors as those of `open_index`."""
        return open_index(self.folder, trust=self.trust)

    def is_current(self) -> bool:
        """Whether no newer state was committed."""
        try:
            return read_manifest(self.folder) == self.manifest
        except (OSError, GossamerError):
            return False


def open_index(folder: str | os.PathLike[str], *, trust: bool = False) -> Snapshot:
    """Open the current state of an index, which is trusted if it was made or accepted here.

    With `trust` it is in any case. Of one that is not, texts that stand in files are away.
    NoIndex if there is none, NotGossamer if the folder holds something else, UnknownVersion if a
    newer release wrote it, Damaged if something of it is missing or wrong.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    for _ in range(_TRIES):
        try:
            return Snapshot(folder, manifest, trust=trust)
        except (FileNotFoundError, GossamerError) as error:
            # A file may have gone because a writer replaced this state just now.
            newer = read_manifest(folder)
            if newer == manifest:
                raise _as_damage(folder, error) from None
            manifest = newer
    raise Damaged(f"{folder} changes faster than it can be read; try again")


def segments_of(snapshot: Snapshot) -> SegmentCatalogue:
    """Give the catalogue of a snapshot that is to be changed, which is one of segments."""
    assert isinstance(snapshot.catalogue, SegmentCatalogue), "an old index is converted first"
    return snapshot.catalogue


def _check_ids(catalogue: Catalogue, manifest: Manifest) -> None:
    ids = catalogue.chunk_ids
    if len(ids) and not 0 < ids[0] <= ids[-1] < manifest.next_chunk_id:
        raise Damaged("the catalogue has chunks that are yet to come")


def _as_damage(folder: Path, error: Exception) -> Exception:
    advice = "run `gossamer check`, take the folder from a backup, or build it again"
    if isinstance(error, GossamerError):
        what = str(error)
        where = "" if what.startswith(str(folder)) else f"{folder}: "
        return type(error)(where + (what if advice in what else f"{what}; {advice}"))
    name = Path(getattr(error, "filename", None) or "a file").name
    return Damaged(f"{folder}: {name} is missing; {advice}")
