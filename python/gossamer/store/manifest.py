"""The manifest: which files make up the index now. Replacing it is what commits a change."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, TypeVar, cast

from gossamer import _core
from gossamer.errors import Damaged, InvalidArgument, NotGossamer, UnknownVersion
from gossamer.store.hashes import digest_of

__all__ = [
    "FORMAT",
    "MANIFEST",
    "MOST_BYTES",
    "URL_STYLES",
    "VERSION",
    "VERSION_OF_ONE_CATALOGUE",
    "FileEntry",
    "Json",
    "Manifest",
    "ModelStamp",
    "Settings",
    "Site",
    "is_index_file",
    "manifest_of",
    "read_stamp",
]

MANIFEST = "MANIFEST.gossamer"
FORMAT = "gossamer index"
VERSION = 2
VERSION_OF_ONE_CATALOGUE = 1  # that is read, and becomes a newer one with the next change
MOST_BYTES = 1 << 24
URL_STYLES = ("html", "folder", "file")
_NUMBER = "[1-9][0-9]{0,17}"
_NAME = re.compile(
    rf"segment-{_NUMBER}\.gss|(vectors|codebook)-{_NUMBER}\.gsm"
    rf"|catalogue-{_NUMBER}\.gsc|texts-{_NUMBER}\.gst"
)
_MOST_SEGMENTS = 64  # a writer leaves twelve
_MOST_SEGMENT_NUMBER = 1 << 31
_UUID = re.compile(r"[0-9A-Za-z-]{1,64}")
_MOST_MODEL_NAME = 1024  # characters; longer ones are no path of any system
_MOST_DIM = 1 << 16
# Ids of chunks are numbered without gaps of note: an array of a bit for each can be held.
_MOST_CHUNK_ID = 1 << 40
_REPAIR = "take the folder from a backup, or delete it and add the files again"

_TYPES: dict[str, type] = {"str": str, "int": int, "bool": bool, "Mapping": dict}

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelStamp:
    """The model whose vectors the index was built from, and how texts were cut for it."""

    name: str
    fingerprint: str
    dim: int
    max_tokens: int
    chunk_tokens: int
    probe: tuple[float, ...] = ()  # the vector of a fixed text, to notice a silent change


@dataclass(frozen=True, slots=True)
class Settings:
    """What the owner of the index chose."""

    code_bytes: int = 32
    store_text: bool = False
    keep: str = "none"  # vectors: "none", "hot:50MB" or "all"
    lexical: str = "scan"  # "scan" or "fts5"
    walk: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Site:
    """Where people read what was indexed."""

    base_url: str = ""  # of the folder that was indexed; "" if nobody knows
    url_style: str = "html"  # what the site makes of Markdown: "html", "folder" or "file"

    @classmethod
    def named(cls, base_url: str, url_style: str = "") -> Site | None:
        """Give the site that somebody names, or None; InvalidArgument for one that is none."""
        if url_style not in ("", *URL_STYLES):
            raise InvalidArgument(
                f"a URL style is one of {', '.join(URL_STYLES)}, got {url_style!r}"
            )
        if not base_url:
            if url_style:
                raise InvalidArgument(f"the URL style {url_style!r} needs a base URL with it")
            return None
        if not _core.is_safe_url(base_url.encode("utf-8", "replace")):
            raise InvalidArgument(
                "a base URL is one of http or https, or begins with a slash, such as "
                f"https://example.org/docs/ or /docs/; got {base_url!r}"
            )
        return cls(base_url, url_style or URL_STYLES[0])


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the index, as it must be."""

    name: str
    size: int
    digest: str

    @property
    def kind(self) -> str:
        """What the file is: "segment", "vectors" or "codebook"; once "catalogue" or "texts"."""
        return self.name.partition("-")[0]

    @property
    def number(self) -> int:
        """What tells it from others of its kind; no segment has one that another had before."""
        return int(self.name.partition("-")[2].partition(".")[0])


@dataclass(frozen=True, slots=True)
class Manifest:
    """One state of an index."""

    uuid: str
    generation: int
    created: str  # ISO 8601, UTC
    changed: str
    model: ModelStamp
    settings: Settings
    roots: tuple[str, ...]
    next_chunk_id: int
    files: tuple[FileEntry, ...]
    counts: Mapping[str, int] = field(default_factory=dict)  # for status
    # What this index follows, and how far it has come; empty if it follows none.
    origin: Mapping[str, Json] = field(default_factory=dict)
    site: Site = field(default_factory=Site)  # that hits lead to

    def values(self) -> dict[str, Any]:
        """Give what JSON says of it; nothing of a site that nobody named."""
        values = asdict(self)
        if self.site == Site():
            del values["site"]
        return values

    def files_of(self, kind: str) -> list[FileEntry]:
        """Give the files of a kind."""
        return [entry for entry in self.files if entry.kind == kind]

    def digest(self) -> str:
        """Give what tells this state of the files from any other."""
        names = [f"{entry.name} {entry.digest}" for entry in self.files]
        return digest_of("\n".join(names).encode())

    def to_bytes(self) -> bytes:
        """Give the manifest as it stands in its file: JSON, and a line with its checksum."""
        version = VERSION_OF_ONE_CATALOGUE if self.files_of("catalogue") else VERSION
        values = {"format": FORMAT, "version": version, **self.values()}
        body = json.dumps(values, sort_keys=True, indent=1).encode("ascii") + b"\n"
        return body + digest_of(body).encode("ascii") + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> Manifest:
        """Read a manifest; NotGossamer, UnknownVersion or Damaged for anything else."""
        body, _, checksum = data[:-1].rpartition(b"\n")
        is_whole = len(data) <= MOST_BYTES and checksum == digest_of(body + b"\n").encode()
        values = _parse(body)
        if values is None or values.get("format") != FORMAT:
            if is_whole or b"gossamer index" not in data[:MOST_BYTES]:
                raise NotGossamer(f"{MANIFEST} is not the manifest of a Gossamer index")
            raise Damaged(f"{MANIFEST} is damaged; {_REPAIR}")
        known = (VERSION_OF_ONE_CATALOGUE, VERSION)
        if (version := values.get("version")) not in known and is_whole:
            raise UnknownVersion(
                f"this index is of format version {version}, and this release reads {VERSION}; "
                "use the release that wrote it, or a newer one"
            )
        if not is_whole or data[-1:] != b"\n":
            raise Damaged(f"the checksum of {MANIFEST} does not fit; {_REPAIR}")
        try:
            return manifest_of(values)
        except (KeyError, TypeError, ValueError) as error:
            raise Damaged(f"{MANIFEST} does not hold what it should ({error}); {_REPAIR}") from None


