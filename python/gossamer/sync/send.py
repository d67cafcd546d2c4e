"""Changes from an edge to its server: written down, sent, answered for, and pulled back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from gossamer.errors import (
    Empty,
    GossamerError,
    InvalidArgument,
    TooLarge,
    Unavailable,
    UnknownId,
)
from gossamer.progress import ProgressCallback
from gossamer.store import Catalogue, open_index
from gossamer.sync.client import Client
from gossamer.sync.follow import Edge, PullReport
from gossamer.sync.outbox import Outbox, Waiting, count_waiting
from gossamer.sync.records import PushItem, PushResult
from gossamer.sync.state import base_hash
from gossamer.update.given import as_given_text
from gossamer.update.prepare import GivenText

__all__ = ["Outgoing", "PushReport", "push"]

_TIMEOUT_S = 300.0  # the server embeds what it is sent before it answers
_WAIT_S = 15.0  # for another process that sends or pulls
_MOST_ITEMS, _MOST_BYTES = 100, 4 << 20  # of texts in one request
_MOST_FILE_BYTES = 256 << 20
_UPLOADS = "uploads"  # the folder of the server that pushed files are in
# What a server says of a change that it will never take.
_REFUSALS = (InvalidArgument, TooLarge, Empty, UnknownId)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Changes to make on the server."""

    texts: Iterable[GivenText | Mapping[str, object]] = ()
    removed: Iterable[str] = ()  # ids of texts, names of files that were pushed
    files: Iterable[Path] = ()


@dataclass(frozen=True, slots=True)
class PushReport:
    """What became of the changes that waited."""

    results: tuple[PushResult, ...]
    pulled: PullReport | None  # None if what became of them could not be pulled
    problem: str = ""  # why it was not


def push(
    edge: Edge,
    outgoing: Outgoing,
    progress: ProgressCallback | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> PushReport:
    """Write changes down, send all that wait, and pull what became of them.

    Unreachable if the server does not answer: the changes wait then, and the next push sends
    them. What was sent and could not be pulled is no error, but a problem of the report.
    """
    outbox = Outbox(edge.folder)
    if items := _items_of(edge, outgoing, outbox):
        outbox.put(items)
    with _saying_what_waits(edge, outbox):
        results = _send_all(edge, outbox, progress or (lambda *_: None))
    try:
        pulled = edge.pull(progress, pause=pause, wait_s=_WAIT_S)
    except GossamerError as error:
        return PushReport(tuple(results), None, str(error))
    return PushReport(tuple(results), pulled)


@contextmanager
def _saying_what_waits(edge: Edge, outbox: Outbox) -> Iterator[None]:
    """Say with whatever went wrong that no change is lost."""
    try:
        yield
    except GossamerError as error:
        if not (left := count_waiting(edge.folder)):
            raise
        said = "1 change waits" if left == 1 else f"{left} changes wait"
        raise type(error)(
            f"{error}. {said} in {outbox.folder}; the next `gossamer push` sends what waits"
        ) from error


def _items_of(edge: Edge, outgoing: Outgoing, outbox: Outbox) -> list[PushItem]:
    """Check changes, and note for each what the edge sees now under its id."""
    texts = [as_given_text(text) for text in outgoing.texts]
    removed, files = list(outgoing.removed), list(outgoing.files)
    if not (texts or removed or files):
        return []
    catalogue = open_index(edge.folder).catalogue
    items = [
        PushItem(uuid4().hex, text.id, _base_of(catalogue, text.id), text=asdict(text))
        for text in texts
    ]
    waiting = {entry.key for entry in outbox.waiting()} if removed else set()
    for id in removed:
        if not isinstance(id, str) or not id:
            raise InvalidArgument(f"a text is removed by its id, got {id!r}")
        is_file = _is_file(catalogue, waiting, id)
        items.append(PushItem(uuid4().hex, id, _base_of(catalogue, id), is_file=is_file))
    for path in files:
        name = path.name
        base = _base_of_file(catalogue, name)
        items.append(PushItem(uuid4().hex, name, base, file=_read(path)))
    return items


def _send_all(edge: Edge, outbox: Outbox, report: ProgressCallback) -> list[PushResult]:
    results: list[PushResult] = []
    following = edge.following
    with (
        outbox.sending(_WAIT_S),
        Client(following.url, following.token, timeout_s=_TIMEOUT_S) as client,
    ):
        # What takes the place of a change on its way waits for the next round.
        while waiting := outbox.waiting():
            total = len(results) + len(waiting)
            for batch in _batches(waiting):
                items = [item for item in map(outbox.load, batch) if item is not None]
                answers = _send(client, items) if items else []
                outbox.answered(list(zip(items, answers, strict=True)))
                edge.remember_token()
                results += answers
                report("sending", len(results), total)
    return results


def _send(client: Client, items: Sequence[PushItem]) -> list[PushResult]:
    """Send changes; one that the server will never take is refused, and holds up no others."""
    try:
        if items[0].file is not None:
            return [client.push_file(items[0])]
        return client.push(items)
    except _REFUSALS as error:
        if len(items) > 1:
            return [result for item in items for result in _send(client, [item])]
        return [PushResult(items[0].op, items[0].id, "refused", str(error))]


def _batches(waiting: Sequence[Waiting]) -> Iterator[list[Waiting]]:
    """Divide what waits, in its order: files one by one, texts some at a time."""
    batch: list[Waiting] = []
    size = 0
    for entry in waiting:
        added = len(json.dumps(entry.item.text))
        is_file = entry.file_bytes is not None
        if batch and (is_file or len(batch) == _MOST_ITEMS or size + added > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        if is_file:
            yield [entry]
        else:
            batch.append(entry)
            size += added
    if batch:
        yield batch


def _is_file(catalogue: Catalogue, waiting: Set[tuple[bool, str]], id: str) -> bool:
    """Whether an id is that of a file, indexed or about to be sent; a text comes first."""
    if catalogue.find(False, id) is not None or (False, id) in waiting:
        return False
    return bool(_base_of(catalogue, id)) or (True, id) in waiting


def _base_of(catalogue: Catalogue, id: str) -> str:
    """Give what the edge sees under an id, which may be that of a text or the name of a file."""
    row = catalogue.find(False, id)
    if row is None:
        row = catalogue.find(True, id)
    if row is None:
        return _base_of_file(catalogue, id)
    return base_hash(catalogue.source(row).content_hash)


def _base_of_file(catalogue: Catalogue, name: str) -> str:
    """Give what the edge sees of a pushed file: below the server's folder for these."""
    for row, path in enumerate(catalogue.paths):
        if path.endswith(f"/{_UPLOADS}/{name}") and catalogue.find(True, path) == row:
            return base_hash(catalogue.source(row).content_hash)
    return base_hash(None)


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST_FILE_BYTES + 1)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror or error}") from None
    if len(content) > _MOST_FILE_BYTES:
        raise TooLarge(f"{path} has more than {_MOST_FILE_BYTES:,} bytes, the most for one file")
    if not content:
        raise Empty(f"{path} is empty; there is nothing to send")
    return content
