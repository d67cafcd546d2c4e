"""Indexes that a stranger may have made: well-formed, checksums right, with any values."""

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from column_format import Table, read_catalogue, write_catalogue
from segment_format import read_segment, write_segment

from gossamer.index import Index
from gossamer.single.container import Container, Section, container_parts
from gossamer.single.kinds import MANIFEST
from gossamer.store.hashes import digest_of, digest_of_file
from gossamer.sync.offer import Offer
from gossamer.sync.package import Package, write_package
from gossamer.sync.records import Head, Mode

__all__ = ["FOLDERS", "hostile_file", "hostile_folder", "hostile_package", "make_bases"]

TEXTS = {
    "lease.md": "# Lease\n\nThe lease is due in May.\n\n## Harbour\n\nA whale pays no lease.\n",
    "page.html": "<html><title>Page</title><body><h1>Harbour</h1><p>No whale.</p></body></html>",
    "rows.csv": "animal,place\nwhale,sea\nseal,harbour\n",
}
# The kinds of index that there are, and how each is made.
FOLDERS: dict[str, dict[str, object]] = {
    "plain": {},
    "stored": {"store_text": True},
    "kept": {"keep": "all", "store_text": True},
    "hot": {"keep": "hot:1MB"},
    "words": {"lexical": "fts5"},
}
NUMBERS = (0, 1, 2, 3, 7, 255, 1 << 16, (1 << 28) + 1, (1 << 36) - 1, 1 << 40, (1 << 62) - 1)


def make_bases(folder: Path) -> None:
    """Make an honest index of each kind, a file and a package, to be spoilt."""
    for name, options in FOLDERS.items():
        files = folder / f"{name}-files"
        files.mkdir(parents=True)
        for file, text in TEXTS.items():
            (files / file).write_text(text, encoding="utf-8")
        index = Index.create(folder / name, model="pocket", **options)  # type: ignore[arg-type]
        index.add_paths([files])
        index.add_texts([{"id": "note", "text": "A note on the lease.", "metadata": {"year": 7}}])
        index.search("whale lease")
    index = Index.open(folder / "stored")
    index.export(folder / "single.gossamer")
    offer = Offer(index)
    try:
        package = offer.package(Mode.parse("codes"), texts="kept", base=None)
        assert isinstance(package, Path)
        shutil.copyfile(package, folder / "package.gsp")
    finally:
        offer.close()


