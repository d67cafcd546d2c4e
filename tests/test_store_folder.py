"""The index folder: a change is there whole or not at all, whatever happens on the way."""

import contextlib
import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import DIM, clustered
from copies import copy_index
from faults import count_calls, failing_at, needs_fork, run_killed_at

import gossamer
from gossamer.errors import (
    Damaged,
    GossamerError,
    InvalidArgument,
    Locked,
    NoIndex,
    UnknownVersion,
    Unwritable,
)
from gossamer.records import ChunkSpan
from gossamer.store import (
    ChunkedDocument,
    DocumentRecord,
    ModelStamp,
    Settings,
    SourceRecord,
    begin,
    check_of,
    default_folder,
    hash_of_bytes,
    hash_of_text,
    list_indexes,
    open_index,
)
from gossamer.store.check import check
from gossamer.store.journal import JOURNAL
from gossamer.store.manifest import MANIFEST

MODEL = ModelStamp("test", "fingerprint", DIM, 256, 256)


@dataclass
class Helper:
    """Changes an index as the product does, with vectors that are made up from the text.

    Their codes are in the segments, or in a file of vectors.
    """

    codebook: gossamer.Codebook
    has_codes: bool

    def vectors_of(self, texts):
        seeds = [check_of(text) for text in texts]
        return np.concatenate([clustered(1, seed) for seed in seeds])

    def put(self, folder, texts, remove=(), **options):
        with begin(folder) as writer:
            return self.put_with(writer, texts, remove, **options)

    def put_with(self, writer, texts, remove=(), **options):
        changes = writer.changes(self.codebook if self.has_codes else None)
        journal = writer.journal(MODEL.fingerprint, DIM)
        old = None if writer.snapshot is None else writer.snapshot.open_vectors(self.codebook)
        catalogue = changes._old
        changes.remove_sources(catalogue.find_text(id) for id in remove)
        rows = {catalogue.find_text(id) for id in (*remove, *texts)} - {None}
        gone = [catalogue.chunks_of(row) for row in rows]
        ids, vectors = [], []
        for id, text in texts.items():
            document, source = self.store(changes, id, text)
            ids.append(changes.replace_source(source, [document]))
            vectors.append(self.vectors_of([text]))
            journal.add([hash_of_text(text)], vectors[-1])
            if self.has_codes:
                changes.add_codes(ids[-1], self.codebook.encode(vectors[-1]))
        save = None if self.has_codes else self.saver(old, gone, ids, vectors)
        return writer.commit(
            changes, save_vectors=save, model=MODEL, settings=Settings(), roots=(), **options
        )

    def store(self, changes, id, text):
        data = text.encode()
        segment, offset = changes.add_text(data)
        record = DocumentRecord(len(data), "text", segment, offset)
        document = ChunkedDocument(record, [ChunkSpan(0, len(data))], [check_of(text)])
        return document, SourceRecord("", id, 0, 0, hash_of_bytes(data), "text")

    def saver(self, index, removed, ids, vectors):
        if index is not None and removed:
            index.delete(np.concatenate(removed))
            index.compact()
        if ids:
            rows, names = np.concatenate(vectors), np.concatenate(ids)
            if index is None:
                index = gossamer.VectorIndex.build(
                    rows, ids=names, codebook=self.codebook, calibrate=False, threads=1
                )
            else:
                index.add(rows, names)
        return lambda path: index.save(path, with_codebook=False)

    def content(self, folder):
        """Give all texts by id, each checked against its chunk and its vector."""
        snapshot = open_index(folder)
        return self.content_of(snapshot)

    def content_of(self, snapshot):
        catalogue = snapshot.catalogue
        index = snapshot.open_vectors(self.codebook)
        assert sorted([] if index is None else index.ids.tolist()) == catalogue.chunk_ids.tolist()
        content = {}
        for row in range(catalogue.source_count):
            (id,) = catalogue.chunks_of(row).tolist()
            document = catalogue.document(*catalogue.documents_of(row))
            end = document.offset + document.text_length
            text = snapshot.texts.read(document.segment, document.offset, end).decode()
            assert catalogue.checks([id]) == check_of(text)
            content[catalogue.source(row).name] = text
        return content


