"""Packages: one file that brings an edge from one version to another, and says who made it.

`docs/format.md` describes the bytes. Nothing of a package is used before all of it was verified.
"""

from __future__ import annotations

import hmac
import json
import struct
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import BinaryIO, Self

from gossamer import _core
from gossamer.errors import Damaged, InvalidArgument, TooLarge
from gossamer.files import write_file
from gossamer.store.ratio import least_packed
from gossamer.sync.records import PROTOCOL, Base, Head, SectionEntry
from gossamer.text.zstd import ZstdCompressor, ZstdDecompressor, ZstdError

__all__ = ["Package", "write_package"]

_MAGIC = b"GSMPACK1"
_LENGTH = struct.Struct("<I")
_MAC_BYTES = 32
# Sections that hold compressed data already.
_STORED = frozenset({"catalogue", "padding"})
_LEVEL = 9
_BLOCK = 1 << 20
# Zeros, so that a package is not smaller than what it unpacks to allows.
_PADDING = "padding"
# JSON takes many times its bytes once it is read.
_MOST_JSON_BASE, _MOST_JSON_RATIO, _MOST_JSON = 1 << 22, 6, 1 << 26
_AGAIN = "pull again; a package is always made anew"


def write_package(
    path: Path, head: Head, sections: Iterable[tuple[str, Iterable[bytes]]], token: str
) -> Head:
    """Write a package, whole or not at all; give its head, with the sections that it holds.

    Sections are taken in turn, and each block by block: no more than a block is in memory. An
    empty token gives a package that is checked, but that anybody could have made.
    """
    if bool(token) != head.is_signed:
        raise InvalidArgument("a package is signed if, and only if, there is a token")
    with tempfile.TemporaryFile(dir=Path(path).parent) as spool:
        entries = tuple(_pack_section(spool, name, blocks) for name, blocks in sections)
        entries += _pad(spool, entries)
        head = replace(head, sections=entries)
        packed = sum(entry.size for entry in entries)
        spool.seek(0)
        write_file(Path(path), _signed(_front(head), spool, packed, token))
    return head