class Chance:
    """Values that a field of some type may have, by a seed."""

    def __init__(self, seed: str, lures: Path) -> None:
        self.random = random.Random(seed)
        self.lures = lures  # a folder of this machine that no index may have read

    def number(self, old: int = 0) -> int:
        near = (old + 1, max(old - 1, 0), self.random.randrange(100))
        return self.random.choice((*NUMBERS, *near, *near))

    def path(self) -> str:
        lure = self.lures.as_posix()
        return self.random.choice(
            (
                lure,
                f"{lure}/secret.md",
                f"{lure}/../lures",
                "/",
                "",
                ".",
                "..",
                "~",
                "lures",
                "C:\\x",
            )
        )

    def text(self) -> str:
        nasty = ("", "x" * 5000, "\udc80", "a\0b", "\u202e\x1b[31m", "../../etc", "é", "{}", "%s")
        return self.random.choice((*nasty, self.path(), self.address()))

    def address(self) -> str:
        hosts = ("http://127.0.0.1:9/v1#m", "https://stranger.example/v1#m", "http://[::1]/")
        return self.random.choice(hosts)

    def model(self) -> str:
        names = (
            "pocket",
            "minilm",
            "nobody/nothing",
            "lures",
            f"sentence-transformers:{self.path()}",
        )
        return self.random.choice((*names, self.address(), self.path(), self.text()))

    def spoil(self, value: object, name: str = "") -> object:
        """Give another value of the same type, or what lures under this name."""
        if name == "name":
            return self.model()
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return self.number(value)
        if isinstance(value, float):
            return self.random.choice((0.0, -1.0, 1e30, 0.5))
        if isinstance(value, str):
            return self.random.choice((self.text(), value))
        if isinstance(value, list):
            return self._spoil_list(value, name)
        if isinstance(value, dict):
            return self.spoil_some(value)
        return value

    def _spoil_list(self, value: list[object], name: str) -> list[object]:
        if name == "roots":
            return [self.path() for _ in range(self.random.randrange(4))]
        if not value:
            return value
        at = self.random.randrange(len(value))
        return [*value[:at], self.spoil(value[at]), *value[at + 1 :]]

    def spoil_some(self, values: dict[str, object]) -> dict[str, object]:
        """Spoil some of the fields of an object."""
        many = self.random.random() < 0.3
        fields = [name for name in values if many and self.random.random() < 0.2]
        fields = fields or self.random.sample(sorted(values), min(1, len(values)))
        return {**values, **{name: self.spoil(values[name], name) for name in fields}}

    def spoil_bytes(self, catalogue: bytes) -> bytes:
        """Give a catalogue with other numbers, words and names."""
        return write_catalogue(*self.spoil_tables(*read_catalogue(catalogue)))

    def spoil_tables(self, words: list[bytes], tables: Table) -> tuple[list[bytes], Table]:
        """Give other numbers, words and names."""
        words = [
            word
            if i == 0 or self.random.random() < 0.7
            else self.text().encode("utf-8", "surrogatepass")
            for i, word in enumerate(words)
        ]
        for _ in range(self.random.choice((0, 1, 1, 2, 5))):
            tables = self._spoil_table(tables)
        if self.random.random() < 0.3:
            tables = self._with_references(tables)
        return words, tables

    def _spoil_table(self, table: Table) -> Table:
        if table.schema.is_bytes:
            content = table.content.copy()
            if len(content):
                content[self.random.randrange(len(content))] = self.random.choice(b'./\0~{}"a\xff')
            return Table(table.schema, content=content)
        children = [name for name, _ in table.schema.children]
        names = [column.name for column in table.schema.columns]
        name = self.random.choice(names * 2 + children)
        if name in children:
            spoilt = self._spoil_table(table.children[name])
            return replace(table, children={**table.children, name: spoilt})
        values = table[name].copy()
        if len(values):
            at = self.random.randrange(len(values))
            values[at] = self.number(int(values[at]))
        return replace(table, columns={**table.columns, name: values})

    def _with_references(self, tables: Table) -> Table:
        """Let every document stand in a file, and every chunk begin at its start."""
        documents = tables.children["documents"]
        columns = {**documents.columns, "segment": np.zeros(len(documents), np.int64)}
        return replace(
            tables, children={**tables.children, "documents": replace(documents, columns=columns)}
        )


def hostile_folder(base: Path, target: Path, chance: Chance) -> None:
    """Put a spoilt copy of an index into a folder."""
    shutil.copytree(base, target)
    manifest_path = target / "MANIFEST.gossamer"
    values = json.loads(manifest_path.read_bytes().rpartition(b"\n")[0].rpartition(b"\n")[0])
    files = values.pop("files")
    if chance.random.random() < 0.6:
        path = target / next(file["name"] for file in files if file["name"].startswith("segment"))
        path.write_bytes(_hostile_segment(path, chance))
    if chance.random.random() < 0.7:
        values = chance.spoil_some(values)
    if chance.random.random() < 0.3:
        values["origin"] = {"url": chance.address(), "index": "x", "epoch": "e", "version": 1}
        values["origin"] |= {"state": "s", "mode": "codes", "texts": "away"}
        _write_edge(target, chance)
    if chance.random.random() < 0.3:
        _link_something(target, files, chance)
    for file in files:
        path = target / file["name"]
        if path.is_file() and not path.is_symlink():
            file |= {"size": path.stat().st_size, "digest": digest_of_file(path)}
    body = json.dumps({**values, "files": files}, sort_keys=True, indent=1).encode("ascii") + b"\n"
    if not manifest_path.is_symlink():
        manifest_path.write_bytes(body + digest_of(body).encode() + b"\n")


