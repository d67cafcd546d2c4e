"""What server and edge speak of: modes, states, packages, pushes, conflicts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gossamer.errors import InvalidArgument
from gossamer.vectors.options import parse_bytes

__all__ = [
    "Base",
    "Building",
    "Conflict",
    "Head",
    "Mode",
    "Plan",
    "PushItem",
    "PushResult",
    "SectionEntry",
    "check_texts",
]

# The version of packages and of the routes that carry them.
PROTOCOL = 1

# The fewest neighbors that a node of a slim graph selects.
LEAST_DEGREE = 2
# What an edge's cache of vectors takes for an entry besides the vector.
HOT_ENTRY_BYTES = 24

_SCALARS = ("f16", "int8")
_MOST_DEGREE = 32
_MODES = "codes, hot:BYTES such as hot:5MB, or slim, slim:int8, slim:f16:8"


@dataclass(frozen=True, slots=True)
class Mode:
    """What an edge keeps of each chunk besides its place in the text."""

    kind: str  # "codes", "hot" (codes, and some vectors) or "slim" (a pruned graph and all vectors)
    hot_bytes: int = 0
    scalar: str = "f16"  # of the vectors of a slim edge
    degree: int = 8  # neighbors that a node of a slim graph selects

    @classmethod
    def parse(cls, text: str) -> Mode:
        """Read a mode as people write it; InvalidArgument says what there is."""
        kind, _, rest = text.partition(":")
        if kind == "codes" and not rest:
            return cls("codes")
        if kind == "hot" and rest:
            return cls("hot", hot_bytes=parse_bytes(rest))
        if kind == "slim" and (found := re.fullmatch(r"(f16|int8)?(?::(\d{1,3}))?", rest)):
            degree = int(found[2] or 8)
            if LEAST_DEGREE <= degree <= _MOST_DEGREE:
                return cls("slim", scalar=found[1] or _SCALARS[0], degree=degree)
        raise InvalidArgument(f"a mode is {_MODES}; got {text!r}")

    def __str__(self) -> str:
        if self.kind == "slim":
            return f"slim:{self.scalar}:{self.degree}"
        return f"hot:{self.hot_bytes}" if self.kind == "hot" else self.kind

    @property
    def profile(self) -> str:
        """What two edges share if their content is the same: hot ones differ in a cache only."""
        return str(self) if self.kind == "slim" else "codes"


def check_texts(texts: str) -> str:
    """Give what an edge keeps of texts; InvalidArgument for what there is not."""
    if texts not in ("kept", "away"):
        raise InvalidArgument(f"texts are 'kept' or 'away' on an edge, got {texts!r}")
    return texts


@dataclass(frozen=True, slots=True)
class Base:
    """The state that an edge is in: what a delta begins from."""

    epoch: str
    version: int
    state: str  # hex


@dataclass(frozen=True, slots=True)
class SectionEntry:
    """One section of a package."""

    name: str
    size: int  # bytes as packed
    unpacked: int
    crc32: int


@dataclass(frozen=True, slots=True)
class Head:
    """What a package says of itself; the MAC at its end covers it and everything behind it."""

    kind: str  # "delta" or "snapshot"
    index: str  # uuid of the server's index
    mode: str
    texts: str  # "kept" or "away"
    base: Base | None  # None for a snapshot
    epoch: str
    version: int  # of the index that the package leads to
    state: str
    next_chunk_id: int
    is_signed: bool
    model: Mapping[str, object] = field(default_factory=dict)  # a ModelStamp
    settings: Mapping[str, object] = field(default_factory=dict)  # code_bytes, lexical
    sections: tuple[SectionEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Building:
    """A package that cannot be had yet: the server is making what it needs."""

    done: int  # chunks
    total: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What an edge would take, by part, before it is made."""

    mode: str
    texts: str
    estimate: Mapping[str, int]  # bytes of vectors (codes), graph, catalogue, texts, total


@dataclass(frozen=True, slots=True)
class PushItem:
    """A change that an edge made: a text or a file, put or (without its content) removed.

    `base` is the hash of what the edge saw under this id, "" if nothing.
    """

    op: str  # a uuid: pushing it twice does it once
    id: str
    base: str = ""
    text: Mapping[str, object] | None = None  # as Index.add_texts takes it
    file: bytes | None = None
    is_file: bool = False  # of a removal: a file that was pushed goes, not a text

    @property
    def key(self) -> tuple[bool, str]:
        """What it changes: whether that is a file, and its id or name."""
        return self.is_file or self.file is not None, self.id


@dataclass(frozen=True, slots=True)
class PushResult:
    """What became of a pushed change."""

    op: str
    id: str
    outcome: str  # "stored", "removed", "unchanged", "refused"
    note: str = ""  # of a conflict: what was there; of a refusal: why
    conflict: int = 0  # its number; 0 if there was none


@dataclass(frozen=True, slots=True)
class Conflict:
    """A change that took the place of one it did not know of. The last to arrive won."""

    number: int
    id: str
    at: str  # ISO 8601, by the server's clock; orders nothing
    version: int  # that the winner came with
    note: str
    lost: str = ""  # the text that was replaced; only when asked for by number
    # The same with title, markup and metadata, as Index.add_texts takes it; empty for a file.
    lost_text: Mapping[str, object] = field(default_factory=dict)
