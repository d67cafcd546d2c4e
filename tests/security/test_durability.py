"""A disk that fails to keep a folder: it is noticed, and nothing is committed upon it."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tiny_embedder import TinyEmbedder

from gossamer.errors import Unwritable
from gossamer.files import sync_folder, write_file
from gossamer.index import Index

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no other system syncs folders")


@contextmanager
def folders_failing(error: int) -> Iterator[None]:
    """Fail to sync folders, and no files."""
    fsync = os.fsync

    def fail(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(error, os.strerror(error))
        fsync(handle)

    with pytest.MonkeyPatch.context() as context:
        context.setattr(os, "fsync", fail)
        yield


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_folder_that_the_disk_fails_to_keep_is_an_error(tmp_path: Path, error: int):
    with folders_failing(error), pytest.raises(OSError, match=os.strerror(error)):
        sync_folder(tmp_path)


@pytest.mark.parametrize("error", [errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF])
def test_a_system_that_syncs_no_folders_is_done_without(tmp_path: Path, error: int):
    with folders_failing(error):
        sync_folder(tmp_path)
        write_file(tmp_path / "file", [b"content"])

    assert (tmp_path / "file").read_bytes() == b"content"


def test_a_folder_that_may_not_be_listed_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)

    sync_folder(tmp_path)


def test_a_folder_that_is_gone_is_an_error(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        sync_folder(tmp_path / "gone")


def test_no_commit_is_built_upon_files_that_may_be_lost(embedder: TinyEmbedder, tmp_path: Path):
    index = Index.create(tmp_path / "index")
    index.add_texts([{"id": "old", "text": "the whale"}])
    before = index.status().generation

    with folders_failing(errno.EIO), pytest.raises(Unwritable, match="Input/output error"):
        index.add_texts([{"id": "new", "text": "the dolphin"}])

    assert index.status().generation == before
    assert {hit.source for hit in index.search("the", 9)} == {"old"}
    assert not [finding for finding in index.check() if finding.severity == "error"]
    assert index.add_texts([{"id": "new", "text": "the dolphin"}]).added == 1
