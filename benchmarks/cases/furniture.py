"""Are menus and tables of contents among the hits? Forty questions to HTML and PDF."""

import gzip
import json
from pathlib import Path
from typing import Any

from benchmarks.documentation import QUESTIONS, fetched
from benchmarks.furniture import holds_furniture
from benchmarks.indexes import scratch_folder
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer.index import Index

TITLE = "menus and tables of contents among 200 hits in HTML and PDF"
# The rules were written on pages of the first set; the second is made by other programs.
SETS = {
    "python and policy": ("python", "policy"),
    "other generators": (*("postgresql", "jsoup", "fftw", "git", "glib", "mkdocs", "developers"),),
}
PDFS = {
    "policy": "../policy.pdf.gz",
    "developers": "developers-reference.pdf",
}
K = 5
EVERY_QUESTION = scaled(1, smoke=10, small=4)
EVERY_FILE = scaled(1, smoke=40, small=8)


def run() -> Result:
    """Ask every question; count the hits that hold furniture."""
    questions = json.loads((QUESTIONS / "furniture.json").read_text(encoding="utf-8"))
    rows, details = [], {}
    for name, corpora in SETS.items():
        folder = scratch_folder(f"furniture-{name}")
        index = Index.create(folder, model="pocket")
        for corpus in corpora:
            index.add_paths(_files(corpus))
        asked = questions[name][::EVERY_QUESTION]
        hits = [(question, hit) for question in asked for hit in index.search(question, K)]
        found = [_named(question, hit) for question, hit in hits if _is_bad(hit)]
        rows.append(Row(f"{name}: of {len(hits)} hits, with menus or contents", len(found), bar=0))
        status = index.status()
        details[name] = {"chunks": status.chunks, "questions": len(asked), "found": found}
    return Result(rows, details)


def _files(corpus: str) -> list[Path]:
    folder = fetched(corpus)
    files = sorted(folder.rglob("*.html"))[::EVERY_FILE]
    if corpus in PDFS:
        files.append(_pdf(folder / PDFS[corpus]))
    return files


def _pdf(path: Path) -> Path:
    """Give a PDF, unpacked if need be."""
    if path.suffix != ".gz":
        return path
    unpacked = scratch_folder("pdf") / path.stem
    unpacked.parent.mkdir(exist_ok=True, parents=True)
    unpacked.write_bytes(gzip.decompress(path.read_bytes()))
    return unpacked


def _is_bad(hit: Any) -> bool:
    return holds_furniture(Path(hit.path), hit.text)


def _named(question: str, hit: Any) -> dict[str, str]:
    place = f"{Path(hit.path).name} {hit.unit} {hit.first}"
    return {"question": question, "at": place, "says": hit.snippet}
