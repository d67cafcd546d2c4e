"""Saving and opening: a file is there whole or not at all."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import clustered

import gossamer
from gossamer import Codebook, VectorIndex
from gossamer.errors import CodebookMismatch, MissingCodebook

KINDS = [
    (keep, graph) for keep in ("none", "hot:6KB", "all") for graph in (None, "full", "hub", "slim")
]


@pytest.mark.parametrize(("keep", "graph"), KINDS)
def test_an_opened_index_answers_like_the_one_saved(keep, graph, build, queries, library, tmp_path):
    index = build(keep=keep, graph=graph)
    written = index.save(tmp_path / "index")
    opened = VectorIndex.open(tmp_path / "index", verify=True)

    strategy = "scan" if graph is None else "best-first"
    expected = index.search(queries, 5, effort=40, strategy=strategy, vectors_of=library)
    found = opened.search(queries, 5, effort=40, strategy=strategy, vectors_of=library)

    assert written == (tmp_path / "index").stat().st_size
    assert np.array_equal(found.ids, expected.ids)
    assert np.array_equal(found.distances, expected.distances)
    assert opened.stats() == index.stats()
    assert np.array_equal(opened.ids, index.ids)


def test_paths_may_be_strings(build, tmp_path):
    build().save(str(tmp_path / "index"))

    assert len(VectorIndex.open(str(tmp_path / "index"))) == 600


def test_a_file_without_its_codebook_is_small_and_opens_with_the_shared_one(
    build, queries, library, codebook, tmp_path
):
    index = build()
    whole = index.save(tmp_path / "whole")
    small = index.save(tmp_path / "small", with_codebook=False)
    shared = Codebook.from_bytes(codebook.to_bytes())

    opened = VectorIndex.open(tmp_path / "small", codebook=shared)

    assert whole - small > 0.9 * len(codebook.to_bytes())
    expected, found = (i.search(queries, 5, effort=20, vectors_of=library) for i in (index, opened))
    assert np.array_equal(found.ids, expected.ids)


def test_a_shared_codebook_must_be_given(build, tmp_path):
    build().save(tmp_path / "index", with_codebook=False)

    with pytest.raises(MissingCodebook, match=r"index: .*open it with codebook="):
        VectorIndex.open(tmp_path / "index")


def test_another_codebook_is_refused(build, more_vectors, tmp_path):
    build().save(tmp_path / "index", with_codebook=False)
    other = gossamer.train_codebook(more_vectors, 12)

    with pytest.raises(CodebookMismatch, match=r"index: .*another codebook"):
        VectorIndex.open(tmp_path / "index", codebook=other)


def test_without_its_source_graph_a_slim_index_is_smaller(build, tmp_path):
    index = build(keep="all", graph="slim", keep_source=True)

    whole = index.save(tmp_path / "whole")
    small = index.save(tmp_path / "small", with_source=False)

    assert small < whole
    assert VectorIndex.open(tmp_path / "whole").stats().source_graph_bytes > 0
    assert VectorIndex.open(tmp_path / "small").stats().source_graph_bytes == 0


def test_an_index_can_be_saved_over_the_file_it_reads(build, queries, tmp_path):
    path = tmp_path / "index"
    build(keep="all", graph="full").save(path)
    index = VectorIndex.open(path)
    index.delete(np.arange(100))

    index.save(path)
    index.compact()
    index.save(path)

    assert len(VectorIndex.open(path, verify=True)) == 500
    assert index.search(queries, 5).ids.min() >= 100


def test_an_opened_index_lives_on_when_its_file_is_gone(build, queries, library, tmp_path):
    path = tmp_path / "index"
    build(graph="hub").save(path)
    index = VectorIndex.open(path)
    path.unlink()

    found = index.search(queries, 5, strategy="walk", effort=40, vectors_of=library)

    assert found.ids.shape == (40, 5)


def test_verifying_an_index_that_was_never_saved_is_fine(build):
    build(keep="all", graph="slim").verify()


def test_a_new_file_gets_the_permissions_of_the_process(build, tmp_path):
    before = os.umask(0o027)
    try:
        build().save(tmp_path / "index")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "index").stat().st_mode) == 0o640


def test_a_replaced_file_keeps_its_permissions(build, tmp_path):
    path = tmp_path / "index"
    path.touch()
    path.chmod(0o604)

    build().save(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_saving_into_a_folder_that_does_not_exist_is_refused(build, tmp_path):
    with pytest.raises(FileNotFoundError):
        build().save(tmp_path / "nowhere" / "index")


@pytest.fixture
def old_file(build, tmp_path) -> Path:
    path = tmp_path / "index"
    build().save(path)
    return path


def check_old_file_stands_alone(path: Path) -> None:
    assert len(VectorIndex.open(path, verify=True)) == 600
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_failed_save_leaves_the_old_file_and_no_other(call, error, old_file, build, monkeypatch):
    def fail(*_: object) -> None:
        raise error(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(error):
        build(keep="all").save(old_file)

    monkeypatch.undo()
    check_old_file_stands_alone(old_file)


def test_a_full_disk_leaves_the_old_file_and_no_other(old_file, build):
    index = build(keep="all", graph="full")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            index.save(old_file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    check_old_file_stands_alone(old_file)


SAVER = """
import sys
from pathlib import Path

from gossamer import VectorIndex

indexes = [VectorIndex.open(path) for path in sys.argv[2:]]
for turn in range(1000):
    print(turn, flush=True)
    indexes[turn % 2].save(sys.argv[1])
"""


@pytest.mark.parametrize("turns", [1, 2, 5, 9])
def test_killing_the_process_while_it_saves_leaves_a_whole_file(turns, codebook, tmp_path):
    counts = (3000, 4000)
    for count in counts:
        VectorIndex.build(
            clustered(count, seed=1), keep="all", codebook=codebook, calibrate=False
        ).save(tmp_path / str(count))
    path = tmp_path / "index"
    VectorIndex.open(tmp_path / "3000").save(path)

    with subprocess.Popen(
        [sys.executable, "-c", SAVER, path, tmp_path / "4000", tmp_path / "3000"],
        stdout=subprocess.PIPE,
    ) as process:
        for _ in range(turns):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.read()

    assert process.returncode == -signal.SIGKILL
    assert len(VectorIndex.open(path, verify=True)) in counts
