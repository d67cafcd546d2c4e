"""What bringing an index up to date costs: nothing changed, and one file changed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import folders
from benchmarks.indexes import copy_index, embedder_of, open_index, scratch_folder
from benchmarks.metrics import best_times, timed
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer.index import Index

TITLE = "`add` again to the index of mdn: nothing changed, one file changed"
UNCHANGED_BAR_S = 2.0
REPETITIONS = scaled(5, smoke=2, small=3)
ADDED = "\n\n## A note\n\nThis paragraph was not here when the page was indexed.\n"


def run() -> Result:
    """By the clock; in this process, and by the command in a new one."""
    folder = scratch_folder("updated")
    copy_index(folder)
    corpus = folders.mdn()
    index = open_index(folder)
    add = [sys.executable, "-m", "gossamer", "--index", str(folder), "add", str(corpus)]
    works = [
        lambda: index.add_paths([corpus]),
        lambda: subprocess.run(add, check=True, capture_output=True),
    ]
    inside, command = best_times(works, REPETITIONS)
    count = index.status().indexed
    rows = [
        Row(f"nothing changed, {count} files: s of the command", command.wall, bar=UNCHANGED_BAR_S),
        Row(f"nothing changed, {count} files: s in a program", inside.wall),
        Row(f"nothing changed, {count} files: CPU s in a program", inside.cpu),
    ]
    changed, details = _change_one(index, corpus)
    return Result([*rows, *changed], {"files": count, **details})


def _change_one(index: Index, corpus: Path) -> tuple[list[Row], dict[str, object]]:
    """Append to a page of middle length, bring it in, and take it back."""
    embedder_of(index).embed(["the model is loaded before"])
    pages = sorted(folders.text_files(corpus), key=lambda path: path.stat().st_size)
    page = pages[len(pages) // 2]
    reports = []
    before = _files(index.folder)
    with _appended(page):
        seconds = timed(lambda: reports.append(index.add_paths([corpus])))
        after = _files(index.folder)
    index.add_paths([corpus])
    written = sum(size for file, size in after.items() if file not in before)
    report = reports[0]
    assert report.updated == 1, report
    rows = [
        Row("one file changed: wall s", seconds.wall),
        Row("one file changed: CPU s", seconds.cpu),
        Row("one file changed: chunks embedded", report.chunks_embedded),
        Row("one file changed: KB written", written / 1e3),
        Row("one file changed: % of the folder written", 100 * written / sum(after.values())),
    ]
    return rows, {"page": page.relative_to(corpus).as_posix(), "reused": report.chunks_reused}


@contextmanager
def _appended(page: Path) -> Iterator[None]:
    text, status = page.read_bytes(), page.stat()
    page.write_bytes(text + ADDED.encode())
    try:
        yield
    finally:
        page.write_bytes(text)
        os.utime(page, ns=(status.st_atime_ns, status.st_mtime_ns))


def _files(folder: Path) -> dict[tuple[str, int, int], int]:
    """What tells one state of a file from the next, and its size."""
    found = {}
    for path in folder.iterdir():
        status = path.stat()
        found[path.name, status.st_ino, status.st_mtime_ns] = status.st_size
    return found
