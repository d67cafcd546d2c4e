"""What an index takes of folders whose text is kept: documentation as pages."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.documentation import corpus
from benchmarks.indexes import scratch_folder
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer.index import Index

TITLE = "text of HTML pages that an index keeps: bytes against the text, and against the files"
CORPORA = ("python", "policy")
BAR_PERCENT = 20.0
# Smaller runs take every so-many-th file.
EVERY_FILE = scaled(1, smoke=60, small=12)
# So many updates bring what the first one left out.
UPDATES = 8


def run() -> Result:
    """Each documentation at once, and in several updates."""
    rows: list[Row] = []
    data: dict[str, dict[str, int]] = {}
    for name in CORPORA:
        pages = corpus(name).files[::EVERY_FILE]
        for way, parts in (("", 1), (f", in {UPDATES} updates", UPDATES)):
            split = [pages[part::parts] for part in range(parts)]
            found = data[f"{name}{way}"] = _index(f"text-share-{name}-{parts}", split)
            text = found["text_bytes"]
            rows += [
                Row(
                    f"{name}{way}: kept text, % of {text / 1e6:.1f} MB of text",
                    100 * found["kept_bytes"] / text,
                    bar=BAR_PERCENT,
                ),
                Row(f"{name}{way}: folder, % of the text", 100 * found["total_bytes"] / text),
                Row(
                    f"{name}{way}: folder, % of the files on disk",
                    100 * found["total_bytes"] / found["source_bytes"],
                ),
            ]
    return Result(rows, data)


def _index(name: str, parts: Sequence[Sequence[Path]]) -> dict[str, int]:
    """Add files in several updates; the model does not matter for their text."""
    index = Index.create(scratch_folder(name), model="pocket")
    for part in parts:
        index.add_paths(part)
    status = index.status()
    return {
        "text_bytes": status.text_bytes,
        "source_bytes": status.source_bytes,
        "total_bytes": status.total_bytes,
        "kept_bytes": status.bytes_by_part["texts"],
    }