@pytest.fixture(scope="module", params=["codes", "vectors"])
def helper(request):
    codebook = gossamer.train_codebook(clustered(400, seed=5), 8)
    return Helper(codebook, request.param == "codes")


@pytest.fixture
def folder(helper, tmp_path):
    """Make an index of three texts."""
    helper.put(tmp_path / "index", OLD)
    return tmp_path / "index"


OLD = {"a": "alpha " * 20, "b": "beta", "c": "gamma"}
NEW = {"a": "alpha " * 20, "b": "beta two", "d": "delta"}


def errors_of(folder, helper):
    findings = check(folder, codebook=helper.codebook)
    return [finding for finding in findings if finding.severity == "error"]


def test_what_was_committed_is_there_and_nothing_else(helper, folder):
    assert helper.content(folder) == OLD
    assert check(folder, codebook=helper.codebook) == []
    vectors = [] if helper.has_codes else ["vectors-2.gsm"]
    assert sorted(path.name for path in folder.iterdir()) == [
        MANIFEST,
        *("lock", "segment-1.gss", *vectors),
    ]


def test_a_change_takes_place_and_the_counts_follow(helper, folder):
    snapshot = helper.put(folder, {"b": NEW["b"], "d": NEW["d"]}, remove=["c"])

    assert helper.content(folder) == NEW
    assert snapshot.manifest.generation == 2
    assert snapshot.manifest.counts["chunks"] == 3
    assert snapshot.manifest.counts["text_bytes"] == sum(map(len, NEW.values()))
    assert snapshot.catalogue.chunk_ids.tolist() == [1, 4, 5]
    assert check(folder, codebook=helper.codebook) == []


def test_leaving_without_a_commit_takes_everything_back(helper, folder):
    before = sorted(path.name for path in folder.iterdir())

    with pytest.raises(KeyError), begin(folder) as writer:  # noqa: PT012
        writer.changes().add_text(b"x" * 5_000_000)
        raise KeyError

    assert sorted(path.name for path in folder.iterdir()) == before
    assert helper.content(folder) == OLD


def test_errors_of_the_caller_pass_through_unchanged(folder):
    with pytest.raises(FileNotFoundError, match="mine"), begin(folder):
        raise FileNotFoundError("mine")


def test_everything_can_be_removed_and_added_again(helper, folder):
    helper.put(folder, {}, remove=["a", "b", "c"])

    assert helper.content(folder) == {}
    assert open_index(folder).open_vectors() is None
    assert check(folder) == []
    helper.put(folder, NEW)
    assert helper.content(folder) == NEW
    assert open_index(folder).catalogue.chunk_ids.tolist() == [4, 5, 6]


def test_a_reader_keeps_its_state_while_a_writer_commits_twice(helper, folder):
    snapshot = open_index(folder)

    helper.put(folder, {"b": NEW["b"]}, remove=["c"])
    helper.put(folder, {"a": "other"}, is_compact=True)

    assert helper.content_of(snapshot) == OLD
    assert not snapshot.is_current()
    assert open_index(folder).is_current()
    assert helper.content(folder) == {"a": "other", "b": NEW["b"]}


def test_a_state_replaced_while_it_is_opened_is_opened_anew(helper, folder, monkeypatch):
    real = gossamer.store.snapshot.map_file
    commits = [{"x": "one"}, {"x": "two"}]

    def map_slowly(path, **options):
        if commits:
            texts = commits.pop()
            with monkeypatch.context() as patch:
                patch.setattr(gossamer.store.snapshot, "map_file", real)
                helper.put(folder, texts, is_compact=True)
        return real(path, **options)

    monkeypatch.setattr(gossamer.store.snapshot, "map_file", map_slowly)

    assert helper.content(folder) == OLD | {"x": "one"}


def test_a_second_writer_waits_for_nothing_unless_told_to(folder):
    with begin(folder), pytest.raises(Locked, match="is changing"), begin(folder):
        pass