class Package:
    """A package that was verified: its head, and its sections one by one."""

    def __init__(self, file: BinaryIO, head: Head, start: int) -> None:
        self.head = head
        self._file = file
        self._lock = Lock()
        self._places: dict[str, tuple[int, SectionEntry]] = {}
        for entry in head.sections:
            self._places[entry.name] = (start, entry)
            start += entry.size

    @classmethod
    def open(cls, path: Path, token: str) -> Self:
        """Open a package, once every byte of it was read and found to be as it was written.

        NotGossamer, UnknownVersion, Truncated or Damaged for anything else. With a token nothing
        is accepted that was not signed with it.
        """
        file = open(path, "rb")  # noqa: SIM115 - the package closes it
        try:
            file_size = file.seek(0, 2)
            file.seek(0)
            front = file.read(_core.PACKAGE_START)
            start, head = _read_head(front, file_size)
            _check_signed(head, token)
            _verify(file, front[:start], head, token)
            return cls(file, head, start)
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing can be read after that."""
        self._file.close()

    def has(self, name: str) -> bool:
        """Whether there is such a section."""
        return name in self._places

    def size_of(self, name: str) -> int:
        """Give the unpacked bytes of a section, 0 if there is none."""
        return self._places[name][1].unpacked if name in self._places else 0

    def read(self, name: str, most: int) -> bytes:
        """Give a section; TooLarge if it has more than `most` bytes, empty if there is none."""
        if (size := self.size_of(name)) > most:
            raise TooLarge(
                f"section {name!r} of the package has {size} bytes, and {most} were expected at "
                "most; ask the server for a snapshot"
            )
        return b"".join(self.stream(name))

    def read_json(self, name: str) -> bytes:
        """Give a section of JSON; TooLarge if it unpacks to more than a few times its bytes."""
        _, entry = self._places.get(name, (0, SectionEntry(name, 0, 0, 0)))
        return self.read(name, min(_MOST_JSON, _MOST_JSON_BASE + _MOST_JSON_RATIO * entry.size))

    def stream(self, name: str) -> Iterator[bytes]:
        """Give a section block by block, never more than it says it has; nothing if there is none.

        Damaged if it unpacks to another length.
        """
        if name not in self._places:
            return
        start, entry = self._places[name]
        packed = self._blocks(start, entry.size)
        yield from packed if name in _STORED else _unpack(packed, entry)

    def _blocks(self, start: int, size: int) -> Iterator[bytes]:
        for at in range(start, start + size, _BLOCK):
            with self._lock:
                self._file.seek(at)
                block = self._file.read(min(_BLOCK, start + size - at))
            yield block


def _pack_section(spool: BinaryIO, name: str, blocks: Iterable[bytes]) -> SectionEntry:
    compressor = None if name in _STORED else ZstdCompressor(_LEVEL)
    size = unpacked = crc = 0

    def put(data: bytes) -> None:
        nonlocal size, crc
        size += len(data)
        crc = zlib.crc32(data, crc)
        spool.write(data)

    for block in blocks:
        unpacked += len(block)
        put(block if compressor is None else compressor.compress(block))
    if compressor is not None:
        put(compressor.flush())
    return SectionEntry(name, size, unpacked, crc)


def _pad(spool: BinaryIO, entries: tuple[SectionEntry, ...]) -> tuple[SectionEntry, ...]:
    """Add zeros to sections that unpack to more than a package of their size may."""
    missing = least_packed(sum(entry.unpacked for entry in entries))
    missing -= sum(entry.size for entry in entries)
    if missing <= 0:
        return ()
    # Zeros count as unpacked too.
    missing += missing // 32 + 1
    blocks = (bytes(min(_BLOCK, missing - at)) for at in range(0, missing, _BLOCK))
    return (_pack_section(spool, _PADDING, blocks),)


def _front(head: Head) -> bytes:
    """Give all that stands before the sections."""
    values = {"protocol": PROTOCOL, **asdict(head)}
    header = json.dumps(
        values, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")
    if len(header) > _core.PACKAGE_START - len(_MAGIC) - _LENGTH.size:
        raise TooLarge(f"the head of a package of {len(header)} bytes")
    front = _MAGIC + _LENGTH.pack(len(header)) + header
    # Nothing is written that could not be read.
    _read_head(front, len(front) + sum(entry.size for entry in head.sections) + _MAC_BYTES)
    return front


def _signed(front: bytes, spool: BinaryIO, packed: int, token: str) -> Iterator[bytes]:
    mac = _mac(token)
    mac.update(front)
    yield front
    while packed:
        block = spool.read(min(_BLOCK, packed))
        packed -= len(block)
        mac.update(block)
        yield block
    yield mac.digest()


def _mac(token: str) -> hmac.HMAC:
    return hmac.new(token.encode("utf-8", "surrogatepass"), digestmod="sha256")


def _read_head(start: bytes, file_size: int) -> tuple[int, Head]:
    """Read the head of a package, and where its sections begin."""
    said = json.loads(_core.read_package_head(start, file_size))
    values = said["head"]
    del values["protocol"]
    values["sections"] = tuple(SectionEntry(**entry) for entry in values["sections"])
    values["base"] = values["base"] and Base(**values["base"])
    return said["start"], Head(**values)


def _check_signed(head: Head, token: str) -> None:
    if token and not head.is_signed:
        raise Damaged(
            "the package is not signed, but you gave a token: what came is not from a server that "
            "knows it. Check the address, or start the server with the token"
        )
    if head.is_signed and not token:
        raise Damaged("the package is signed: give the token that the server was started with")


def _verify(file: BinaryIO, front: bytes, head: Head, token: str) -> None:
    """Read every byte; tell a file that was damaged from one that another token signed."""
    mac = _mac(token)
    mac.update(front)
    file.seek(len(front))
    are_whole = True
    for entry in head.sections:
        crc = 0
        for at in range(0, entry.size, _BLOCK):
            block = file.read(min(_BLOCK, entry.size - at))
            mac.update(block)
            crc = zlib.crc32(block, crc)
        are_whole = are_whole and crc == entry.crc32
    is_authentic = hmac.compare_digest(file.read(_MAC_BYTES + 1), mac.digest())
    if is_authentic and are_whole:
        return
    if are_whole and token:
        raise Damaged(
            "the package is not signed with this token, or its head is damaged: compare the token "
            "with the server's, then pull again"
        )
    raise Damaged(f"a checksum of the package does not fit; {_AGAIN}")


def _unpack(packed: Iterable[bytes], entry: SectionEntry) -> Iterator[bytes]:
    """Decompress one frame of exactly the stated length, a block at a time."""
    decompressor = ZstdDecompressor()
    left = entry.unpacked
    try:
        for block in packed:
            if decompressor.eof:
                raise ZstdError("data behind the end")
            while True:
                # One byte more than may come: more than that is never in memory.
                data = decompressor.decompress(block, max_length=min(_BLOCK, left + 1))
                left -= len(data)
                if left < 0:
                    raise ZstdError("too long")
                if data:
                    yield data
                block = b""
                if decompressor.eof or decompressor.needs_input:
                    break
        if left or not decompressor.eof or decompressor.unused_data:
            raise ZstdError("too short")
    except ZstdError as error:
        raise Damaged(
            f"section {entry.name!r} of the package does not unpack ({error}); {_AGAIN}"
        ) from None
