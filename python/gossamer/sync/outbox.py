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
from gossamer.files import check_plain_name, make_folder, read_small, write_file
from gossamer.io_errors import explaining
from gossamer.store import hash_of_bytes
from gossamer.store.lock import hold_lock
from gossamer.sync.following import SYNC
from gossamer.sync.records import PushItem, PushResult
from gossamer.sync.state import base_hash
from gossamer.update.given import as_given_text
from gossamer.update.prepare import hash_of_given

__all__ = ["OUTBOX", "Outbox", "Waiting", "count_waiting"]

OUTBOX = "outbox"
_REFUSED = "refused"  # what the server did not take stays below this folder
_SENDING = "push"  # a folder whose lock is held by who sends
_LAST = "last"  # the highest number that was given away
_NAME = re.compile(r"\d{4,18}\.json")
_MOST_AFTER = 64
_MOST_BYTES = 1 << 28  # of a text that waits, as JSON
_WAIT_S = 10.0  # another process writes a change in far less


@dataclass(frozen=True, slots=True)
class Waiting:
    """A change that waits. The bytes of a file stay on the disk until they are sent."""

    number: int
    item: PushItem
    file_bytes: int | None = None  # of a file; None for a text
    after: tuple[str, ...] = ()  # ops of changes whose place it took, which may be under way

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
            entries = list(self._entries())
            for number, item in enumerate(items, self._take_numbers(entries, len(items))):
                entries = self._put(number, item, entries)

    @contextmanager
    def sending(self, wait_s: float) -> Iterator[None]:
        """Let one process send at a time; Locked if another does and is not done in time."""
        folder = self._edge / SYNC / _SENDING
        with explaining(self._edge):
            make_folder(folder)
        with hold_lock(folder, "push", wait_s):
            yield

    def waiting(self) -> list[Waiting]:
        """Give what waits, in order; Damaged if an entry cannot be read."""
        latest: dict[tuple[bool, str], Waiting] = {}
        for entry in self._entries():
            latest.pop(entry.key, None)  # a process was killed before it removed what it replaced
            latest[entry.key] = entry
        return list(latest.values())

    def load(self, entry: Waiting) -> PushItem | None:
        """Give a change as it is sent, with the bytes of its file; None if it was replaced."""
        path = self._path(entry.number, "bin")
        now = self._read(entry.number)
        content = None
        if now is not None and now.file_bytes is not None:
            try:
                content = read_small(path, now.file_bytes)
            except FileNotFoundError:
                now = self._read(entry.number)  # the file goes after its entry
            if now is not None and (content is None or len(content) != now.file_bytes):
                raise self._damaged(path)
        return None if now is None else replace(now.item, file=content)

    def answered(self, answers: Sequence[tuple[PushItem, PushResult]]) -> None:
        """Forget changes that the server has answered for; those that it refused are put aside.

        A change that took the place of one of them meanwhile is one of what that has made.
        """
        with explaining(self._edge), self._locked():
            entries = list(self._entries())
            for item, result in answers:
                same = [entry for entry in entries if entry.key == item.key]
                here = next((entry.number for entry in same if entry.item.op == item.op), 0)
                for entry in same:
                    if entry.number <= here:
                        is_refused = entry.number == here and result.outcome == "refused"
                        self._forget(entry, is_refused)
                    elif item.op in entry.after and result.outcome != "refused":
                        self._write(_behind(entry, item))

    def _put(self, number: int, item: PushItem, entries: Sequence[Waiting]) -> list[Waiting]:
        """Write a change down in place of earlier ones; give what waits then."""
        replaced = [entry for entry in entries if entry.key == item.key]
        after: tuple[str, ...] = ()
        if replaced:
            # It may be under way: then what it makes there is what this one was made from.
            earlier = replaced[-1]
            item = replace(item, base=earlier.item.base)
            after = (*earlier.after, earlier.item.op)[-_MOST_AFTER:]
        file_bytes = None if item.file is None else len(item.file)
        if item.file is not None:
            write_file(self._path(number, "bin"), [item.file])
        entry = Waiting(number, replace(item, file=None), file_bytes, after)
        self._write(entry)
        for other in replaced:
            self._forget(other, is_refused=False)
        return [*(one for one in entries if one not in replaced), entry]

    def _take_numbers(self, entries: Sequence[Waiting], count: int) -> int:
        """Give the first of so many numbers that no change had before; they are gone then.

        With a number that was used again, an answer that comes late would be taken for one to
        another change.
        """
        path = self.folder / _LAST
        try:
            last = int(read_small(path, 20))
        except (FileNotFoundError, ValueError):
            last = 0
        last = max(last, *(entry.number for entry in entries), 0)
        write_file(path, [str(last + count).encode("ascii")])
        return last + 1

    def _write(self, entry: Waiting) -> None:
        item = entry.item
        record = {
            "op": item.op,
            "id": item.id,
            "base": item.base,
            "text": item.text,
            "is_file": item.is_file,
            "file_bytes": entry.file_bytes,
            "after": list(entry.after),
        }
        write_file(self._path(entry.number, "json"), [json.dumps(record).encode("ascii")])

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
                    make_folder(aside)
                    os.replace(path, aside / f"{entry.item.op}.{ending}")
                else:
                    path.unlink()

    def _entries(self) -> Iterator[Waiting]:
        """Give all entries by number, also those that a later one replaces."""
        for name in _names(self.folder):
            if (entry := self._read(int(name.partition(".")[0]))) is not None:
                yield entry

    def _read(self, number: int) -> Waiting | None:
        """Read an entry; None if it was answered for or replaced meanwhile."""
        path = self._path(number, "json")
        try:
            return _entry_of(number, json.loads(read_small(path, _MOST_BYTES)))
        except FileNotFoundError:
            return None
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
        make_folder(self.folder)
        with hold_lock(self.folder, "push", _WAIT_S):
            yield


def count_waiting(edge: Path) -> int:
    """Say how many changes of an edge wait for its server."""
    return len(_names(edge / OUTBOX))


def _names(folder: Path) -> list[str]:
    if folder.is_symlink():
        return []
    try:
        names = [name for name in os.listdir(folder) if _NAME.fullmatch(name)]
    except OSError:
        return []
    return sorted(names, key=lambda name: int(name.partition(".")[0]))


def _behind(entry: Waiting, made: PushItem) -> Waiting:
    """Give a change with what another one has made on the server as its base."""
    hash = None
    if made.file is not None:
        hash = hash_of_bytes(made.file)
    elif made.text is not None:
        hash = hash_of_given(as_given_text(made.text))
    after = entry.after[entry.after.index(made.op) + 1 :]
    return replace(entry, item=replace(entry.item, base=base_hash(hash)), after=after)


def _entry_of(number: int, values: Any) -> Waiting:
    op, id, base, text = values["op"], values["id"], values["base"], values["text"]
    file_bytes, is_file = values["file_bytes"], values.get("is_file", False)
    after = tuple(values.get("after", ()))
    are_texts = all(isinstance(value, str) for value in (op, id, base, *after))
    if not are_texts or not isinstance(text, Mapping | None):
        raise TypeError
    if not isinstance(file_bytes, int | None) or not isinstance(is_file, bool):
        raise TypeError
    check_plain_name(op, "a change")
    item = PushItem(op=op, id=id, base=base, text=text, is_file=is_file)
    return Waiting(number, item, file_bytes, after)
