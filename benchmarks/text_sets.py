"""Real texts cut into chunks, their vectors, and questions with the exact nearest chunks of each.

`mdn` comes with vectors. The others are cut by the product's chunker and embedded by its default
model, once; what that gave is kept in the cache, so that no case waits for it twice.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from benchmarks.datasets import TRUE_NEAREST, Dataset, cache_folder, exact_nearest, mdn
from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import create_index, read_chunks, scratch_folder
from benchmarks.retrieval import Retrieval, data_folder, limited, records, retrieval
from benchmarks.scale import SCALE, scaled
from gossamer.models.registry import DEFAULT
from gossamer.update.prepare import GivenText

# By rising cost. FinanceBench and the RFCs would take the model hours: a part of them is taken.
NAMES = ("scifact", "hotpotqa", "locomo", "cosqa", "financebench", "rfc", "mdn")
MOST_DOCUMENTS = {
    "financebench": scaled(3_200, smoke=40, small=150),
    "rfc": scaled(200, smoke=2, small=12),
}
MOST_OTHERS = scaled(10**9, smoke=200, small=1_000)
MOST_QUESTIONS = scaled(300, smoke=20, small=100)
SENTENCE = re.compile(r"[A-Z][^.!?]{50,200}[.!?](?=\s)")


@dataclass(frozen=True)
class TextSet:
    """Chunks with their documents, and questions; vectors, queries and truth in `data`."""

    name: str
    texts: list[str]
    documents: list[str]  # the id of each chunk's document
    questions: list[str]
    data: Dataset


@cache
def text_set(name: str) -> TextSet:
    """Give one of NAMES, as large as this run wants it."""
    return _mdn() if name == "mdn" else _kept(name)


def documents_of(name: str) -> Retrieval:
    """Give the documents and questions that `text_set` takes of a set with judged answers."""
    return limited(retrieval(name), MOST_DOCUMENTS.get(name, MOST_OTHERS), MOST_QUESTIONS)


def _mdn() -> TextSet:
    data = mdn()
    folder = data_folder() / "mdn"
    chunks = list(records(folder / "chunks.jsonl.zst"))[: len(data.vectors)]
    questions = [one["text"] for one in records(folder / "queries.jsonl.zst")][:MOST_QUESTIONS]
    asked = Dataset("mdn", data.vectors, data.queries[:MOST_QUESTIONS], data.truth[:MOST_QUESTIONS])
    return TextSet(
        name="mdn",
        texts=[chunk["text"] for chunk in chunks],
        documents=[chunk["id"].rpartition("#")[0] for chunk in chunks],
        questions=questions,
        data=asked,
    )


def _kept(name: str) -> TextSet:
    folder = cache_folder() / "sets" / f"{name}-{SCALE}-{_digest(name)}"
    if not folder.is_dir():
        _make(name, folder)
    words = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    vectors, queries, truth = (
        np.load(folder / f"{part}.npy", allow_pickle=False)
        for part in ("vectors", "queries", "truth")
    )
    data = Dataset(name, vectors.astype(np.float32), queries, truth)
    return TextSet(name, words["texts"], words["documents"], words["questions"], data)


def _digest(name: str) -> str:
    """What the chunks and vectors depend on, but for our own code."""
    corpus = (data_folder() / name / "corpus.jsonl.zst").stat().st_size
    limits = MOST_DOCUMENTS, MOST_OTHERS, MOST_QUESTIONS
    return blake2b(repr((DEFAULT, corpus, limits)).encode(), digest_size=6).hexdigest()


def _make(name: str, folder: Path) -> None:
    if name == "rfc":
        texts, questions = _rfcs()
    else:
        data = documents_of(name)
        trios = zip(data.ids, data.bodies, data.titles, strict=True)
        texts, questions = [GivenText(*trio) for trio in trios], data.questions
    embedder = cached_minilm()
    index = create_index(scratch_folder(f"set-{name}"), embedder)
    index.add_texts(texts)
    chunks = read_chunks(index)
    queries = np.stack([embedder.embed_question(question) for question in questions])
    vectors = chunks.vectors.astype(np.float16)
    truth = exact_nearest(vectors.astype(np.float32), queries, TRUE_NEAREST, "ip")
    folder.mkdir(parents=True)
    arrays = {"vectors": vectors, "queries": queries, "truth": truth}
    for part, array in arrays.items():
        np.save(folder / f"{part}.npy", array, allow_pickle=False)
    words = {"texts": chunks.texts, "documents": chunks.sources, "questions": questions}
    (folder / "texts.json").write_text(json.dumps(words), encoding="utf-8")


def _rfcs() -> tuple[list[GivenText], list[str]]:
    """Some RFCs, and a sentence each of those that come next in the set and are left out."""
    path = data_folder() / "rfc" / "corpus.jsonl.zst"
    count = sum(1 for _ in records(path))
    every = max(2, count // MOST_DOCUMENTS["rfc"])
    texts: list[GivenText] = []
    questions: list[str] = []
    for number, document in enumerate(records(path)):
        if number % every == 0:
            texts.append(GivenText(document["id"], document["text"], document["title"]))
        elif number % every == 1:
            questions += _sentences(document["text"])
    return texts, questions[:MOST_QUESTIONS]


def _sentences(text: str) -> Iterator[str]:
    """Two sentences out of the middle of a text, as far as it has any."""
    found = [" ".join(one.split()) for one in SENTENCE.findall(text)]
    yield from found[len(found) // 2 :][:2]
