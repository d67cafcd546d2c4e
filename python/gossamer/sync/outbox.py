"""Changes that wait for the server: on the disk before anything is sent, until it has answered."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gossamer.errors import Damaged
from gossamer.files import sync_folder, write_file
from gossamer.store.lock import hold_lock
from gossamer.store.unwritable import explaining
from gossamer.sync.records import PushItem, PushResult

__all__ = ["OUTBOX", "Outbox", "Waiting", "count_waiting"]

OUTBOX = "outbox"
_REFUSED = "refused"  # what the server did not take stays below this folder
_NAME = re.compile(r"\d{4,18}\.json")
_WAIT_S = 10.0  # another process writes a change in far less


@dataclass(frozen=True, slots=True)
class Waiting:
    """A change that waits. The bytes of a file stay on the disk until they are sent."""

    number: int
    item: PushItem
    file_bytes: int | None = None  # of a file; None for a text

    @property
    def key(self) -> tuple[bool, str]:
        """What it changes: a later change of the same takes its place."""
        is_file, id = self.item.key
        return is_file or self.file_bytes is not None, id


class Outbox:
    """The changes of one edge, in the order they were made."""

    def __init__(self, edge: Path) -> None:
        self._edge = edge
        self.folder = edge / OUTBOX

    def put(self, items: Sequence[PushItem]) -> None:
        """Write changes down; each takes the place of an earlier one of the same text or file.

        What the edge saw before the first of them stays their base.
        """
        with explaining(self._edge), self._locked():
            self._sweep()
            for item in items:
                self._put(item)

    def waiting(self) -> list[Waiting]:
        """Give what waits, in order; Damaged if an entry cannot be read."""
        latest: dict[tuple[bool, str], Waiting] = {}
        for entry in self._entries():
            if (earlier := latest.pop(entry.key, None)) is not None:
                # A process was killed before it removed the one that was replaced.
                entry = replace(entry, item=replace(entry.item, base=earlier.item.base))
            latest[entry.key] = entry
        return list(latest.values())

    def load(self, entry: Waiting) -> PushItem:
        """Give a change as it is sent, with the bytes of its file."""
        if entry.file_bytes is None:
            return entry.item
        path = self._path(entry.number, "bin")
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            content = None
        if content is None or len(content) != entry.file_bytes:
            raise self._damaged(path)
        return replace(entry.item, file=content)

    def answered(self, entry: Waiting, result: PushResult) -> None:
        """Forget a change that the server has answered for; one that it refused is put aside."""
        with explaining(self._edge), self._locked():
            for other in self._entries():
                if other.key == entry.key and other.number <= entry.number:
                    is_refused = other.number == entry.number and result.outcome == "refused"
                    self._forget(other, is_refused)

    def _put(self, item: PushItem) -> None:
        entries = list(self._entries())
        number = max((entry.number for entry in entries), default=0) + 1
        file_bytes = None if item.file is None else len(item.file)
        replaced = [entry for entry in entries if entry.key == item.key]
        record = {
            "op": item.op,
            "id": item.id,
            "base": replaced[0].item.base if replaced else item.base,
            "text": item.text,
            "is_file": item.is_file,
            "file_bytes": file_bytes,
        }
        if item.file is not None:
            write_file(self._path(number, "bin"), [item.file])
        write_file(self._path(number, "json"), [json.dumps(record).encode("ascii")])
        for entry in replaced:
            self._forget(entry, is_refused=False)

    def _sweep(self) -> None:
        """Delete what killed processes left: files in the making, and those without an entry."""
        for path in self.folder.iterdir():
            is_alone = path.suffix == ".bin" and not path.with_suffix(".json").exists()
            if is_alone or path.name.endswith(".part"):
                path.unlink(missing_ok=True)

    def _forget(self, entry: Waiting, is_refused: bool) -> None:
        # The entry goes first: a file without one is nothing.
        for ending in ("json", "bin"):
            path = self._path(entry.number, ending)
            with suppress(FileNotFoundError):
                if is_refused:
                    aside = self.folder / _REFUSED
                    aside.mkdir(exist_ok=True)
                    os.replace(path, aside / f"{entry.item.op}.{ending}")
                else:
                    path.unlink()

    def _entries(self) -> Iterator[Waiting]:
        """Give all entries by number, also those that a later one replaces."""
        for name in _names(self.folder):
            path = self.folder / name
            try:
                yield _entry_of(int(name.partition(".")[0]), json.loads(path.read_bytes()))
            except FileNotFoundError:
                continue  # answered meanwhile
            except (ValueError, TypeError, KeyError, RecursionError):
                raise self._damaged(path) from None

    def _path(self, number: int, ending: str) -> Path:
        return self.folder / f"{number:04}.{ending}"

    def _damaged(self, path: Path) -> Damaged:
        return Damaged(
            f"{path} is not as it was written: a change that waits for the server cannot be read; "
            "take the file away and make the change again"
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if not self.folder.is_dir():
            self.folder.mkdir(exist_ok=True)
            sync_folder(self._edge)
        with hold_lock(self.folder, "push", _WAIT_S):
            yield


def count_waiting(edge: Path) -> int:
    """Say how many changes of an edge wait for its server."""
    return len(_names(edge / OUTBOX))


def _names(folder: Path) -> list[str]:
    try:
        names = [name for name in os.listdir(folder) if _NAME.fullmatch(name)]
    except OSError:
        return []
    return sorted(names, key=lambda name: int(name.partition(".")[0]))


def _entry_of(number: int, values: Any) -> Waiting:
    op, id, base, text = values["op"], values["id"], values["base"], values["text"]
    file_bytes, is_file = values["file_bytes"], values.get("is_file", False)
    are_texts = all(isinstance(value, str) for value in (op, id, base))
    if not are_texts or not isinstance(text, Mapping | None):
        raise TypeError
    if not isinstance(file_bytes, int | None) or not isinstance(is_file, bool):
        raise TypeError
    item = PushItem(op=op, id=id, base=base, text=text, is_file=is_file)
    return Waiting(number, item, file_bytes)