def test_two_commits_in_one_go_are_two_states(helper, folder):
    with begin(folder) as writer:
        helper.put_with(writer, {"b": NEW["b"]})
        middle = helper.content(folder)
        helper.put_with(writer, {"d": NEW["d"]}, remove=["c"])

    assert middle == OLD | {"b": NEW["b"]}
    assert helper.content(folder) == NEW


def test_small_segments_are_merged_and_dead_text_is_given_back(helper, folder):
    for number in range(20):
        helper.put(folder, {f"n{number}": f"number {number}"})

    assert len(open_index(folder).manifest.files_of("segment")) <= 4
    helper.put(folder, {}, remove=["a"], is_compact=True)
    snapshot = open_index(folder)
    assert len(snapshot.manifest.files_of("segment")) == 1
    assert sum(snapshot.texts.lengths.values()) == snapshot.manifest.counts["text_bytes"]
    expected = OLD | {f"n{number}": f"number {number}" for number in range(20)}
    del expected["a"]
    assert helper.content(folder) == expected


def test_the_vectors_that_are_there_can_stay(helper, folder):
    with begin(folder) as writer:
        changes = writer.changes(helper.codebook if helper.has_codes else None)
        changes.touch_source(0, 5)
        writer.commit(changes, save_vectors=None, model=MODEL, settings=Settings(), roots=("/new",))

    assert helper.content(folder) == OLD
    catalogue = open_index(folder).catalogue
    assert catalogue.stat_of(catalogue.find_text("a")) == (0, 5)


def test_chunks_without_vectors_are_refused(helper, tmp_path):
    with begin(tmp_path) as writer:
        changes = writer.changes()
        document, source = helper.store(changes, "a", "text")
        changes.replace_source(source, [document])
        with pytest.raises(InvalidArgument, match="save_vectors"):
            writer.commit(changes, save_vectors=None, model=MODEL, settings=Settings(), roots=())


def test_where_there_is_no_index_the_error_says_how_to_make_one(tmp_path):
    with pytest.raises(NoIndex, match="gossamer add"):
        open_index(tmp_path)
    with pytest.raises(NoIndex):
        check(tmp_path / "nothing")


def test_a_missing_file_is_damage_and_said_so(helper, folder):
    for path in [p for p in folder.iterdir() if p.name not in (MANIFEST, "lock")]:
        moved = path.rename(folder / "aside")

        with pytest.raises(Damaged, match=f"{path.name} is missing"):
            open_index(folder)
        assert errors_of(folder, helper)

        moved.rename(path)


