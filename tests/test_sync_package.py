"""Packages: what goes in comes out, and nothing that was changed on the way does."""

import hmac
import json
import struct
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from faults import count_calls, needs_fork, run_killed_at
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import (
    Damaged,
    GossamerError,
    InvalidArgument,
    NotGossamer,
    TooLarge,
    Truncated,
    UnknownVersion,
)
from gossamer.sync import sections
from gossamer.sync.package import Package, write_package
from gossamer.sync.records import Base, Conflict, Head, SectionEntry
from gossamer.text.zstd import compress

HEAD = Head(
    kind="delta",
    index="1f" * 16,
    mode="codes",
    texts="kept",
    base=Base("e" * 32, 3, "ab" * 16),
    epoch="e" * 32,
    version=5,
    state="cd" * 16,
    next_chunk_id=77,
    is_signed=True,
    model={"name": "tiny", "probe": [0.5, 0.25]},
    settings={"code_bytes": 8},
)
SECTIONS = {"catalogue": b"\x00\xffstored as it is", "texts": b"many words " * 500, "rows": b"abc"}


def write(path: Path, token: str = "secret", **changes: object) -> Path:
    head = replace(HEAD, is_signed=bool(token), **changes)
    write_package(path, head, ((name, [data]) for name, data in SECTIONS.items()), token)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "one.gsp")


def test_a_package_gives_back_its_head_and_its_sections(path: Path) -> None:
    with Package.open(path, "secret") as package:
        assert replace(package.head, sections=()) == HEAD
        assert {name: package.read(name, 10_000) for name in SECTIONS} == SECTIONS
        assert [entry.name for entry in package.head.sections] == list(SECTIONS)


def test_the_writer_gives_the_head_that_is_in_the_package(tmp_path: Path) -> None:
    written = write_package(tmp_path / "a", HEAD, [("rows", [b"x", b"yz"])], "secret")

    with Package.open(tmp_path / "a", "secret") as package:
        assert package.head == written
    assert written.sections[0].unpacked == 3


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    assert write(tmp_path / "a").read_bytes() == write(tmp_path / "b").read_bytes()


def test_a_section_that_is_not_there_is_empty(path: Path) -> None:
    with Package.open(path, "secret") as package:
        assert not package.has("hot")
        assert package.read("hot", 0) == b""
        assert list(package.stream("hot")) == []


def test_a_section_that_is_larger_than_expected_is_refused(path: Path) -> None:
    with Package.open(path, "secret") as package, pytest.raises(TooLarge, match="texts"):
        package.read("texts", 5499)


def test_sections_are_written_and_read_block_by_block(tmp_path: Path) -> None:
    block = bytes(range(256)) * 4096

    def blocks() -> Iterator[bytes]:
        for _ in range(9):
            yield block

    write_package(tmp_path / "a", HEAD, [("texts", blocks())], "secret")
    with Package.open(tmp_path / "a", "secret") as package:
        parts = list(package.stream("texts"))

    assert b"".join(parts) == block * 9
    assert max(map(len, parts)) <= 1 << 20
    assert (tmp_path / "a").stat().st_size < len(block)


def test_two_sections_can_be_read_at_the_same_time(path: Path) -> None:
    with Package.open(path, "secret") as package:
        both = list(zip(package.stream("texts"), package.stream("catalogue"), strict=False))

    assert both[0] == (SECTIONS["texts"], SECTIONS["catalogue"])


def test_every_truncation_is_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    cut = tmp_path / "cut"
    for length in range(len(data)):
        cut.write_bytes(data[:length])
        with pytest.raises((Truncated, NotGossamer, UnknownVersion, Damaged)):
            Package.open(cut, "secret")


def test_every_flipped_byte_is_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    changed = tmp_path / "changed"
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << (place % 8)
        changed.write_bytes(flipped)
        with pytest.raises(GossamerError):
            Package.open(changed, "secret")


def test_bytes_behind_the_end_are_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")

    with pytest.raises(Truncated):
        Package.open(path, "secret")


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=300), header=st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, header: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "arbitrary.gsp"
    for content in (data, b"GSMPACK1" + struct.pack("<I", len(header)) + header + data):
        path.write_bytes(content)
        with pytest.raises(GossamerError):
            Package.open(path, "")


def test_another_token_is_told_from_a_damaged_file(path: Path) -> None:
    with pytest.raises(Damaged, match="token"):
        Package.open(path, "another")

    data = bytearray(path.read_bytes())
    data[-40] ^= 1
    path.write_bytes(data)
    with pytest.raises(Damaged, match="checksum"):
        Package.open(path, "secret")


def test_an_unsigned_package_is_refused_by_whoever_has_a_token(tmp_path: Path) -> None:
    path = write(tmp_path / "a", token="")

    with pytest.raises(Damaged, match="not signed"):
        Package.open(path, "secret")


def test_a_signed_package_asks_for_its_token(path: Path) -> None:
    with pytest.raises(Damaged, match="give the token"):
        Package.open(path, "")


def test_without_a_token_a_package_is_still_checked(tmp_path: Path) -> None:
    path = write(tmp_path / "a", token="")
    with Package.open(path, "") as package:
        assert not package.head.is_signed

    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(Damaged):
        Package.open(path, "")


def test_a_head_that_says_other_than_it_is_signed_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        write_package(tmp_path / "a", HEAD, [], "")


