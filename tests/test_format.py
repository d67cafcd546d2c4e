"""Index files of every format version open and answer; damaged ones are refused, with the reason.

The layout that these tests assume is that of docs/format.md.
"""

import json
import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gossamer import Codebook, Effort, GossamerError, VectorIndex
from gossamer.errors import Damaged, NotGossamer, Truncated, UnknownVersion

GOLDEN = Path(__file__).parent / "data" / "format" / "v1"
ANSWERS = json.loads((GOLDEN / "answers.json").read_text(encoding="utf-8"))
NAMES = sorted(ANSWERS)
HEADER = 64
ENTRY = 32
SECTIONS = {
    1: "meta",
    2: "codebook",
    3: "codes",
    4: "vectors",
    5: "hot nodes",
    6: "graph",
    7: "source graph",
    8: "ids",
    9: "deleted",
    10: "calibration",
}


@dataclass(frozen=True)
class Section:
    kind: str
    checksum: int
    start: int
    end: int


def sections_of(data: bytes) -> list[Section]:
    """Read the table of a good file."""
    count = struct.unpack_from("<I", data, 12)[0]
    entries = [struct.unpack_from("<IIQQQ", data, HEADER + ENTRY * i) for i in range(count)]
    return [
        Section(SECTIONS[kind], checksum, offset, offset + length)
        for kind, checksum, offset, length, _ in entries
    ]


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def with_header_checksum(data: bytes) -> bytes:
    """Mend the header's checksum, so that what stands in it is looked at."""
    return data[:28] + struct.pack("<I", crc32c(data[:28])) + data[32:]


def data_of(name: str) -> bytes:
    return (GOLDEN / f"{name}.gossamer").read_bytes()


def codebook_of(name: str) -> Codebook | None:
    if name != "shared-codebook":
        return None
    return Codebook.from_bytes((GOLDEN / "shared.codebook").read_bytes())


