"""The state of an index that is a file at an address: what a question needs of it is fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gossamer import _core
from gossamer.errors import (
    Damaged,
    InvalidArgument,
    NotGossamer,
    Truncated,
    UnknownVersion,
    Untrusted,
    WrongState,
)
from gossamer.models.packs import fitting_pack
from gossamer.once import once
from gossamer.properties import cached_property
from gossamer.remote.cache import Outgrown
from gossamer.remote.source import RemoteBytes
from gossamer.single.checks import (
    SEGMENT_NUMBER,
    check_engine,
    check_places,
    check_texts,
    read_manifest,
)
from gossamer.single.container import Container
from gossamer.single.kinds import BLOCKS, CATALOGUE, ENGINE, MANIFEST, NAMES, SEGMENT, WORDS
from gossamer.store import HotVectors, Snapshot
from gossamer.store.codecs import USUAL
from gossamer.store.manifest import Json
from gossamer.store.ratio import most_unpacked
from gossamer.store.segments import SegmentCatalogue, SegmentTexts
from gossamer.vectors.codes import Codebook
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["RemoteSnapshot", "open_file"]

_HEAD = 64 + 64 * 32
_WORDS_START = 40  # bytes that say how long the beginning of the words is
_FIRST_WORDS = 1 << 15
# Without words in the file, so much of its texts is fetched to look for them there.
_MOST_SCANNED = 1 << 21
_BROKEN = (Damaged, NotGossamer, Truncated, UnknownVersion)
# What another look at the file may mend: it was replaced, or what was kept of it is damaged, or
# there is too much of that.
_AGAIN = (Damaged, Truncated, Outgrown)


def open_file(url: str, *, trust: bool = False) -> RemoteSnapshot:
    """Open the file that is at an address now; errors as those of an import."""
    if trust:
        raise InvalidArgument(
            "a file at an address is not trusted, as its host may replace it at any time; fetch it "
            "and import it, to have an index of your own"
        )
    bytes = RemoteBytes(url)
    try:
        return RemoteSnapshot(bytes)
    except _AGAIN:
        return RemoteSnapshot(RemoteBytes(url))  # nothing of it is here by now


class RemoteSnapshot(Snapshot):
    """One state of such an index, which is a stranger's: nothing that it names is used."""

    def __init__(self, bytes: RemoteBytes) -> None:
        """Read its manifest and catalogue; errors as those of an import."""
        self.bytes = bytes
        self.folder = bytes.folder
        self.trust = False
        self.is_trusted = False
        self._roots = ()
        with self.explaining_damage():
            bytes.bring([(0, min(_HEAD, bytes.size))])
            self._container = Container(bytes.view)
            self._open()

    def _open(self) -> None:
        file = self._container
        if file.has(CATALOGUE):
            raise UnknownVersion("it is of an earlier release; import it, and export it again")
        catalogue = [kind for kind in SEGMENT if kind != BLOCKS]
        self._bring([MANIFEST, *catalogue])
        # Whatever it says of folders and servers is nobody's here.
        self.manifest = replace(read_manifest(file), roots=(), origin={}, files=())
        fetched = sum(file.lengths.get(kind, 0) for kind in catalogue)
        # A stranger's catalogue is verified as a whole, all of its file that it has: no texts.
        segment = self._segment_of(catalogue)
        if segment.unpacked_bytes > most_unpacked(fetched):
            raise Damaged(f"the catalogue unpacks to {segment.unpacked_bytes:,} bytes")
        self.catalogue = SegmentCatalogue([segment], ())
        self.texts = _RemoteTexts(
            self._segment_of(SEGMENT), self.bytes, file.offsets.get(BLOCKS, 0)
        )
        check_places(self.catalogue, self.manifest)
        check_texts(self.catalogue, segment.text_bytes, self.bytes.size)

    @property
    def home(self) -> Path:
        """There is none; WrongState says what can be done."""
        raise WrongState(
            f"this index is a file at {self.place}: it can be searched, and nothing else; "
            "fetch it and `gossamer import FILE`, to have an index of your own"
        )

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.bytes.file.name

    @property
    def place(self) -> str:
        """Its address."""
        return self.bytes.url

    @property
    def remote(self) -> Mapping[str, Json]:
        """The address, and what was fetched of how much."""
        return {
            "url": self.bytes.url,
            "bytes": self.bytes.size,
            "cached": self.bytes.bytes_here,
            "fetched": self.bytes.file.bytes_fetched,
            "requests": self.bytes.file.requests,
        }

    @once
    def word_source(self) -> str:
        """Where words are looked up: in postings; without them in texts, if these are few."""
        if self._container.has(WORDS):
            self._attach_words()
            return "postings"
        if self._container.lengths.get(BLOCKS, 0) > _MOST_SCANNED:
            return "none"
        self._bring([BLOCKS])
        return "texts"

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What to know of the file and its host."""
        found = []
        if self.bytes.is_whole:
            found.append(
                f"the host of {self.place} has no byte ranges: all of the file was fetched"
            )
        return tuple(found)

    def read_words(self, ranges: Sequence[Sequence[int]]) -> list[bytes]:
        """Give ranges of the words, each from a place on and so many bytes."""
        start, size = self._container.offsets[WORDS], self._container.lengths[WORDS]
        if any(at + length > size for at, length in ranges):
            raise Damaged("words lie beyond their section")
        self.bytes.bring((start + at, length) for at, length in ranges)
        return [self.bytes.read(start + at, length) for at, length in ranges]

    def _open_engine(self, codebook: Codebook | None) -> VectorIndex | None:
        """Open the engine's index: all codes are fetched, and all vectors where it keeps them."""
        kinds = [kind for kind in ENGINE if self._container.has(kind)]
        if not kinds and not self.catalogue.chunk_count:
            return None
        with self.explaining_damage():
            self._bring(kinds)
            for kind in kinds:
                self._container.section(kind)  # compares its checksum
            stamp, settings = self.manifest.model, self.manifest.settings
            pack = fitting_pack(stamp.fingerprint, settings.code_bytes)
            shared = codebook if pack is None else pack.codebook
            index = VectorIndex(_core.Index.open(self.bytes.view, shared))
            check_engine(index, self.manifest, self.catalogue)
        return index if self.catalogue.chunk_count else None

    def open_hot(self) -> HotVectors | None:
        """Give nothing: no vectors are remembered of it."""
        return None

    def part_bytes(self) -> dict[str, int]:
        """Give what the parts of the file take, here or not."""
        sizes: dict[str, int] = {}
        for kind, length in self._container.lengths.items():
            name = NAMES.get(kind, "others")
            sizes[name] = sizes.get(name, 0) + length
        return sizes

    def is_current(self) -> bool:
        """It is, until a part that is fetched says otherwise."""
        return not self.is_lost

    def reopen(self) -> RemoteSnapshot:
        """Open the file that is at the address now."""
        return open_file(self.bytes.address)

    def refusal(self, what: str) -> Untrusted:
        """Give the error that says what is not done with a file of somebody else."""
        return Untrusted(
            f"this index is a file at {self.place}, which somebody else made, so {what}. It names "
            f"the model {self.manifest.model.name!r}; `--model PLACE` says where that is on this "
            "machine"
        )

    @contextmanager
    def explaining_damage(self) -> Iterator[None]:
        """Let damage that is found within say where; what another look may mend is not kept."""
        try:
            yield
        except (*_BROKEN, Outgrown) as error:
            if isinstance(error, _AGAIN) and not self.is_lost:
                self.is_lost = True
                self.bytes.drop()
            if isinstance(error, Outgrown) or self.place in str(error):
                raise
            what = f"the file at {self.place} cannot be used: {error}"
            raise type(error)(what) from error

    def _segment_of(self, kinds: Sequence[int]) -> _core.Segment:
        return _core.Segment.of_stranger(SEGMENT_NUMBER, self.bytes.view, kinds, USUAL)

    def _bring(self, kinds: Iterable[int]) -> None:
        file = self._container
        lengths, offsets = file.lengths, file.offsets
        self.bytes.bring((offsets[kind], lengths[kind]) for kind in kinds if file.has(kind))

    def _attach_words(self) -> None:
        start, size = self._container.offsets[WORDS], self._container.lengths[WORDS]
        self.bytes.bring([(start, min(size, _FIRST_WORDS))])
        head = self.bytes.read(start, min(size, _WORDS_START))
        length = _core.Collection.postings_head_bytes(head, size)
        self.collection.attach_postings(self.bytes.read(start, min(length, size)), size)


class _RemoteTexts(SegmentTexts):
    """The texts of the file, of which blocks are fetched when they are read."""

    def __init__(self, segment: _core.Segment, bytes: RemoteBytes, start: int) -> None:
        super().__init__([segment])
        self._segment = segment
        self._bytes = bytes
        self._start = start  # of the blocks, in the file
        self.read = self._read

    def bring(self, spans: Iterable[tuple[int, int, int]]) -> None:
        """Fetch what is needed of these texts, together."""
        ranges = [self._segment.packed_range(start, end) for _, start, end in spans]
        self._bytes.bring((self._start + at, length) for at, length in ranges)

    def _read(self, segment: int, start: int, end: int) -> bytes:
        self.bring([(segment, start, end)])
        return self.core.read(segment, start, end)
