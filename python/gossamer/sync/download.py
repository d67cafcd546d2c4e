"""Fetching a package: into a part file beside the index, gone on with where it broke off."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import Damaged, Unreachable, Unwritable
from gossamer.files import open_to_append, read_small, write_file
from gossamer.io_errors import explaining
from gossamer.progress import ProgressCallback
from gossamer.sync.client import Client
from gossamer.sync.records import Base
from gossamer.web import Answer, NoAnswer, parse_json, retry_after

__all__ = ["PART", "PART_FACTS", "Wanted", "download", "forget_download"]

PART = "package.part"
PART_FACTS = "package.json"
_BLOCK = 1 << 16
_MOST_PACKAGE_BYTES = 1 << 40
_MOST_FACTS_BYTES = 1 << 16
_ATTEMPTS = 5
_PAUSE_S = 1.0
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.2, 30.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a package is asked for: from a state (None: from nothing) to the newest one."""

    mode: str
    texts: str
    base: Base | None


def download(
    client: Client,
    folder: Path,
    wanted: Wanted,
    progress: ProgressCallback | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> Path | None:
    """Fetch a package into the folder of an edge; None if the edge is up to date.

    Unreachable if the connection breaks off again and again: what came is kept, and the next
    call goes on from there. Unwritable if the disk is full; nothing stays then.
    """
    part = _Part(folder, {"url": client.url, **asdict(wanted)})
    report = progress or (lambda *_: None)
    for attempt in range(1, _ATTEMPTS + 1):
        begun = part.size
        try:
            while (waits_s := _ask(client, wanted, part, report)) is not None:
                pause(waits_s)
            return part.path if part.is_whole else None
        except Unreachable as error:
            if not isinstance(error.__cause__, NoAnswer) or not part.size:
                raise
            if part.size <= begun or attempt == _ATTEMPTS:
                raise Unreachable(
                    f"the server at {client.url} {error.__cause__.what}; `gossamer pull` goes on "
                    f"after the {part.size:,} bytes that came"
                ) from error
            pause(_PAUSE_S)
    raise AssertionError


def forget_download(folder: Path) -> None:
    """Delete what was fetched."""
    for name in (PART_FACTS, PART):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)


class _Part:
    """The part file, and beside it what it is a part of."""

    def __init__(self, folder: Path, asked: dict[str, Any]) -> None:
        self.folder = folder
        self.path = folder / PART
        self.is_whole = False
        self._asked = asked
        self.etag = self._known_etag()

    @property
    def size(self) -> int:
        """How many bytes came."""
        try:
            return self.path.lstat().st_size
        except OSError:
            return 0

    def restart(self, etag: str) -> None:
        """Forget what came, and take the beginning of a package of this name."""
        forget_download(self.folder)
        self.etag = etag
        with explaining(self.folder):
            if etag:
                facts = {"asked": self._asked, "etag": etag}
                write_file(self.folder / PART_FACTS, [json.dumps(facts).encode("ascii")])

    def take(self, answer: Answer, total: int, progress: ProgressCallback) -> None:
        """Append the answer to what came."""
        done = self.size
        try:
            with explaining(self.folder), open_to_append(self.path) as file:
                while block := answer.read(_BLOCK):
                    file.write(block)
                    done += len(block)
                    if done > (total or _MOST_PACKAGE_BYTES):
                        raise NoAnswer("sent more than it had said")
                    progress("receiving", done, total)
                file.flush()
                os.fsync(file.fileno())
        except Unwritable:
            forget_download(self.folder)  # half a package is no reason to keep a disk full
            raise
        if total and done != total:
            raise NoAnswer(f"broke off after {done:,} of {total:,} bytes")
        self.is_whole = True

    def _known_etag(self) -> str:
        """Give the name of what the part is of; "" if it is of something else."""
        try:
            facts = parse_json(read_small(self.folder / PART_FACTS, _MOST_FACTS_BYTES))
            if facts["asked"] == self._asked and isinstance(facts["etag"], str):
                return str(facts["etag"])
        except (OSError, Damaged, ValueError, TypeError, KeyError):
            pass
        forget_download(self.folder)
        return ""


def _ask(client: Client, wanted: Wanted, part: _Part, report: ProgressCallback) -> float | None:
    """Ask once; give how long to wait before the server is asked again, None if all is here."""
    headers = {}
    if part.etag and (begun := part.size):
        headers = {"Range": f"bytes={begun}-", "If-Range": part.etag}
    with client.package(wanted.mode, wanted.texts, wanted.base, headers) as (answer, said):
        if answer.status == 202:
            return _wait_of(answer, said, report)
        if answer.status == 204:
            forget_download(part.folder)
            if wanted.base is None:
                raise NoAnswer("says that nothing has changed, to an edge that has nothing yet")
        elif answer.status == 416:
            return _end_of(answer, part)
        else:
            _receive(answer, part, report)
    return None


def _receive(answer: Answer, part: _Part, report: ProgressCallback) -> None:
    """Take a package, or the rest of one."""
    etag, length = answer.header("ETag"), _number(answer.header("Content-Length"))
    if answer.status == 206:
        start, _, total = answer.header("Content-Range").removeprefix("bytes ").partition("/")
        if _number(start.partition("-")[0]) != part.size or etag not in ("", part.etag):
            part.restart("")
            raise NoAnswer("sent another part of the package than was asked for")
        whole = _number(total)
    else:
        part.restart(etag)
        whole = length
    _check_room(part.folder, length)
    part.take(answer, whole, report)


def _end_of(answer: Answer, part: _Part) -> float | None:
    """There is nothing behind what came: it is all, or it is of something else."""
    _, _, total = answer.header("Content-Range").partition("/")
    if part.size and _number(total) == part.size:
        part.is_whole = True
        return None
    if not part.size:
        raise NoAnswer("has no package to give")
    part.restart("")
    return 0.0


def _wait_of(answer: Answer, said: bytes, report: ProgressCallback) -> float:
    try:
        found = parse_json(said)
        report("the server prepares", int(found["done"]), int(found["total"]))
    except (ValueError, TypeError, KeyError):
        report("the server prepares", 0, 0)
    return min(max(retry_after(answer), _SHORTEST_WAIT_S), _LONGEST_WAIT_S)


def _check_room(folder: Path, length: int) -> None:
    """Say that the disk is too small before it is full."""
    free = shutil.disk_usage(folder).free
    if length > free:
        forget_download(folder)
        raise Unwritable(
            f"cannot change the index in {folder}: the package has {length:,} bytes, and the disk "
            f"{free:,} left; make room and try again. It is as it was"
        )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