def _hostile_segment(path: Path, chance: Chance) -> bytes:
    """Give a spoilt copy of a segment."""
    sections = _sections_of(path)
    _spoil_segment(sections, chance)
    return _file_of(sections)


def _spoil_segment(sections: dict[int, bytes], chance: Chance) -> None:
    """Spoil the catalogue of a segment, or any bytes in one of its sections."""
    if chance.random.random() < 0.7:
        write_segment(sections, *chance.spoil_tables(*read_segment(sections)))
        return
    kind = chance.random.choice(sorted(sections))
    data = bytearray(sections[kind])
    for _ in range(chance.random.choice((1, 1, 3))):
        data[chance.random.randrange(len(data))] = chance.random.choice((0, 1, 2, 127, 255))
    sections[kind] = bytes(data)


def _sections_of(path: Path) -> dict[int, bytes]:
    container = Container(np.fromfile(path, np.uint8))
    return {kind: container.section(kind).tobytes() for kind in container.lengths}


def _file_of(sections: dict[int, bytes]) -> bytes:
    parts = [Section(kind, np.frombuffer(data, np.uint8)) for kind, data in sections.items()]
    return b"".join(bytes(part) for part in container_parts(parts))


def _write_edge(target: Path, chance: Chance) -> None:
    follow = {"url": chance.address(), "token": "t", "mode": "codes", "texts": "away", "model": ""}
    (target / "follow.json").write_text(json.dumps(chance.spoil_some(follow)), encoding="utf-8")
    (target / "outbox").mkdir()
    op = chance.random.choice((chance.path(), f"{chance.lures}/settings", "op", "../../x"))
    record = {"op": op, "id": "a", "base": "", "text": {"id": "a", "text": "b"}, "file_bytes": None}
    (target / "outbox" / "0001.json").write_text(json.dumps(record), encoding="utf-8")


def _link_something(target: Path, files: list[dict[str, object]], chance: Chance) -> None:
    """Let a file of the index lead to one of this machine's."""
    names = [str(file["name"]) for file in files]
    names += ["MANIFEST.gossamer", "lock", "hot.gsh", "words.sqlite", "stale.jsonl", "follow.json"]
    path = target / chance.random.choice((*names, "journal.gsj", "sync", "outbox"))
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(chance.random.choice((chance.lures / "secret.md", chance.lures, "/dev/zero")))


def hostile_file(base: Path, target: Path, chance: Chance) -> None:
    """Write a spoilt copy of a single file."""
    sections = _sections_of(base)
    if chance.random.random() < 0.7:
        values = json.loads(sections[MANIFEST])
        sections[MANIFEST] = json.dumps(chance.spoil_some(values)).encode()
    if chance.random.random() < 0.6:
        _spoil_segment(sections, chance)
    if chance.random.random() < 0.1:
        del sections[chance.random.choice(sorted(sections))]
    target.write_bytes(_file_of(sections))


def hostile_package(base: Path, target: Path, chance: Chance) -> None:
    """Write a spoilt copy of a package, signed by nobody."""
    with Package.open(base, "") as package:
        head = package.head
        sections = {one.name: b"".join(package.stream(one.name)) for one in head.sections}
    spoil: dict[str, Callable[[bytes], bytes]] = {
        "catalogue": chance.spoil_bytes,
        "removed": lambda _: json.dumps([[True, chance.text()], [False, chance.path()]]).encode(),
        "absent": lambda _: json.dumps([chance.number()]).encode(),
    }
    for name, change in spoil.items():
        if chance.random.random() < 0.5:
            sections[name] = change(sections.get(name, b""))
    values = {**asdict(head), "sections": (), "base": None}
    kept = {
        name: values[name] for name in ("kind", "base", "sections", "is_signed", "texts", "mode")
    }
    spoilt = Head(**{**chance.spoil_some(values), **kept})  # type: ignore[arg-type]
    write_package(target, spoilt, [(name, [data]) for name, data in sections.items()], "")
