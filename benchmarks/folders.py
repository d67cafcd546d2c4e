"""Corpora written out as the files that a user would have; once, and kept."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.datasets import cache_folder
from benchmarks.retrieval import data_folder, records
from benchmarks.scale import scaled

# Smaller runs take every so-many-th document.
STEP = scaled(1, smoke=100, small=20)
# No file looks as if it had been changed just now.
WRITTEN_AT = 1_700_000_000


def mdn(every: int = 1) -> Path:
    """Give the folder of MDN Web Docs: 14,535 Markdown files, or every so-many-th of them."""
    return _write("mdn", STEP * every, _as_markdown)


def rfc(every: int = 1) -> Path:
    """Give the folder of RFCs: 7,864 text files, or every so-many-th of them."""
    return _write("rfc", STEP * every, _as_text)


def text_files(folder: Path) -> list[Path]:
    """Give the files of a folder that a walk takes, in order."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in files if not _is_hidden(path.relative_to(folder)))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _write(corpus: str, every: int, as_file: Callable[[dict[str, Any]], tuple[str, str]]) -> Path:
    folder = cache_folder() / "folders" / (corpus if every == 1 else f"{corpus}-{every}")
    if folder.is_dir():
        return folder
    # Under its name only when it is whole.
    aside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    for number, document in enumerate(records(data_folder() / corpus / "corpus.jsonl.zst")):
        if number % every:
            continue
        name, text = as_file(document)
        path = aside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        os.utime(path, (WRITTEN_AT, WRITTEN_AT))
    aside.rename(folder)
    return folder


def _as_markdown(page: dict[str, Any]) -> tuple[str, str]:
    name = page["id"].strip("/")
    heading = f"# {page['title']}\n\n" if page["title"] else ""
    return name if name.endswith(".md") else f"{name}.md", heading + page["text"]


def _as_text(document: dict[str, Any]) -> tuple[str, str]:
    return f"{document['id']}.txt", document["text"]
