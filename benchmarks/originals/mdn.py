"""MDN Web Docs: pages out of the sources of the site, chunks, held-out sentences and vectors."""

import random
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import TRUE_NEAREST, exact_nearest
from benchmarks.originals.download import MB, Source
from benchmarks.originals.layout import TextSet, write_records
from gossamer.embed import Embedder, load_embedder
from gossamer.readers import Limits
from gossamer.update.prepare import GivenText, Preparer

ARCHIVE = "mdn-content.tar.gz"
SOURCES = (
    Source(ARCHIVE, "https://github.com/mdn/content/archive/refs/heads/main.tar.gz", 3000 * MB),
)
PAGES = re.compile(r"[^/]+/files/en-us/.+/index\.md")
MOST_BYTES = 5 * MB  # of one page
FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
MACRO = re.compile(r"\{\{\s*[\w-]+\s*(?:\((.*?)\))?\s*\}\}", re.DOTALL)
QUOTED = re.compile(r"""(["'])(.*?)\1""")
SENTENCE = re.compile(r"[A-Z][^.!?\n]{50,200}[.!?](?=\s|$)")
QUESTIONS = 1000
PARTS = 4
SEED = 0
MODEL = "minilm"


def make(files: Mapping[str, Path], folder: Path) -> TextSet:
    """Read the archive; chunks and vectors go to `folder`. Embedding takes half an hour or more."""
    with tarfile.open(files[ARCHIVE]) as archive:
        pages = convert(_texts(archive))
    embedder = load_embedder(MODEL)
    chunks, questions = hold_out(cut(pages, embedder), QUESTIONS)
    folder.mkdir(parents=True, exist_ok=True)
    write_records(folder / "chunks.jsonl.zst", chunks)
    write_vectors(chunks, questions, embedder, folder / "vectors")
    return TextSet(pages, questions)


def convert(texts: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Take the files of the sources by name; a page's id is its slug in small letters."""
    pages = []
    for name, text in texts:
        found = FRONT_MATTER.match(text)
        if not PAGES.fullmatch(name) or found is None:
            continue
        facts = dict(re.findall(r"^(title|slug):\s*(.+?)\s*$", found[1], re.MULTILINE))
        body = MACRO.sub(_said, text[found.end() :]).strip()
        if "slug" in facts and body:
            title = facts.get("title", "").strip("\"'")
            pages.append({"id": facts["slug"].strip("\"'").lower(), "title": title, "text": body})
    return sorted(pages, key=lambda page: page["id"])


def cut(pages: Sequence[Mapping[str, str]], embedder: Embedder) -> list[dict[str, str]]:
    """Cut pages as an index would; a chunk is called by its page and its number there."""
    preparer = Preparer(embedder.tokenizer, embedder.max_tokens, True, Limits())
    chunks = []
    for page in pages:
        given = GivenText(page["id"], page["text"], page["title"], "markdown")
        texts = preparer.prepare_text(given).texts()
        chunks += [
            {"id": f"{page['id']}#{number}", "title": page["title"], "text": text}
            for number, text in enumerate(texts)
        ]
    return chunks


def hold_out(
    chunks: Sequence[dict[str, str]], count: int
) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Take chunks out, drawn by SEED, and ask for a sentence of each; what is left, and those."""
    order = list(range(len(chunks)))
    random.Random(SEED).shuffle(order)
    sentences: dict[int, str] = {}
    for place in order:
        if len(sentences) < count and (found := SENTENCE.search(chunks[place]["text"])):
            sentences[place] = found[0]
    kept = [chunk for place, chunk in enumerate(chunks) if place not in sentences]
    questions = [{"id": f"q{n}", "text": text} for n, text in enumerate(sentences.values())]
    return kept, questions


def write_vectors(
    chunks: Sequence[Mapping[str, str]],
    questions: Sequence[Mapping[str, str]],
    embedder: Embedder,
    folder: Path,
) -> None:
    """Embed chunks and questions in 16 bits, and find the nearest of each by comparing all."""
    vectors = embedder.embed([chunk["text"] for chunk in chunks], _say(len(chunks)))
    asked = [embedder.embed_question(question["text"]) for question in questions]
    half, queries = vectors.astype(np.float16), np.stack(asked).astype(np.float16)
    nearest = min(TRUE_NEAREST, len(chunks) - 1)
    truth = exact_nearest(half.astype(np.float32), queries.astype(np.float32), nearest, "ip")
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {
        "query-vectors.f16": queries,
        "truth-top100.i32": truth.astype(np.int32),
        **{f"vectors-{n}.f16": part for n, part in enumerate(np.array_split(half, PARTS))},
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)


def _texts(archive: tarfile.TarFile) -> Iterator[tuple[str, str]]:
    for member in archive:
        if not (member.isfile() and PAGES.fullmatch(member.name) and member.size <= MOST_BYTES):
            continue
        if file := archive.extractfile(member):
            yield member.name, file.read().decode("utf-8", "replace")


def _said(macro: re.Match[str]) -> str:
    """What a macro shows: its first argument in quotes, nothing without one."""
    found = QUOTED.search(macro[1] or "")
    return found[2] if found else ""


def _say(count: int) -> Any:
    return lambda done: print(f"embedded {done:,} of {count:,} chunks", end="\r", flush=True)
