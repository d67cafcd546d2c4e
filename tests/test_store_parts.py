"""Manifest, lock, journal and hot vectors."""

import errno
import json
import os
from dataclasses import asdict, replace

import numpy as np
import pytest
from conftest import clustered
from faults import needs_fork, run_killed_at

from gossamer.errors import Damaged, GossamerError, Locked, NotGossamer, UnknownVersion
from gossamer.store import HotVectors, Journal, Manifest, ModelStamp, Settings, hash_of_text, lock
from gossamer.store.hashes import digest_of
from gossamer.store.hot import HOT
from gossamer.store.journal import JOURNAL, as_kept
from gossamer.store.lock import hold_lock
from gossamer.store.manifest import FileEntry

MANIFEST = Manifest(
    uuid="0123456789abcdef0123456789abcdef",
    generation=7,
    created="2024-01-01T00:00:00+00:00",
    changed="2024-01-02T00:00:00+00:00",
    model=ModelStamp("minilm", "f" * 32, 2, 254, 254, (0.1, -0.25)),
    settings=Settings(walk={"hidden": False, "ignore": ["*.log"]}),
    roots=("/home/a/notes", "/home/\udc80"),
    next_chunk_id=100,
    files=(FileEntry("segment-9.gss", 10, "ab"), FileEntry("vectors-3.gsm", 5, "cd")),
    counts={"chunks": 99},
)


def signed(values):
    body = json.dumps(values).encode() + b"\n"
    return body + digest_of(body).encode() + b"\n"


def test_a_manifest_comes_back_as_it_was():
    assert Manifest.from_bytes(MANIFEST.to_bytes()) == MANIFEST
    assert [entry.number for entry in MANIFEST.files_of("vectors")] == [3]


def test_every_flipped_or_missing_byte_of_a_manifest_is_noticed():
    data = MANIFEST.to_bytes()

    for at in range(len(data)):
        with pytest.raises(GossamerError):
            Manifest.from_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(GossamerError):
            Manifest.from_bytes(data[:at])


def test_a_manifest_of_a_newer_release_says_so():
    values = json.loads(MANIFEST.to_bytes().rpartition(b"}")[0] + b"}") | {"version": 3}

    with pytest.raises(UnknownVersion, match=r"version 3.*reads 2.*newer"):
        Manifest.from_bytes(signed(values))
    with pytest.raises(NotGossamer):
        Manifest.from_bytes(b"hello")


@pytest.mark.parametrize(
    "change",
    [
        {"generation": -1},
        {"generation": "7"},
        {"generation": True},
        {"uuid": 5},
        {"roots": "/a"},
        {"roots": [1]},
        {"counts": {"chunks": "many"}},
        {"files": [{"name": "texts-1.gst", "size": 1, "digest": ""}]},
        {"files": [{"name": "../segment-1.gss", "size": 1, "digest": ""}]},
        {"files": [{"name": "segment-1.gss", "size": 2**70, "digest": ""}]},
        {"files": [{"name": f"segment-{n}.gss", "size": 1, "digest": ""} for n in range(1, 66)]},
        {"files": [{"name": f"segment-{1 << 31}.gss", "size": 1, "digest": ""}]},
        {"files": [{"name": "segment-1.gsm", "size": 1, "digest": ""}]},
        {"files": [{"name": f"vectors-{n}.gsm", "size": 1, "digest": ""} for n in (1, 2)]},
        {"model": []},
        {"model": asdict(MANIFEST.model) | {"name": "a\nb"}},
        {"model": asdict(MANIFEST.model) | {"fingerprint": "\udc80"}},
        {"settings": {"code_bytes": 1.5}},
        {"settings": {"unknown": 1}},
        {"next_chunk_id": None},
    ],
)
def test_a_manifest_with_a_value_that_cannot_be_is_damaged(change):
    values = json.loads(MANIFEST.to_bytes().rpartition(b"}")[0] + b"}")

    with pytest.raises(Damaged, match="MANIFEST"):
        Manifest.from_bytes(signed(values | change))


def test_the_second_writer_is_told_who_the_first_one_is(tmp_path):
    with (
        hold_lock(tmp_path, "gossamer add"),
        pytest.raises(Locked, match=rf"process {os.getpid()} on .* \(gossamer add, since"),
        hold_lock(tmp_path, "gossamer remove"),
    ):
        pass

    with hold_lock(tmp_path, "gossamer remove"):
        pass


