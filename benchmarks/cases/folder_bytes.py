"""Bytes of a whole index folder against those of the indexed text, and memory while indexing."""

from collections.abc import Mapping
from typing import Any

from benchmarks import folders
from benchmarks.indexes import mdn_index, open_index
from benchmarks.metrics import in_child
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.stand_in import REAL_EVERY

TITLE = "index folder: bytes against the indexed text, and memory while indexing"
BAR_PERCENT = 5.0
MEMORY_BAR_MB = 1000.0
REAL_SECONDS = scaled(120, smoke=5, small=15)
ABOUT_RFC = (
    f"Vectors of noise stand in for the model's, but for one batch in {REAL_EVERY}: codes take the "
    "same bytes for any vectors, and the model's codebook is not in the folder for either. Model "
    "and tokenizer are loaded and do their work, so memory is that of a real run; the second row "
    f"embeds everything, for the first {REAL_SECONDS} s of it."
)


def run() -> Result:
    """`mdn` with its real vectors, `rfc` with a stand-in for them."""
    status = open_index(mdn_index()).status()
    mdn = {
        "total_bytes": status.total_bytes,
        "text_bytes": status.text_bytes,
        "bytes_by_part": dict(status.bytes_by_part),
        "files": status.indexed,
        "chunks": status.chunks,
    }
    folders.rfc()  # written here, where nobody measures memory
    rfc = in_child("index_rfc", "stand-in", 0)
    real = in_child("index_rfc", "real", REAL_SECONDS)
    rows = [
        *_rows("mdn", mdn),
        *_rows("rfc", rfc),
        Row("rfc: peak MB of the process, whole set", rfc["peak"] / 1e6, bar=MEMORY_BAR_MB),
        Row(
            f"rfc: peak MB, all embedded, first {real['chunks']} chunks",
            real["peak"] / 1e6,
            bar=MEMORY_BAR_MB,
        ),
        Row("rfc: s to index without the model's work", rfc["seconds"]),
    ]
    return Result(rows, {"mdn": mdn, "rfc": rfc, "rfc_real": real, "about_rfc": ABOUT_RFC})


def _rows(corpus: str, index: Mapping[str, Any]) -> list[Row]:
    text = index["text_bytes"]
    share = 100 * index["total_bytes"] / text
    what = f"{corpus}: folder, % of {text / 1e6:.0f} MB in {index['files']} files (aim 3.5)"
    rows = [Row(what, share, bar=BAR_PERCENT)]
    rows += [
        Row(f"{corpus}: {part}, % of the text", 100 * size / text)
        for part, size in index["bytes_by_part"].items()
        if size > text / 10_000
    ]
    return [*rows, Row(f"{corpus}: bytes a chunk", index["total_bytes"] / index["chunks"])]
