"""`docs/benchmarks.md`, its plots and the README's tables, all made from the saved results."""

from pathlib import Path

from benchmarks.datasets import REPOSITORY
from benchmarks.document import pictures, readme
from benchmarks.document.page import page
from benchmarks.document.records import load_records
from benchmarks.report import RESULTS
from benchmarks.scale import FULL, SMALL

DOCUMENTS = {FULL: "docs/benchmarks.md", SMALL: "docs/benchmarks-small.md"}


def write_all() -> list[Path]:
    """Write the documents and plots of all results there are; gives the files."""
    written = []
    for scale, name in DOCUMENTS.items():
        if not (records := load_records(scale)):
            continue
        written += pictures.draw_all(records, RESULTS if scale == FULL else RESULTS / SMALL)
        document = REPOSITORY / name
        document.write_text(page(records, scale), encoding="utf-8")
        written.append(document)
    return [*written, readme.write()]
