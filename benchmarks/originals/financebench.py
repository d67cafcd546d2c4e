"""FinanceBench: pages of filings of companies, and questions that one or a few of them answer."""

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path, PurePosixPath

from benchmarks.originals.download import MB, Source
from benchmarks.originals.layout import TextSet
from gossamer.errors import Unreadable
from gossamer.readers import Limits, read_data
from gossamer.records import Document

ARCHIVE = "financebench.zip"
SOURCES = (
    Source(
        ARCHIVE,
        "https://github.com/patronus-ai/financebench/archive/refs/heads/main.zip",
        3000 * MB,
    ),
)
QUESTIONS = "data/financebench_open_source.jsonl"
MOST_PDF_BYTES = 200 * MB


def make(files: Mapping[str, Path], folder: Path) -> TextSet:  # noqa: ARG001
    """Read the questions, and the pages of every PDF by the product's reader."""
    with zipfile.ZipFile(files[ARCHIVE]) as archive:
        names = archive.namelist()
        (questions,) = (name for name in names if name.endswith(f"/{QUESTIONS}"))
        lines = archive.read(questions).decode("utf-8").splitlines()
        return convert(lines, _filings(archive))


def convert(lines: Iterable[str], filings: Iterable[tuple[str, Document]]) -> TextSet:
    """Take the lines of the questions, and each filing as it was read.

    Pages count from 0, as the evidence does.
    """
    documents = [page for name, document in filings for page in _pages(name, document)]
    examples = [json.loads(line) for line in lines if line.strip()]
    questions = [
        {
            "id": one["financebench_id"],
            "text": one["question"],
            "doc_name": one["doc_name"],
            "company": one["company"],
        }
        for one in examples
    ]
    answers = [{"id": one["financebench_id"], "answers": [str(one["answer"])]} for one in examples]
    grades = [
        (one["financebench_id"], page, 1)
        for one in examples
        for page in dict.fromkeys(
            f"{evidence.get('doc_name', one['doc_name'])}#p{evidence['evidence_page_num']}"
            for evidence in one["evidence"]
        )
    ]
    return TextSet(documents, questions, grades, answers)


def _filings(archive: zipfile.ZipFile) -> Iterator[tuple[str, Document]]:
    for entry in sorted(archive.infolist(), key=lambda one: one.filename):
        path = PurePosixPath(entry.filename)
        if path.suffix.lower() != ".pdf" or entry.file_size > MOST_PDF_BYTES:
            continue
        try:
            (document,) = read_data(Path(path.name), archive.read(entry), Limits())
        except Unreadable as error:
            print(f"{path.name} is left out: {error}", flush=True)
            continue
        yield path.stem, document


def _pages(name: str, document: Document) -> Iterator[dict[str, str]]:
    ends = (*document.places, (len(document.text), 0))
    for (start, number), (end, _) in pairwise(ends):
        text = document.text[start:end].decode("utf-8", "replace").strip()
        if text:
            page = number - 1
            yield {"id": f"{name}#p{page}", "title": f"{name} page {page}", "text": text}