@needs_fork
def test_a_lock_dies_with_its_process(tmp_path):
    def be_killed():
        with hold_lock(tmp_path, "gossamer add"):
            os.utime(tmp_path)

    killed = [n for n in range(1, 10) if run_killed_at(n, be_killed)]

    assert killed == [1, 2, 3, 4, 5]
    with hold_lock(tmp_path, "gossamer add"):
        pass


def test_where_the_system_has_no_locks_a_file_serves(tmp_path, monkeypatch):
    def refuse(_):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(lock, "_lock", refuse)

    with hold_lock(tmp_path, "one"), pytest.raises(Locked, match="one"), hold_lock(tmp_path, "two"):
        pass
    with hold_lock(tmp_path, "two"):
        pass
    assert not (tmp_path / "lock.held").exists()


@needs_fork
def test_a_lock_file_of_a_dead_process_is_taken_over(tmp_path, monkeypatch):
    def refuse(_):
        raise OSError(errno.ENOLCK, "no locks available")

    def be_killed():
        with hold_lock(tmp_path, "dead"):
            os.rmdir(tmp_path / "not there")

    monkeypatch.setattr(lock, "_lock", refuse)
    assert run_killed_at(4, be_killed)
    assert (tmp_path / "lock.held").exists()

    with hold_lock(tmp_path, "alive"):
        assert json.loads((tmp_path / "lock.held").read_text())["command"] == "alive"


def hashes(count, name="text"):
    return [hash_of_text(f"{name} {number}") for number in range(count)]


def test_a_journal_gives_back_what_it_was_given(tmp_path):
    vectors = clustered(50, seed=1, dim=8)
    journal = Journal(tmp_path / JOURNAL, "model", 8, 1 << 20)
    journal.add(hashes(50)[:30], vectors[:30])
    journal.add(hashes(50)[30:], vectors[30:])
    journal.close()

    journal = Journal(tmp_path / JOURNAL, "model", 8, 1 << 20)
    known, found = journal.find([*hashes(50)[::-1], *hashes(5, "other")])
    journal.close()

    assert known.tolist() == [True] * 50 + [False] * 5
    assert np.array_equal(found, as_kept(vectors[::-1]))


def test_a_torn_tail_is_ignored_and_written_over(tmp_path):
    vectors = clustered(6, seed=1, dim=4)
    path = tmp_path / JOURNAL
    journal = Journal(path, "model", 4, 1 << 20)
    journal.add(hashes(3), vectors[:3])
    whole = path.stat().st_size
    journal.add(hashes(6)[3:], vectors[3:])
    journal.close()
    data = path.read_bytes()

    for length in range(len(data)):
        path.write_bytes(data[:length])
        journal = Journal(path, "model", 4, 1 << 20)
        assert len(journal) == (3 if length >= whole else 0)
        journal.add(hashes(6)[5:], vectors[5:])
        journal.close()
        journal = Journal(path, "model", 4, 1 << 20)
        known, found = journal.find(hashes(6)[5:])
        journal.close()
        assert known.all()
        assert np.array_equal(found, as_kept(vectors[5:]))


def test_flipped_bytes_of_a_journal_never_give_a_wrong_vector(tmp_path):
    vectors = clustered(6, seed=1, dim=4)
    path = tmp_path / JOURNAL
    journal = Journal(path, "model", 4, 1 << 20)
    journal.add(hashes(6), vectors)
    journal.close()
    data = path.read_bytes()

    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x81]) + data[at + 1 :])
        journal = Journal(path, "model", 4, 1 << 20)
        assert not journal.find(hashes(6))[0].any()
        journal.close()


def test_a_journal_of_another_model_is_begun_anew(tmp_path):
    for model, dim in (("one", 4), ("two", 4), ("two", 2)):
        journal = Journal(tmp_path / JOURNAL, model, dim, 1 << 20)
        assert len(journal) == 0
        journal.add(hashes(3), np.ones((3, dim)))
        journal.close()


def test_a_journal_stops_at_its_size(tmp_path):
    journal = Journal(tmp_path / JOURNAL, "model", 4, 500)
    for _ in range(50):
        journal.add(hashes(3), np.ones((3, 4)))
    journal.close()

    assert (tmp_path / JOURNAL).stat().st_size <= 500


