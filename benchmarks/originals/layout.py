"""Sets as the benchmarks read them, and the manifest that says where one came from."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.datasets import MANIFEST
from benchmarks.originals.download import Source, checksum
from gossamer.text import zstd

LEVEL = 19


@dataclass(frozen=True)
class TextSet:
    """Documents {id, title, text}, questions {id, text}, judgements and answers."""

    documents: Sequence[Mapping[str, Any]]
    questions: Sequence[Mapping[str, Any]] = ()
    grades: Sequence[tuple[str, str, int]] = ()  # question, document, grade
    answers: Sequence[Mapping[str, Any]] = ()  # {id, answers}


def write_set(texts: TextSet, folder: Path) -> None:
    """Write the files of a set; those that it has nothing for are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    write_records(folder / "corpus.jsonl.zst", texts.documents)
    if texts.questions:
        write_records(folder / "queries.jsonl.zst", texts.questions)
    if texts.grades:
        known = {document["id"] for document in texts.documents}
        lines = [
            f"{question}\t{document}\t{grade}\n"
            for question, document, grade in texts.grades
            if document in known
        ]
        (folder / "qrels.tsv").write_text("".join(lines), encoding="utf-8")
    if texts.answers:
        write_records(folder / "answers.jsonl.zst", texts.answers)


def write_records(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines, compressed as one frame."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_bytes(zstd.compress("".join(lines).encode("utf-8", "replace"), level=LEVEL))


@dataclass(frozen=True)
class Origin:
    """Where a set came from."""

    name: str
    sources: Sequence[Source]
    files: Mapping[str, Path] = field(default_factory=dict)  # the sources as they were fetched


def write_manifest(origin: Origin, folder: Path) -> None:
    """Say what the set was made of, with the checksums of both ends."""
    made = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    manifest = {
        "set": origin.name,
        "sources": [
            {"url": source.url, "sha256": checksum(origin.files[source.name])}
            for source in origin.sources
        ],
        # As many digits as datasets.py compares.
        "files": {path.relative_to(folder).as_posix(): checksum(path)[:32] for path in made},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
