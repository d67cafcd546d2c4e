"""Changes that edges ask for: each done once, the last to arrive wins, nothing is lost silently.

What is about to be done is written down first, with what it will replace; then the index is
changed; then it is marked as done. Whatever happens in between, the next push finds out how far
it came by looking at what the index holds.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from gossamer.errors import GossamerError, InvalidArgument
from gossamer.index import Index
from gossamer.store import Catalogue, Snapshot, SourceRecord, Status, Writer, begin, hash_of_bytes
from gossamer.sync.conflicts import Conflicts
from gossamer.sync.history import History
from gossamer.sync.records import PushItem, PushResult
from gossamer.sync.sections import Key
from gossamer.sync.state import base_hash
from gossamer.sync.uploads import UPLOADED, Uploads
from gossamer.update.add import PathsToAdd, add_paths, add_texts, remove_sources
from gossamer.update.given import as_given_text
from gossamer.update.prepare import GivenText, hash_of_given
from gossamer.update.report import UpdateProgress

__all__ = ["Pusher"]

_WAIT_S = 30.0
_MOST_OP, _MOST_ID = 200, 4096
_MOST_REMEMBERED = 100_000  # pushes whose results are given again
_NONE = PushResult("", "", "")


@dataclass(frozen=True)
class _Change:
    """A change that is to be made, and what is there now."""

    item: PushItem
    key: Key  # the source that it concerns
    text: GivenText | None  # of a text that is put
    hash: str  # of what will be there, "" for a removal
    current: str  # of what is there
    lost: bytes = b""  # what it replaces
    result: PushResult = _NONE

    @property
    def path(self) -> Path:
        return Path(self.key[1])


class Pusher:
    """Makes pushed changes, one push at a time."""

    def __init__(self, index: Index, history: History, conflicts: Conflicts, uploads: Path) -> None:
        self._index = index
        self._history = history
        self._database = history.database
        self._conflicts = conflicts
        self._uploads = Uploads(uploads)
        self._lock = threading.Lock()

    def push(self, items: Sequence[PushItem], record: Callable[[], object]) -> list[PushResult]:
        """Make changes in their order; `record` brings the history to the index as it is."""
        results: dict[str, PushResult] = {}
        with self._lock:
            for batch in _batches(items):
                known = {item.op: found for item in batch if (found := self._result(item.op))}
                results |= known
                left = [item for item in batch if item.op not in known]
                if left:
                    results |= self._push(left, record)
        return [replace(results[item.op], op=item.op, id=item.id) for item in items]

    def _push(
        self, items: Sequence[PushItem], record: Callable[[], object]
    ) -> dict[str, PushResult]:
        with begin(self._index.folder, "push", _WAIT_S) as writer:
            assert writer.snapshot is not None, "an index that is offered has a state"
            record()
            self._recover(writer.snapshot)
            done, changes = self._plan(items, writer.snapshot)
            if changes:
                changes = self._write_down(changes, writer.snapshot.manifest.generation)
                self._make(writer, changes)
                done |= self._mark_done(changes, writer.snapshot.catalogue)
        record()
        return done

    # What is to be done

    def _plan(
        self, items: Sequence[PushItem], snapshot: Snapshot
    ) -> tuple[dict[str, PushResult], list[_Change]]:
        done: dict[str, PushResult] = {}
        changes: list[_Change] = []
        for item in items:
            try:
                change = self._change_of(item, snapshot)
            except (GossamerError, OSError) as error:
                done[item.op] = PushResult(item.op, item.id, "refused", str(error))
                continue
            if change is None:
                done[item.op] = PushResult(item.op, item.id, "unchanged")
            else:
                changes.append(change)
        return done, changes

    def _change_of(self, item: PushItem, snapshot: Snapshot) -> _Change | None:
        """Give what is to be done for an item; None for nothing, InvalidArgument if it may not."""
        _check_item(item)
        if item.file is not None:
            return self._put_file(item, item.file, snapshot.catalogue)
        key = (False, item.id)
        if item.text is not None:
            given = as_given_text({"id": item.id, **item.text})
            if given.id != item.id:
                raise InvalidArgument(f"the text of {item.id!r} says that its id is {given.id!r}")
            new = base_hash(hash_of_given(given))
            source = _source(snapshot.catalogue, key)
            current = base_hash(None if source is None else source.content_hash)
            if new == current:
                return None
            return _Change(item, key, given, new, current, _text_of(snapshot, key))
        if (source := _source(snapshot.catalogue, key)) is None:
            return self._remove_file(item, snapshot.catalogue)
        current = base_hash(source.content_hash)
        return _Change(item, key, None, "", current, _text_of(snapshot, key))

    def _put_file(self, item: PushItem, content: bytes, catalogue: Catalogue) -> _Change | None:
        path = self._uploads.path_of(item.id)
        key = (True, path.as_posix())
        there, source = self._uploads.read(path), _source(catalogue, key)
        new = base_hash(hash_of_bytes(content))
        # The file itself is what counts: someone may have changed it on the server.
        current = base_hash(None if there is None else hash_of_bytes(there))
        is_indexed = source is not None and base_hash(source.content_hash) == new
        if new == current and is_indexed:
            return None
        return _Change(item, key, None, new, current, there or b"")

    def _remove_file(self, item: PushItem, catalogue: Catalogue) -> _Change | None:
        """Give what removes a pushed file, by its name or its path; other files stay."""
        name = self._uploads.name_of(item.id)
        if name is None and catalogue.find_path(item.id) is not None:
            raise InvalidArgument(
                f"{item.id} is a file of the server's; it leaves the index when it is removed there"
            )
        try:
            path = self._uploads.path_of(item.id if name is None else name)
        except InvalidArgument:
            return None  # there can be no such file
        there = self._uploads.read(path)
        key = (True, path.as_posix())
        if there is None and catalogue.find_path(path) is None:
            return None
        current = base_hash(None if there is None else hash_of_bytes(there))
        return _Change(item, key, None, "", current, there or b"")

    # Written down, made, marked

    def _write_down(self, changes: Sequence[_Change], version: int) -> list[_Change]:
        """Write down what is about to be done, with what it replaces if nobody knows of that."""
        written = []
        with self._database.transaction() as connection:
            left = dict(connection.execute("SELECT op, result FROM pushes WHERE NOT is_done"))
            for change in changes:
                item = change.item
                outcome = "stored" if change.hash else "removed"
                result = PushResult(item.op, item.id, outcome)
                if item.op in left:
                    # A file that was put there, by a push that came no further.
                    result = PushResult(**json.loads(left[item.op]))
                elif change.current not in (item.base, change.hash):
                    result = self._conflict(connection, change, version + 1, outcome)
                change = replace(change, result=result)
                connection.execute(
                    "INSERT OR REPLACE INTO pushes (op, is_file, path, version, hash, result, "
                    "is_done) VALUES (?, ?, ?, ?, ?, ?, 0)",
                    (item.op, *change.key, version, change.hash, json.dumps(asdict(result))),
                )
                written.append(change)
            connection.execute(
                "DELETE FROM pushes WHERE is_done AND "
                "number <= (SELECT max(number) FROM pushes) - ?",
                (_MOST_REMEMBERED,),
            )
        return written

    def _conflict(
        self, connection: sqlite3.Connection, change: _Change, version: int, outcome: str
    ) -> PushResult:
        item = change.item
        since = self._history.body_version(change.key)
        conflict = self._conflicts.add(
            connection, item.id, version, lambda number: _note(change, since, number), change.lost
        )
        return PushResult(item.op, item.id, outcome, conflict.note, conflict.number)

    def _make(self, writer: Writer, changes: Sequence[_Change]) -> None:
        model = self._index.opened.model
        texts = [change.text for change in changes if change.text is not None]
        if texts:
            add_texts(writer, model, texts, _silent)
        gone = [change for change in changes if not change.hash]
        for change in gone:
            if change.key[0]:
                self._uploads.remove(change.path)
        if gone:
            names = [("" if one.key[0] else one.item.id, one.path) for one in gone]
            remove_sources(writer, model, names, _silent)
        files = [change for change in changes if change.item.file is not None]
        for change in files:
            self._uploads.write(change.path, change.item.file or b"")
        if files:
            root = PathsToAdd([self._uploads.folder], UPLOADED, are_options_new=True)
            add_paths(writer, model, root, _silent)

    def _mark_done(self, changes: Sequence[_Change], catalogue: Catalogue) -> dict[str, PushResult]:
        results = {}
        with self._database.transaction() as connection:
            for change in changes:
                result = change.result
                if change.hash and (why := _why_left_out(_source(catalogue, change.key))):
                    result = replace(result, note="; ".join(filter(None, (result.note, why))))
                connection.execute(
                    "UPDATE pushes SET result = ?, is_done = 1 WHERE op = ?",
                    (json.dumps(asdict(result)), result.op),
                )
                results[result.op] = result
        return results

    # What was pushed before

    def _result(self, op: str) -> PushResult | None:
        rows = self._database.rows("SELECT result FROM pushes WHERE op = ? AND is_done", (op,))
        return PushResult(**json.loads(rows[0][0])) if rows else None

    def _recover(self, snapshot: Snapshot) -> None:
        """Find out what became of pushes that were written down and not marked as done."""
        query = "SELECT op, is_file, path, version, hash, result FROM pushes WHERE NOT is_done"
        if not self._database.rows(query):
            return
        with self._database.transaction() as connection:
            for op, is_file, path, version, hash, result in connection.execute(query).fetchall():
                source = _source(snapshot.catalogue, (bool(is_file), path))
                if base_hash(None if source is None else source.content_hash) == hash:
                    connection.execute("UPDATE pushes SET is_done = 1 WHERE op = ?", (op,))
                elif not (is_file and self._is_there(Path(path), hash)):
                    connection.execute("DELETE FROM pushes WHERE op = ?", (op,))
                    if not is_file and snapshot.manifest.generation == version:
                        number = PushResult(**json.loads(result)).conflict
                        self._conflicts.remove(connection, number)

    def _is_there(self, path: Path, hash: str) -> bool:
        """Whether a file is as a push would leave it, though the index is not."""
        there = self._uploads.read(path)
        return base_hash(None if there is None else hash_of_bytes(there)) == hash


def _batches(items: Sequence[PushItem]) -> Iterator[list[PushItem]]:
    """Put changes together that do not concern the same id, in their order."""
    batch: list[PushItem] = []
    for item in items:
        if any(_is_about_same(item, other) for other in batch):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _is_about_same(one: PushItem, other: PushItem) -> bool:
    """Whether two changes must be made one after the other: a folder of files counts as well."""
    first, second = sorted((one.id, other.id), key=len)
    return one.op == other.op or second == first or second.startswith(f"{first}/")


def _check_item(item: PushItem) -> None:
    if not 0 < len(item.op) <= _MOST_OP or not item.op.isprintable():
        raise InvalidArgument(f"a change is named by an op such as a uuid, got {item.op[:100]!r}")
    if not 0 < len(item.id) <= _MOST_ID:
        raise InvalidArgument(f"an id has 1 to {_MOST_ID} characters, got {len(item.id)}")
    try:
        item.id.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArgument(f"an id is Unicode text, got {item.id[:100]!r}") from None
    if item.text is not None and item.file is not None:
        raise InvalidArgument(f"{item.id!r} is a text or a file, not both")


def _source(catalogue: Catalogue, key: Key) -> SourceRecord | None:
    is_file, path = key
    row = catalogue.find_path(path) if is_file else catalogue.find_text(path)
    return None if row is None else catalogue.source(row)


def _text_of(snapshot: Snapshot, key: Key) -> bytes:
    """Give the text that was given under an id; nothing if there is none."""
    catalogue = snapshot.catalogue
    row = catalogue.find_text(key[1])
    if row is None:
        return b""
    texts = []
    for document_row in catalogue.documents_of(row):
        document = catalogue.document(document_row)
        end = document.offset + document.text_length
        text = snapshot.texts.read(document.segment, document.offset, end)
        # The title may be kept behind the text.
        span = document.title_span
        is_behind = span is not None and span[1] == len(text) and span[0] > 0
        texts.append(text[: span[0] - 1] if span is not None and is_behind else text)
    return b"".join(texts)


def _note(change: _Change, since: int, number: int) -> str:
    """Say what a change did not know of."""
    when = f" in version {since}" if since else ""
    name = json.dumps(change.item.id, ensure_ascii=False)
    kept = f"the other content is kept as conflict {number}"
    if change.key[0] and not _is_text(change.lost):
        kept += f" ({len(change.lost)} bytes that are no text)"
    if not change.current:
        return f"{name} was removed by someone else{when}; this change put it back"
    did = "changed" if change.item.base else "put there"
    if not change.hash:
        return f"{name} was {did} by someone else{when}; it was removed all the same, and {kept}"
    return f"{name} was {did} by someone else{when}; this change took its place, and {kept}"


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _why_left_out(source: SourceRecord | None) -> str:
    """Say why what was pushed cannot be found; nothing if it can."""
    if source is None:
        return "it is kept, but not indexed"
    if source.status != Status.INDEXED:
        return f"it is kept, but not indexed: {source.reason}"
    return ""


def _silent(_: UpdateProgress) -> None:
    pass
