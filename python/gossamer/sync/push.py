"""Changes that edges ask for: each done once, the last to arrive wins, nothing is lost silently.

What is about to be done is written down first, with what it will replace; then the index is
changed; then it is marked as done. Whatever happens in between, the next push finds out how far
it came by looking at what the index holds.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from gossamer.errors import Damaged, GossamerError, InvalidArgument
from gossamer.files import check_plain_name
from gossamer.store import Catalogue, Snapshot, SourceRecord, Writer, begin, hash_of_bytes
from gossamer.sync.conflicts import Conflicts, Lost
from gossamer.sync.history import History
from gossamer.sync.lost import lost_text
from gossamer.sync.push_order import batches_of
from gossamer.sync.records import PushItem, PushResult
from gossamer.sync.sections import Key
from gossamer.sync.state import base_hash
from gossamer.sync.uploads import UPLOADED, Uploads, why_left_out
from gossamer.update.add import PathsToAdd, add_paths, add_texts, remove_sources
from gossamer.update.given import as_given_text
from gossamer.update.index import ChangeableIndex
from gossamer.update.prepare import GivenText, hash_of_given

__all__ = ["Pusher"]

_WAIT_S = 30.0
_MOST_ID = 4096
_MOST_REMEMBERED = 100_000  # pushes whose results are given again
_NONE = PushResult("", "", "")
_NOTHING = Lost()


@dataclass(frozen=True)
class _Wanted:
    """A change that is asked for, whatever is there now."""

    item: PushItem
    key: Key  # the source that it concerns
    text: GivenText | None  # of a text that is put
    hash: str  # of what will be there, "" for a removal


@dataclass(frozen=True)
class _Change:
    """A change that is to be made, and what is there now."""

    wanted: _Wanted
    current: str  # hash of what is there
    lost: Lost = _NOTHING  # what it replaces
    result: PushResult = _NONE

    @property
    def item(self) -> PushItem:
        return self.wanted.item

    @property
    def key(self) -> Key:
        return self.wanted.key

    @property
    def hash(self) -> str:
        return self.wanted.hash

    @property
    def path(self) -> Path:
        return Path(self.key[1])


class Pusher:
    """Makes pushed changes, one push at a time."""

    def __init__(
        self, index: ChangeableIndex, history: History, conflicts: Conflicts, uploads: Path
    ) -> None:
        self._index = index
        self._history = history
        self._database = history.database
        self._conflicts = conflicts
        self._uploads = Uploads(uploads)
        self._lock = threading.Lock()

    def push(self, items: Sequence[PushItem], record: Callable[[], object]) -> list[PushResult]:
        """Make changes in their order; `record` brings the history to the index as it is."""
        results: list[PushResult] = []
        with self._lock:
            for batch in batches_of(items):
                results += self._push_batch(batch, record)
        return [
            replace(result, op=item.op, id=item.id)
            for result, item in zip(results, items, strict=True)
        ]

    def settle(self, snapshot: Snapshot) -> None:
        """Find out what became of pushes that failed, unless one is being made."""
        if self._lock.acquire(blocking=False):
            try:
                self._recover(snapshot)
            finally:
                self._lock.release()

    def _push_batch(
        self, items: Sequence[PushItem], record: Callable[[], object]
    ) -> list[PushResult]:
        asked = [self._wanted_by(item) for item in items]
        wanted = [one for one in asked if isinstance(one, _Wanted)]
        done = self._known(wanted)
        if left := [one for one in wanted if one.item.op not in done]:
            done |= self._push(left, record)
        return [one if isinstance(one, PushResult) else done[one.item.op] for one in asked]

    def _push(
        self, wanted: Sequence[_Wanted], record: Callable[[], object]
    ) -> dict[str, PushResult]:
        with begin(self._index.folder, "push", _WAIT_S, trust=self._index.trust) as writer:
            assert writer.snapshot is not None, "an index that is offered has a state"
            record()
            self._recover(writer.snapshot)
            # A push that was made and not answered is known by now.
            done = self._known(wanted)
            left = [one for one in wanted if one.item.op not in done]
            planned, changes = self._plan(left, writer.snapshot)
            done |= planned
            if changes:
                changes = self._write_down(changes, writer.snapshot.manifest.generation)
                self._make(writer, changes)
                done |= self._mark_done(changes, writer.snapshot.catalogue)
        record()
        return done

    # What is to be done

    def _wanted_by(self, item: PushItem) -> _Wanted | PushResult:
        """Give what an item asks for; its refusal if that cannot be."""
        try:
            _check_item(item)
            is_file, id = item.key
            if is_file:
                key = (True, self._path_of(item))
                return _Wanted(item, key, None, "" if item.file is None else _hash_of(item.file))
            if item.text is None:
                return _Wanted(item, (False, id), None, "")
            given = as_given_text({"id": id, **item.text})
            if given.id != id:
                raise InvalidArgument(f"the text of {id!r} says that its id is {given.id!r}")
            return _Wanted(item, (False, id), given, base_hash(hash_of_given(given)))
        except GossamerError as error:
            return _refused(item, str(error))

    def _path_of(self, item: PushItem) -> str:
        """Give the path of a file; one that is to be removed may be named by it."""
        name = self._uploads.name_of(item.id) if item.file is None else None
        return self._uploads.path_of(item.id if name is None else name).as_posix()

    def _plan(
        self, wanted: Sequence[_Wanted], snapshot: Snapshot
    ) -> tuple[dict[str, PushResult], list[_Change]]:
        done: dict[str, PushResult] = {}
        changes: list[_Change] = []
        for one in wanted:
            item = one.item
            try:
                change = self._change_of(one, snapshot)
            except (GossamerError, OSError) as error:
                done[item.op] = _refused(item, str(error))
                continue
            if change is None:
                done[item.op] = PushResult(item.op, item.id, "unchanged")
            else:
                changes.append(change)
        return done, changes

    def _change_of(self, wanted: _Wanted, snapshot: Snapshot) -> _Change | None:
        """Give what is to be done; None for nothing, InvalidArgument if it may not."""
        if wanted.key[0]:
            return self._change_of_file(wanted, snapshot.catalogue)
        source = _source(snapshot.catalogue, wanted.key)
        current = base_hash(None if source is None else source.content_hash)
        if wanted.hash == current:
            return None
        return _Change(wanted, current, lost_text(snapshot, wanted.item.id))

    def _change_of_file(self, wanted: _Wanted, catalogue: Catalogue) -> _Change | None:
        """Give what puts or removes a file that edges push; other files stay."""
        path, source = wanted.key[1], _source(catalogue, wanted.key)
        if self._uploads.name_of(path) is None:
            if source is None:
                return None
            raise InvalidArgument(
                f"{path} is a file of the server's; it leaves the index when it is removed there"
            )
        if wanted.hash:
            self._uploads.path_to_put(wanted.item.id)
        there = self._uploads.read(Path(path))
        # The file itself is what counts: someone may have changed it on the server.
        current = base_hash(None) if there is None else _hash_of(there)
        indexed = base_hash(None if source is None else source.content_hash)
        if wanted.hash == current == indexed:
            return None
        return _Change(wanted, current, Lost(there or b""))

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
        model = self._index.model
        given = [change.wanted.text for change in changes]
        texts = [text for text in given if text is not None]
        if texts:
            add_texts(writer, model, [texts])
        gone = [change for change in changes if not change.hash]
        for change in gone:
            if change.key[0]:
                self._uploads.remove(change.path)
        if gone:
            names = [("" if one.key[0] else one.item.id, one.path) for one in gone]
            remove_sources(writer, model, names)
        files = [change for change in changes if change.item.file is not None]
        for change in files:
            self._uploads.write(change.path, change.item.file or b"")
        if files:
            root = PathsToAdd([self._uploads.folder], UPLOADED, are_options_new=True)
            add_paths(writer, model, root)

    def _mark_done(self, changes: Sequence[_Change], catalogue: Catalogue) -> dict[str, PushResult]:
        results = {}
        with self._database.transaction() as connection:
            for change in changes:
                result = change.result
                if change.hash and (why := why_left_out(_source(catalogue, change.key))):
                    result = replace(result, note="; ".join(filter(None, (result.note, why))))
                connection.execute(
                    "UPDATE pushes SET result = ?, is_done = 1 WHERE op = ?",
                    (json.dumps(asdict(result)), result.op),
                )
                results[result.op] = result
        return results

    # What was pushed before

    def _known(self, wanted: Sequence[_Wanted]) -> dict[str, PushResult]:
        """Give the results of changes that were made before, by op.

        An op that was another change is refused: what it asks for now was not done.
        """
        query = "SELECT is_file, path, hash, result, is_done FROM pushes WHERE op = ?"
        known = {}
        for one in wanted:
            for is_file, path, hash, result, is_done in self._database.rows(query, (one.item.op,)):
                if (bool(is_file), path, hash) != (*one.key, one.hash):
                    said = "this op was another change before; give each change an op of its own"
                    known[one.item.op] = _refused(one.item, said)
                elif is_done:
                    known[one.item.op] = PushResult(**json.loads(result))
        return known

    def _recover(self, snapshot: Snapshot) -> None:
        """Find out what became of pushes that were written down and not marked as done."""
        query = "SELECT op, is_file, path, version, hash, result FROM pushes WHERE NOT is_done"
        if not self._database.rows(query):
            return
        with self._database.transaction() as connection:
            for op, is_file, path, version, hash, result in connection.execute(query).fetchall():
                key = (bool(is_file), path)
                source = _source(snapshot.catalogue, key)
                if base_hash(None if source is None else source.content_hash) == hash:
                    connection.execute("UPDATE pushes SET is_done = 1 WHERE op = ?", (op,))
                elif not (is_file and self._is_there(Path(path), hash)):
                    connection.execute("DELETE FROM pushes WHERE op = ?", (op,))
                    number = PushResult(**json.loads(result)).conflict
                    if number and self._is_untouched(key, version, number):
                        self._conflicts.remove(connection, number)

    def _is_there(self, path: Path, hash: str) -> bool:
        """Whether a file is as a push would leave it, though the index is not."""
        there = self._uploads.read(path)
        return (base_hash(None) if there is None else _hash_of(there)) == hash

    def _is_untouched(self, key: Key, version: int, conflict: int) -> bool:
        """Whether nobody changed a source since a push was about to, so that nothing was lost."""
        if not 0 < self._history.body_version(key) <= version:
            return False
        is_file, path = key
        there = self._uploads.read(Path(path)) if is_file else None
        return not is_file or (there or b"") == self._conflicts.lost_bytes(conflict)


def _refused(item: PushItem, why: str) -> PushResult:
    return PushResult(item.op, item.id, "refused", why)


def _check_item(item: PushItem) -> None:
    try:
        check_plain_name(item.op, "a change")
    except Damaged as error:
        raise InvalidArgument(f"{error}, such as a uuid") from None
    if not 0 < len(item.id) <= _MOST_ID:
        raise InvalidArgument(f"an id has 1 to {_MOST_ID} characters, got {len(item.id)}")
    try:
        item.id.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArgument(f"an id is Unicode text, got {item.id[:100]!r}") from None
    if item.text is not None and item.key[0]:
        raise InvalidArgument(f"{item.id!r} is a text or a file, not both")


def _source(catalogue: Catalogue, key: Key) -> SourceRecord | None:
    row = catalogue.find(*key)
    return None if row is None else catalogue.source(row)


def _hash_of(content: bytes) -> str:
    return base_hash(hash_of_bytes(content))


def _note(change: _Change, since: int, number: int) -> str:
    """Say what a change did not know of."""
    when = f" in version {since}" if since else ""
    name = json.dumps(change.item.id, ensure_ascii=False)
    kept = f"the other content is kept as conflict {number}"
    if change.key[0] and not _is_text(change.lost.content):
        kept += f" ({len(change.lost.content)} bytes that are no text)"
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