def is_index_file(name: str) -> bool:
    """Whether this is how a file is called that a manifest can name."""
    return _NAME.fullmatch(name) is not None


def read_stamp(values: Mapping[str, Any]) -> ModelStamp:
    """Make a stamp of what JSON says of it; KeyError, TypeError or ValueError if it is none."""
    model = dict(values)
    model["probe"] = tuple(float(number) for number in _list(model["probe"]))
    if not all(math.isfinite(number) for number in model["probe"]):
        raise ValueError("a probe that is not finite")
    stamp = _record(ModelStamp, model)
    if not 0 < len(stamp.name) <= _MOST_MODEL_NAME or not stamp.name.isprintable():
        raise ValueError(f"model {stamp.name[:50]!r}")
    if not stamp.fingerprint.isprintable():
        raise ValueError(f"fingerprint {stamp.fingerprint[:50]!r}")
    if not 0 < stamp.dim <= _MOST_DIM or len(stamp.probe) not in (0, stamp.dim):
        raise ValueError(f"dim={stamp.dim}")
    return stamp


def _parse(body: bytes) -> dict[str, Any] | None:
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def manifest_of(values: dict[str, Any]) -> Manifest:
    """Make a manifest of what JSON says; KeyError, TypeError or ValueError if it is none."""
    files = tuple(_record(FileEntry, entry) for entry in _list(values["files"]))
    for entry in files:
        if not is_index_file(entry.name):
            raise ValueError(f"a file called {entry.name!r}")
    if len({entry.name for entry in files}) != len(files):
        raise ValueError("a file named twice")
    for kind, most in (("vectors", 1), ("catalogue", 1), ("codebook", 1)):
        if sum(entry.kind == kind for entry in files) > most:
            raise ValueError(f"more than one file of {kind}")
    numbers = [entry.number for entry in files if entry.kind == "segment"]
    if len(numbers) > _MOST_SEGMENTS or max(numbers, default=0) >= _MOST_SEGMENT_NUMBER:
        raise ValueError("more segments than there can be")
    kinds = {entry.kind for entry in files}
    if "catalogue" in kinds and kinds & {"segment", "codebook"}:
        raise ValueError("files of two versions")
    if "texts" in kinds and "catalogue" not in kinds:
        raise ValueError("no catalogue")
    values = {"origin": {}, "site": {}, **values}  # which came later than the rest
    rest = {name: values[name] for name in (f.name for f in fields(Manifest))}
    rest |= {
        "files": files,
        "model": read_stamp(values["model"]),
        "settings": _record(Settings, values["settings"]),
        "site": _record(Site, values["site"]),
        "roots": tuple(_list(values["roots"])),
    }
    if not all(isinstance(root, str) for root in rest["roots"]):
        raise TypeError("roots that are no text")
    if not all(map(_is_place, rest["roots"])):
        raise ValueError("a root that is no absolute path")
    if not all(isinstance(count, int) for count in dict(values["counts"]).values()):
        raise TypeError("counts that are no numbers")
    if rest["site"].url_style not in URL_STYLES:
        raise ValueError(f"url_style={rest['site'].url_style!r}")
    manifest = _record(Manifest, rest)
    if not _UUID.fullmatch(manifest.uuid) or manifest.next_chunk_id > _MOST_CHUNK_ID:
        raise ValueError(f"uuid={manifest.uuid!r}, next_chunk_id={manifest.next_chunk_id}")
    return manifest


def _is_place(root: str) -> bool:
    """Whether this is the path of a folder on some system, without any way out of it."""
    is_absolute = PurePosixPath(root).is_absolute() or PureWindowsPath(root).is_absolute()
    try:
        root.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return is_absolute and "\0" not in root and ".." not in re.split(r"[/\\]", root)


def _list(values: Any) -> list[Any]:
    if not isinstance(values, list):
        raise TypeError(f"a list, got {values!r}")
    return values


def _record(cls: type[T], values: dict[str, Any]) -> T:
    """Make a record of these values, all of them of the types that its fields say."""
    record = cls(**values)
    for item in fields(cls):  # type: ignore[arg-type]
        value: Any = getattr(record, item.name)
        expected = _TYPES.get(str(item.type).partition("[")[0], object)
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise TypeError(f"{item.name}={value!r}")
        if expected is int and not 0 <= cast(int, value) < 1 << 63:
            raise ValueError(f"{item.name}={value}")
    return record