def test_every_flipped_byte_is_found_and_none_gives_a_wrong_text(helper, folder):
    for path in [p for p in folder.iterdir() if p.name != "lock"]:
        data = path.read_bytes()
        for at in range(len(data)):
            path.write_bytes(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
            with contextlib.suppress(GossamerError):
                assert helper.content(folder) == OLD
            if at % 11 == 0:
                assert has_error(folder, helper), (path.name, at)
        path.write_bytes(data)

    assert errors_of(folder, helper) == []


def has_error(folder, helper):
    try:
        return bool(errors_of(folder, helper))
    except (UnknownVersion, gossamer.errors.NotGossamer):
        return True


def test_check_names_what_a_killed_writer_left_behind(helper, folder):
    shutil.copy(folder / "segment-1.gss", folder / "segment-9.gss")
    (folder / f".{MANIFEST}.abc.part").write_bytes(b"")
    (folder / JOURNAL).write_bytes(b"old")
    (folder / "notes-1.txt").write_bytes(b"not ours")

    findings = check(folder, codebook=helper.codebook)

    assert [finding.severity for finding in findings] == ["note"] * 3
    helper.put(folder, {"b": "two"})
    assert check(folder, codebook=helper.codebook) == []
    assert (folder / "notes-1.txt").exists()


def test_check_without_the_codebook_says_what_it_left_out(folder):
    assert [finding.severity for finding in check(folder)] == ["note"]


def scenario(helper, folder):
    """Change an index in two steps, the second of which writes texts anew."""
    helper.put(folder, {"b": NEW["b"]}, remove=["c"])
    helper.put(folder, {"d": NEW["d"]}, is_compact=True)


@needs_fork
def test_killed_at_any_call_the_index_is_in_one_of_its_states(helper, folder, tmp_path):
    trial = copy_of(folder, tmp_path / "trial")
    calls = count_calls(lambda: scenario(helper, trial))
    middle = {"a": OLD["a"], "b": NEW["b"]}
    seen = []

    for n in range(1, calls + 1, 2):
        copy_of(folder, trial)
        assert run_killed_at(n, lambda: scenario(helper, trial))
        state = helper.content(trial)
        assert state in (OLD, middle, NEW)
        assert errors_of(trial, helper) == []
        seen.append(state)
        if n % 9 == 0:
            helper.put(trial, NEW, remove=state.keys() - NEW.keys())
            assert helper.content(trial) == NEW
            assert check(trial, codebook=helper.codebook) == []

    assert calls > 50
    assert [s for i, s in enumerate(seen) if i == 0 or s != seen[i - 1]] == [OLD, middle, NEW]


@needs_fork
def test_a_new_index_killed_at_any_call_is_not_there_or_whole(helper, tmp_path):
    calls = count_calls(lambda: helper.put(tmp_path / "count", OLD))

    for n in range(1, calls + 1, 2):
        trial = tmp_path / f"trial{n}"
        run_killed_at(n, lambda trial=trial: helper.put(trial, OLD))
        try:
            assert helper.content(trial) == OLD
        except NoIndex:
            helper.put(trial, OLD)
        assert helper.content(trial) == OLD


def message_of_full_disk(n, change):
    """Give what a change says whose n-th call finds the disk full; "" if it took place."""
    try:
        with failing_at(n):
            change()
    except Unwritable as error:
        return f"{errno.errorcode[error.errno]} {error}"
    return ""


def test_a_disk_that_is_full_at_any_call_leaves_the_old_state(helper, folder, tmp_path):
    trial = copy_of(folder, tmp_path / "trial")

    def change():
        helper.put(trial, {"b": NEW["b"]}, remove=["c"])

    with failing_at(1 << 30) as calls:
        change()
    for n in range(1, calls[0] + 1):
        copy_of(folder, trial)
        message = message_of_full_disk(n, change)
        is_late = n >= calls[0] - 2  # the state is committed, and what is left may fail
        assert message.startswith("ENOSPC cannot change the index in") or is_late
        is_made = not message or "is made" in message
        assert helper.content(trial) == ({"a": OLD["a"], "b": NEW["b"]} if is_made else OLD)
        assert {f.severity for f in check(trial, codebook=helper.codebook)} <= {"note"}

    assert calls[0] > 15


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(folder):
    folder.chmod(0o500)
    try:
        with pytest.raises(Unwritable, match="permission denied"), begin(folder):
            pass
    finally:
        folder.chmod(0o700)


def test_a_read_only_disk_is_named(folder):
    with (
        failing_at(1, errno.EROFS),
        pytest.raises(Unwritable, match="read-only"),
        begin(folder),
    ):
        pass


def copy_of(folder: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return copy_index(folder, target)


def test_an_interrupted_build_finds_its_vectors_again(helper, folder):
    vectors = helper.vectors_of(["one", "two"])
    hashes = [hash_of_text("one"), hash_of_text("two")]
    with begin(folder) as writer:
        writer.journal(MODEL.fingerprint, DIM).add(hashes, vectors)

    with begin(folder) as writer:
        known, found = writer.journal(MODEL.fingerprint, DIM).find([*hashes, hash_of_text("three")])

    assert known.tolist() == [True, True, False]
    assert np.abs(found - vectors).max() < 1e-3
    helper.put(folder, {"b": "two"})
    assert not (folder / JOURNAL).exists()


def test_indexes_are_found_by_name(helper, tmp_path, monkeypatch):
    monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path))
    assert list_indexes() == []

    helper.put(default_folder("notes"), OLD)
    helper.put(default_folder("mail"), OLD)

    assert list_indexes() == ["mail", "notes"]
    assert default_folder("notes") == tmp_path / "indexes" / "notes"
    for name in ("", "a/b", "..", ".x", "a\\b"):
        with pytest.raises(InvalidArgument, match="named like a file"):
            default_folder(name)
