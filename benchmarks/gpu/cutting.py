"""Documents of all sets cut by the product's chunker, on every core, and sentences to ask for."""

import multiprocessing
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice, pairwise
from typing import Any

from benchmarks.retrieval import data_folder, records
from benchmarks.scale import scaled
from gossamer.readers import Limits
from gossamer.text.tokenizer import bert_uncased
from gossamer.update.prepare import GivenText, PreparedDocument, Preparer

SETS = ("rfc", "financebench", "mdn", "hotpotqa", "scifact", "locomo", "cosqa")
CHUNK_TOKENS = 254  # what all-MiniLM-L6-v2 takes
# Documents are left out by a hash of their ids, and one sentence in so many of theirs is asked for.
LEFT_OUT_OF = scaled(100, smoke=6, small=10)
SENTENCE_EVERY = 25
SENTENCE = re.compile(r"[A-Z][^.!?]{50,200}[.!?](?=\s)")
DOCUMENTS_AT_ONCE = 32
# Of each set, where a run is not to take long.
MOST_DOCUMENTS = scaled(10**9, smoke=60, small=100)


@dataclass(frozen=True)
class Cut:
    """Some documents of a set: their chunks, chunks shifted by half a chunk, and sentences."""

    chunks: list[str]
    shifted: list[str]
    sentences: list[str]  # of documents that are left out


def cut_set(name: str, with_shifted: bool = False) -> Cut:
    """Cut a whole set; no text is in it twice."""
    whole = Cut([], [], [])
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for part in pool.imap(_cut, _tasks(name, with_shifted)):
            whole.chunks.extend(part.chunks)
            whole.shifted.extend(part.shifted)
            whole.sentences.extend(part.sentences)
    return Cut(*(list(dict.fromkeys(texts)) for texts in vars(whole).values()))


def _tasks(name: str, with_shifted: bool) -> Iterator[tuple[str, list[Any], bool]]:
    documents = islice(records(data_folder() / name / "corpus.jsonl.zst"), MOST_DOCUMENTS)
    while some := list(islice(documents, DOCUMENTS_AT_ONCE)):
        yield name, some, with_shifted


def _cut(task: tuple[str, list[dict[str, Any]], bool]) -> Cut:
    name, documents, with_shifted = task
    preparer = Preparer(bert_uncased(), CHUNK_TOKENS, True, Limits())
    markup = "markdown" if name == "mdn" else "plain"
    cut = Cut([], [], [])
    for document in documents:
        if _is_left_out(name, document["id"]):
            cut.sentences.extend(_sentences(document["text"]))
        elif document["text"].strip():
            given = GivenText(document["id"], document["text"], document["title"], markup)
            for one in preparer.prepare_text(given).documents:
                cut.chunks.extend(one.embedded(number) for number in range(len(one.spans)))
                if with_shifted:
                    cut.shifted.extend(_shifted(one))
    return cut


def _is_left_out(name: str, id: str) -> bool:
    digest = blake2b(f"{name} {id}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little") % LEFT_OUT_OF == 0


def _sentences(text: str) -> list[str]:
    found = [" ".join(one.split()) for one in SENTENCE.findall(text)]
    return found[len(found) % SENTENCE_EVERY // 2 :: SENTENCE_EVERY]


def _shifted(document: PreparedDocument) -> Iterator[str]:
    """From the middle of each chunk to that of the next, as far as the model takes it."""
    tokenizer = bert_uncased()
    middles = [_word_start(document.text, (s.start + s.end) // 2) for s in document.spans]
    for start, end in pairwise(middles):
        text = document.text[start:end].decode("utf-8").strip()
        whole = f"{document.line}\n{text}" if document.line else text
        if 0 < tokenizer.token_starts(whole.encode()).size <= CHUNK_TOKENS:
            yield whole


def _word_start(text: bytes, at: int) -> int:
    """Give the next place behind a space, which is never inside a character."""
    found = re.compile(rb"\s").search(text, at)
    return found.end() if found else len(text)