def vectors_of(name: str):
    rows = np.load(GOLDEN / "vectors.npz")["vectors"].astype(np.float32)
    return lambda ids: rows[ids // 10**10 if name == "coarse" else ids]


def search(index: VectorIndex, name: str, strategy: str = "exact"):
    queries = np.load(GOLDEN / "vectors.npz")["queries"]
    plenty = Effort(rerank=200, beam=200, ratio=1.0)
    return index.search(queries, 5, effort=plenty, strategy=strategy, vectors_of=vectors_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_answers_as_when_it_was_made(name):
    index = VectorIndex.open(GOLDEN / f"{name}.gossamer", codebook=codebook_of(name), verify=True)

    found = search(index, name)

    assert found.distances == pytest.approx(np.array(ANSWERS[name]["distances"]), abs=1e-4)
    assert np.mean(found.ids == ANSWERS[name]["ids"]) >= 0.95  # equals may change places


@pytest.mark.parametrize("strategy", ["scan", "walk", "two-level", "best-first", "lazy"])
@pytest.mark.parametrize("name", [n for n in NAMES if ANSWERS[n]["stats"]["graph"]])
def test_a_golden_graph_leads_to_the_answers(name, strategy):
    index = VectorIndex.open(GOLDEN / f"{name}.gossamer", codebook=codebook_of(name))

    found = search(index, name, strategy)

    expected = np.array(ANSWERS[name]["ids"])
    assert (found.ids[:, :, None] == expected[:, None, :]).any(axis=1).mean() >= 0.97


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_holds_what_it_held(name):
    index = VectorIndex.open(GOLDEN / f"{name}.gossamer", codebook=codebook_of(name))
    stats = index.stats()

    held = {field: getattr(stats, field) for field in ANSWERS[name]["stats"]}

    assert held == ANSWERS[name]["stats"]
    assert stats.mean_degree == pytest.approx(ANSWERS[name]["mean_degree"])
    assert np.sort(index.ids).tolist() == ANSWERS[name]["all_ids"]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_saved_again_is_the_same_file(name, tmp_path):
    index = VectorIndex.open(GOLDEN / f"{name}.gossamer", codebook=codebook_of(name))

    index.save(tmp_path / "again", with_codebook=name != "shared-codebook")

    assert (tmp_path / "again").read_bytes() == data_of(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_takes_updates(name):
    index = VectorIndex.open(GOLDEN / f"{name}.gossamer", codebook=codebook_of(name))
    gone = index.ids[:40]
    index.delete(gone)
    index.compact()
    index.add(np.eye(16)[:10], vectors_of=vectors_of(name))

    assert len(index) == ANSWERS[name]["stats"]["count"] - 30


def test_golden_files_have_every_kind_of_section():
    kinds = {section.kind for name in NAMES for section in sections_of(data_of(name))}

    assert kinds == set(SECTIONS.values())


@pytest.mark.parametrize("name", NAMES)
def test_files_are_laid_out_as_documented(name):
    data = data_of(name)
    sections = sections_of(data)

    assert data[:8] == b"GOSSAMER"
    version, count, length, table, header = struct.unpack_from("<IIQII", data, 8)
    assert (version, count, length) == (1, len(sections), len(data))
    assert table == crc32c(data[HEADER : HEADER + count * ENTRY])
    assert header == crc32c(data[:28])
    end = HEADER + count * ENTRY
    for section in sections:
        assert section.start % 64 == 0
        assert not any(data[end : section.start])
        assert section.checksum == crc32c(data[section.start : section.end])
        end = section.end
    assert end == len(data)


class Bits:
    """The bits of a section, lowest first, as docs/format.md says to read them."""

    def __init__(self, data: bytes, start: int = 0) -> None:
        self.number = int.from_bytes(data, "little") >> start
        self.left = 8 * len(data) - start

    def take(self, count: int) -> int:
        value = self.number & ((1 << count) - 1)
        self.number >>= count
        self.left -= count
        return value

    def varint(self) -> int:
        group = self.take(8)
        return (group & 127) + ((self.varint() << 7) if group >= 128 else 0)

    def huffman(self) -> dict[tuple[int, int], int]:
        lengths = [self.take(4) for _ in range(self.take(9))]
        words, word = {}, 0
        for length in range(1, 13):
            for symbol in (symbol for symbol, own in enumerate(lengths) if own == length):
                words[length, word] = symbol
                word += 1
            word *= 2
        return words

    def symbol(self, words: dict[tuple[int, int], int]) -> int:
        length = word = 0
        while (length, word) not in words:
            length, word = length + 1, 2 * word + self.take(1)
        return words[length, word]

    def value(self, words: dict[tuple[int, int], int]) -> int:
        bits = self.symbol(words)
        return (1 << bits) + self.take(bits) - 1


def read_layer(bits: Bits, count: int) -> tuple[list[set[int]], list[int]]:
    """Read a layer of `count` ranks: who each links to, and the ranks of the next layer."""
    degree, first, later, owner, one_degree, one_first, one_later, member = (
        bits.huffman() for _ in range(8)
    )
    links: list[set[int]] = [set() for _ in range(count)]
    for rank in range(count):
        other = rank
        for i in range(bits.symbol(degree)):
            other += 1 + bits.value(later if i else first)
            links[rank].add(other)
            links[other].add(rank)
    rank = -1
    for _ in range(bits.varint()):
        rank += 1 + bits.value(owner)
        more = bits.symbol(one_degree)
        zigzag = bits.value(one_first)
        other = rank + (-(zigzag + 1) // 2 if zigzag % 2 else zigzag // 2)
        links[rank].add(other)
        for _ in range(more):
            other += 1 + bits.value(one_later)
            links[rank].add(other)
    members, rank = [], -1
    for _ in range(bits.varint()):
        rank += 1 + bits.value(member)
        members.append(rank)
    return links, members


GRAPHS = [(name, section.kind) for name in NAMES for section in sections_of(data_of(name))
          if section.kind in ("graph", "source graph")]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), GRAPHS)
def test_graphs_are_packed_as_documented(name, kind):
    bits = Bits(content_of(name, kind))
    nodes, highest, _, entry = (bits.varint() for _ in range(4))

    layers, count = [], nodes
    for _ in range(highest + 1):
        links, members = read_layer(bits, count)
        layers.append(links)
        count = len(members)

    stats = ANSWERS[name]["stats"]
    assert nodes == stats["count"] + stats["deleted"]
    assert 0 < entry <= nodes
    assert count == 0
    assert bits.left < 8
    assert bits.number == 0
    if kind == "graph":
        mean_degree = sum(map(len, layers[0])) / nodes
        assert mean_degree == pytest.approx(ANSWERS[name]["mean_degree"])
        assert len(layers) == stats["levels"]


def test_ids_are_packed_as_documented():
    content = content_of("coarse", "ids")
    bits = Bits(content[1:])

    ids = [bits.take(content[0]) for _ in range(200)]

    assert ids == ANSWERS["coarse"]["all_ids"]


def test_the_codebook_section_is_what_a_codebook_gives():
    index = VectorIndex.open(GOLDEN / "none.gossamer")

    assert content_of("none", "codebook") == index.codebook.to_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_meta_says_what_is_documented(name):
    content = content_of(name, "meta")
    dim, metric, scalar, keep, graph, _, code_bytes, nodes = struct.unpack_from("<I4BfIQ", content)

    stats = ANSWERS[name]["stats"]
    assert len(content) == 136
    assert dim == 16
    assert ["ip", "cosine", "l2"][metric] == stats["metric"]
    assert scalar in (0, 1, 2)
    assert ["none", "hot", "all"][keep] == stats["keep"]
    assert [None, "full", "hub", "slim"][graph] == stats["graph"]
    assert code_bytes == stats["code_bytes"]
    assert nodes == stats["count"] + stats["deleted"]


def opening(data: bytes, folder: Path, name: str, verify: bool = True) -> VectorIndex:
    path = folder / "damaged.gossamer"
    path.write_bytes(data)
    return VectorIndex.open(path, codebook=codebook_of(name), verify=verify)


def cuts_of(name: str) -> list[int]:
    data = data_of(name)
    cuts = {1, 7, 8, 63, 64, len(data) - 1, *range(97, len(data), 97)}
    for section in sections_of(data):
        cuts |= {section.start, section.start + 1, section.end - 1, section.end}
    return sorted(cut for cut in cuts if cut < len(data))


@pytest.mark.parametrize("name", NAMES)
def test_a_truncated_file_is_refused_wherever_it_ends(name, tmp_path):
    data = data_of(name)

    for cut in cuts_of(name):
        with pytest.raises(Truncated, match=r"damaged\.gossamer: .* bytes"):
            opening(data[:cut], tmp_path, name, verify=False)


@pytest.mark.parametrize("more", [1, 64, 4096])
def test_a_file_that_is_too_long_is_refused(more, tmp_path):
    data = data_of("none")

    with pytest.raises(Damaged, match=rf"should have {len(data)} bytes and has {len(data) + more}"):
        opening(data + bytes(more), tmp_path, "none", verify=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_bit_is_refused_wherever_it_counts(name, tmp_path):
    data = data_of(name)
    covered = [range(32), range(HEADER, HEADER + ENTRY * len(sections_of(data)))]
    covered += [range(section.start, section.end) for section in sections_of(data)]
    random = np.random.default_rng(1)

    for part in covered:
        for place in {part[0], part[-1], *random.choice(part, min(len(part), 12)).tolist()}:
            flipped = bytearray(data)
            flipped[place] ^= 1 << int(random.integers(8))
            with pytest.raises(GossamerError, match=r"damaged\.gossamer: "):
                opening(bytes(flipped), tmp_path, name)


@pytest.mark.parametrize(
    ("kind", "message"),
    [("codes", "'codes'"), ("graph", "'graph'"), ("ids", "'ids'")],
)
def test_damage_in_a_part_that_is_read_late_is_found_before_it_is_used(kind, message, tmp_path):
    data = bytearray(data_of("hub"))
    section = next(s for s in sections_of(bytes(data)) if s.kind == kind)
    data[section.start + (section.end - section.start) // 2] ^= 16
    index = opening(bytes(data), tmp_path, "hub", verify=False)

    with pytest.raises(Damaged, match=f"{message} does not match its checksum"):
        search(index, "hub", "walk")


@pytest.mark.parametrize(
    "change",
    [
        lambda index, path: index.save(path),
        lambda index, _: index.add(np.eye(16)[:1]),
        lambda index, _: (index.delete([0]), index.compact()),
    ],
    ids=["save", "add", "delete and compact"],
)
def test_damaged_vectors_do_not_get_a_new_checksum(change, tmp_path):
    data = bytearray(data_of("all-full"))
    section = next(s for s in sections_of(bytes(data)) if s.kind == "vectors")
    data[section.start + 5] ^= 16
    index = opening(bytes(data), tmp_path, "all-full", verify=False)

    with pytest.raises(Damaged, match="'vectors' does not match its checksum"):
        change(index, tmp_path / "copy")


@pytest.mark.parametrize("version", [0, 2, 77])
def test_another_version_is_refused(version, tmp_path):
    data = data_of("none")
    other = with_header_checksum(data[:8] + struct.pack("<I", version) + data[12:])

    with pytest.raises(UnknownVersion, match=f"format version {version}, this release reads"):
        opening(other, tmp_path, "none", verify=False)


def test_an_unknown_section_is_refused(tmp_path):
    data = bytearray(data_of("none"))
    struct.pack_into("<I", data, HEADER, 11)
    table = bytes(data[HEADER : HEADER + ENTRY * len(sections_of(data_of("none")))])
    struct.pack_into("<I", data, 24, crc32c(table))

    with pytest.raises(UnknownVersion, match="section kind 11 is unknown"):
        opening(with_header_checksum(bytes(data)), tmp_path, "none", verify=False)


def with_section(name: str, kind: str, content: bytes) -> bytes:
    """Put other bytes of the same length into a section, under right checksums."""
    data = bytearray(data_of(name))
    sections = sections_of(bytes(data))
    place = next(i for i, section in enumerate(sections) if section.kind == kind)
    section = sections[place]
    assert len(content) == section.end - section.start
    data[section.start : section.end] = content
    struct.pack_into("<I", data, HEADER + ENTRY * place + 4, crc32c(content))
    table = bytes(data[HEADER : HEADER + ENTRY * len(sections)])
    struct.pack_into("<I", data, 24, crc32c(table))
    return with_header_checksum(bytes(data))


def content_of(name: str, kind: str) -> bytes:
    data = data_of(name)
    section = next(section for section in sections_of(data) if section.kind == kind)
    return data[section.start : section.end]


@pytest.mark.parametrize(
    ("place", "layout", "value"),
    [
        (0, "<I", 0),  # dimension
        (0, "<I", 2**31),
        (4, "<B", 9),  # metric
        (5, "<B", 9),  # scalar type
        (6, "<B", 9),  # keeping mode
        (7, "<B", 9),  # graph
        (8, "<f", float("nan")),  # scale
        (12, "<I", 7),  # bytes of a code
        (16, "<Q", 2**40),  # nodes
        (16, "<Q", 3),
        (24, "<Q", 1),  # fingerprint of the codebook
        (56, "<d", 7.0),  # level probability
        (64, "<I", 5000),  # degree
    ],
)
def test_a_meta_section_that_cannot_be_is_refused_even_if_its_checksum_is_right(
    place, layout, value, tmp_path
):
    meta = bytearray(content_of("hub", "meta"))
    struct.pack_into(layout, meta, place, value)

    with pytest.raises(GossamerError, match=r"damaged\.gossamer: "):
        opening(with_section("hub", "meta", bytes(meta)), tmp_path, "hub")


@pytest.mark.parametrize("kind", ["graph", "codebook", "calibration", "ids"])
def test_random_bytes_under_a_right_checksum_are_refused(kind, tmp_path):
    length = len(content_of("hub", kind))
    content = np.random.default_rng(3).integers(0, 256, length, np.uint8).tobytes()

    with pytest.raises(GossamerError, match=r"damaged\.gossamer: "):
        opening(with_section("hub", kind, content), tmp_path, "hub").search(np.ones(16))


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"", Truncated, "empty"),
        (b"GOSS", Truncated, "4 bytes, fewer than a header"),
        (b"GOSSAMER", Truncated, "8 bytes, fewer than a header"),
        (b"Dear reader,\nthis is a letter.\n" * 9, NotGossamer, "not a Gossamer index"),
        (b"\0" * 4096, NotGossamer, "not a Gossamer index"),
        (b"PK\x03\x04", NotGossamer, "not a Gossamer index"),
    ],
)
def test_what_is_no_index_is_refused(content, error, message, tmp_path):
    path = tmp_path / "other.txt"
    path.write_bytes(content)

    with pytest.raises(error, match=rf"other\.txt: .*{message}"):
        VectorIndex.open(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match=os.fspath(tmp_path)):
        VectorIndex.open(tmp_path)


def test_a_missing_file_is_refused_by_its_name(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.gossamer"):
        VectorIndex.open(tmp_path / "nowhere.gossamer")