def open_hot(folder, budget=1 << 20, uuid="u", model="m", dim=8):
    return HotVectors.open(folder, uuid, model, dim, budget)


def test_hot_vectors_are_there_in_the_next_run(tmp_path):
    vectors = clustered(20, seed=1, dim=8)
    hot = open_hot(tmp_path)
    hot.put(np.arange(20) * 3, vectors)
    hot.put_question(hash_of_text("why"), vectors[0])
    assert hot.save()

    again = open_hot(tmp_path)
    mask, found = again.get([57, 1, 0])

    assert mask.tolist() == [True, False, True]
    assert np.array_equal(found, as_kept(vectors[[19, 0]]))
    assert np.array_equal(again.question(hash_of_text("why")), as_kept(vectors[0]))
    assert again.question(hash_of_text("what")) is None
    assert not again.save()


def test_hot_vectors_stay_within_their_budget_and_keep_what_is_used(tmp_path):
    vectors = clustered(200, seed=1, dim=8)
    hot = open_hot(tmp_path, budget=2000)
    for at in range(0, 200, 10):
        hot.question(hash_of_text(f"question {at}"))
        hot.get([0])
        hot.put(np.arange(at, at + 10), vectors[at : at + 10])
        hot.put_question(hash_of_text(f"question {at}"), vectors[at])
        hot.save()
        assert (tmp_path / HOT).stat().st_size <= 2000

    mask, found = open_hot(tmp_path, budget=2000).get(np.arange(200))

    assert mask[0]
    assert mask[190:].all()
    assert not mask[1:100].any()
    assert np.array_equal(found, as_kept(vectors[mask]))
    assert open_hot(tmp_path).question(hash_of_text("question 190")) is not None


def test_two_processes_learn_together(tmp_path):
    vectors = clustered(2, seed=1, dim=8)
    one, two = open_hot(tmp_path), open_hot(tmp_path)
    one.put([1], vectors[:1])
    two.put([2], vectors[1:])

    assert one.save()
    assert two.save()

    assert open_hot(tmp_path).get([1, 2])[0].all()


def test_hot_vectors_are_not_written_while_another_process_writes_them(tmp_path):
    hot = open_hot(tmp_path)
    hot.put([1], np.ones((1, 8)))

    with lock.try_lock(tmp_path / "hot.lock", "other"):
        assert not hot.save()

    assert hot.save()


def test_vectors_of_chunks_that_are_gone_are_dropped(tmp_path):
    hot = open_hot(tmp_path)
    hot.put([1, 2, 3], np.ones((3, 8)))
    hot.save(live_ids=[2, 4])

    assert open_hot(tmp_path).get([1, 2, 3])[0].tolist() == [False, True, False]


def test_hot_vectors_of_another_index_or_model_are_not_used(tmp_path):
    hot = open_hot(tmp_path)
    hot.put([1], np.ones((1, 8)))
    hot.save()

    for other in ({"uuid": "v"}, {"model": "n"}, {"dim": 4}):
        assert len(open_hot(tmp_path, **other)) == 0
    assert len(open_hot(tmp_path)) == 1


def test_damaged_hot_vectors_are_missing_and_never_wrong(tmp_path):
    vectors = clustered(4, seed=1, dim=8)
    hot = open_hot(tmp_path)
    hot.put([1, 2, 3], vectors[:3])
    hot.put_question(hash_of_text("why"), vectors[3])
    hot.save()
    data = (tmp_path / HOT).read_bytes()

    for at in range(len(data)):
        for spoilt in (data[:at] + bytes([data[at] ^ 0x11]) + data[at + 1 :], data[:at]):
            (tmp_path / HOT).write_bytes(spoilt)
            hot = open_hot(tmp_path)
            mask, found = hot.get([1, 2, 3])
            assert np.array_equal(found, as_kept(vectors[:3][mask]))
            question = hot.question(hash_of_text("why"))
            assert question is None or np.array_equal(question, as_kept(vectors[3]))


def test_a_manifest_that_could_not_be_read_again_is_noticed():
    spoilt = replace(MANIFEST, model=replace(MANIFEST.model, probe=(float("nan"),)))

    with pytest.raises(Damaged, match="not finite"):
        Manifest.from_bytes(spoilt.to_bytes())