def test_a_later_protocol_is_refused_politely(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"protocol":1', b'"protocol":2'))

    with pytest.raises(UnknownVersion, match="version 2"):
        Package.open(path, "secret")


def test_a_later_layout_is_refused_politely(path: Path) -> None:
    path.write_bytes(b"GSMPACK2" + path.read_bytes()[8:])

    with pytest.raises(UnknownVersion, match="up to date"):
        Package.open(path, "secret")


def test_something_else_is_not_a_package(path: Path) -> None:
    path.write_bytes(b"<html>404</html>")

    with pytest.raises(NotGossamer):
        Package.open(path, "")


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "other"},
        {"kind": "snapshot"},
        {"base": None},
        {"version": -1},
        {"version": True},
        {"texts": "some"},
        {"more": 1},
        {"sections": [{"name": "../x", "size": 0, "unpacked": 0, "crc32": 0}]},
        {"sections": [{"name": "rows", "size": 0, "unpacked": 1 << 50, "crc32": 0}]},
        {"sections": [{"name": "catalogue", "size": 0, "unpacked": 9, "crc32": 0}]},
        {"sections": [{"name": "rows", "size": -1, "unpacked": 9, "crc32": 0}]},
        {"sections": [{"name": "removed", "size": 0, "unpacked": 1 << 20, "crc32": 0}]},
        {"protocol": True},
        {"protocol": 1.0},
        {"protocol": "1"},
        {"sections": [{"name": "rows", "size": 0, "unpacked": 0, "crc32": 0}] * 2},
        {"sections": "rows"},
    ],
)
def test_a_head_that_makes_no_sense_is_refused_though_it_is_checked(
    path: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 8)
    header = json.dumps(json.loads(data[12 : 12 + length]) | {"sections": []} | change).encode()
    front = b"GSMPACK1" + struct.pack("<I", len(header)) + header
    path.write_bytes(front + hmac.digest(b"secret", front, "sha256"))

    with pytest.raises(Damaged, match="head of the package"):
        Package.open(path, "secret")


@pytest.mark.parametrize("unpacked", [0, 999, 1001, 1 << 40])
def test_a_section_that_unpacks_to_another_length_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch, unpacked: int
) -> None:
    package = Package.open(path, "secret")
    packed = compress(bytes(1000))
    path.write_bytes(packed)
    entry = SectionEntry("rows", len(packed), unpacked, 0)
    lying = Package(open(path, "rb"), replace(package.head, sections=(entry,)), 0)  # noqa: SIM115

    with package, lying, pytest.raises(Damaged, match="unpack"):
        list(lying.stream("rows"))


@needs_fork
def test_a_writer_that_is_killed_leaves_the_old_package_or_the_new_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a")
    old = path.read_bytes()
    new = write(tmp_path / "b", version=6).read_bytes()

    calls = count_calls(lambda: write(tmp_path / "c", version=6))
    for n in range(1, calls + 1):
        path.write_bytes(old)
        run_killed_at(n, lambda: write(path, version=6))
        assert path.read_bytes() in (old, new)


def test_small_sections_give_back_what_was_put_in() -> None:
    keys = [(True, "/a/\udcff"), (False, "ü")]
    touched = [sections.Touched((True, "/x"), -5, 3)]
    conflicts = [Conflict(1, "a", "2026-01-01T00:00:00+00:00", 4, "noted")]
    ids, rows = sections.unpack_hot(sections.pack_hot([3, 9], np.eye(2, 4)), 4)

    assert sections.unpack_removed(sections.pack_removed(keys)) == keys
    assert sections.unpack_touched(sections.pack_touched(touched)) == touched
    assert sections.unpack_absent(sections.pack_absent([7, 8])) == {7, 8}
    assert sections.unpack_conflicts(sections.pack_conflicts(conflicts)) == conflicts
    assert ids.tolist() == [3, 9]
    assert (rows == np.eye(2, 4)).all()


def test_small_sections_that_are_not_there_are_empty() -> None:
    assert sections.unpack_removed(b"") == sections.unpack_touched(b"") == []
    assert sections.unpack_absent(b"") == set()
    assert len(sections.unpack_hot(b"", 4)[0]) == 0


@settings(max_examples=300, deadline=None)
@given(data=st.one_of(st.binary(max_size=60), st.text('[]{}0123456789,"etruflsa-', max_size=60)))
def test_small_sections_refuse_anything_else(data: bytes | str) -> None:
    raw = data.encode() if isinstance(data, str) else data
    for unpack in (
        sections.unpack_removed,
        sections.unpack_touched,
        sections.unpack_absent,
        sections.unpack_conflicts,
        lambda some: sections.unpack_hot(some, 2),
    ):
        try:
            unpack(raw)
        except Damaged:
            continue


@pytest.mark.parametrize("unpack", [sections.unpack_removed, sections.unpack_absent])
def test_lists_in_lists_are_counted_before_they_are_made(
    unpack: Callable[[bytes], object],
) -> None:
    bomb = b"[" + b"[]," * 500_000 + b"0]"

    tracemalloc.start()
    with pytest.raises(Damaged, match="more lists"):
        unpack(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 3 * len(bomb)


def test_names_may_hold_any_signs() -> None:
    keys = [(True, '/[[{{\\",[['), (False, '"],["[')]

    assert sections.unpack_removed(sections.pack_removed(keys)) == keys


def test_a_small_section_is_not_read_beyond_its_limit(tmp_path: Path) -> None:
    blocks = (b" " * (1 << 20) for _ in range(65))
    write_package(tmp_path / "a", HEAD, [("removed", blocks)], "secret")

    with Package.open(tmp_path / "a", "secret") as package, pytest.raises(TooLarge):
        package.read_json("removed")
