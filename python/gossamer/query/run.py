"""A question: a session of the core says what it needs, and here is where that comes from."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.embed.tokens import QuestionVectors, TextVectors, token_embedder
from gossamer.errors import GossamerError, InvalidArgument
from gossamer.model import IndexModel
from gossamer.progress import run_with_progress
from gossamer.query.passages import read_hit, supply_chunks
from gossamer.query.remote import RemoteChunks
from gossamer.query.results import Explanation, Results
from gossamer.query.stages import Stages
from gossamer.query.texts import TextSource
from gossamer.query.vectors import VectorSource
from gossamer.rerankers import Reranker
from gossamer.store import Snapshot, hash_of_text
from gossamer.store.catalogue import decode_name, encode_name
from gossamer.store.journal import as_kept
from gossamer.store.trust import how_to_accept

__all__ = ["MODES", "RERANKS", "Query", "check_rerank", "run_query"]

MODES = ("hybrid", "semantic", "lexical")
RERANKS = ("auto", "none")

_NO_NUMBERS = np.zeros(0, np.uint32)

Floats = NDArray[np.float32]
Need = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `vector` stands in for a question that is itself a chunk."""

    question: str
    k: int
    mode: str = "hybrid"
    recall: float | None = None  # None: what is usual for the mode
    reranks: bool = True  # the best of both rankings, in hybrid mode
    filter: str | None = None  # JSON, as `filters.combine` gives it
    is_plain: bool = False  # quotes and signs of the question are text
    excluded: tuple[int, ...] = ()  # chunks that are no answers
    vector: Floats | None = None
    highlight: str | None = None  # words to mark in hits, where they are not the question's
    full: bool = False  # snippets are whole chunks
    reranker: Reranker | None = None  # scores the best at last
    distinct: bool = False  # passages that say the same are one hit
    per_file: int = 0  # hits of one document, unless nothing else is among the best; 0: any number
    min_score: float | None = None  # the least probability of a hit; None: all are shown

    def to_bytes(self, words: str) -> bytes:
        """Write it as the core reads it, with what ranks by words."""
        fields: dict[str, object] = {
            "question": self.question,
            "is_plain": self.is_plain,
            "k": self.k,
            "mode": self.mode,
            "reranks": self.reranks,
            "rescores": self.reranker is not None,
            "excluded": self.excluded,
            "words": words,
            "shows_whole": self.full,
            "is_distinct": self.distinct,
            "per_file": self.per_file,
        }
        if self.recall is not None:
            fields["recall"] = self.recall
        if self.min_score is not None:
            fields["min_score"] = self.min_score
        if self.filter is not None:
            fields["filter"] = json.loads(self.filter)
        if self.highlight is not None:
            fields["highlight"] = self.highlight
        return encode_name(json.dumps(fields, ensure_ascii=False))


def check_rerank(rerank: str) -> bool:
    """Say whether the best of both rankings are ranked again."""
    if rerank not in RERANKS:
        raise InvalidArgument(f"rerank must be one of {', '.join(RERANKS)}, got {rerank!r}")
    return rerank != "none"


def run_query(
    snapshot: Snapshot,
    model: IndexModel,
    query: Query,
    remote: RemoteChunks | None = None,
    *,
    uses_hot: bool = True,
) -> Results:
    """Find the k best chunks; fewer only where fewer match.

    A chunk whose text is not what was indexed is never a hit, and another takes its place.
    `remote` is the server that the index follows.
    """
    if query.k < 1:
        raise InvalidArgument(f"k must be at least 1, got {query.k}")
    if query.per_file < 0:
        raise InvalidArgument(f"per_file must be 0 (any number) or more, got {query.per_file}")
    if query.mode not in MODES:
        raise InvalidArgument(f"mode must be one of {', '.join(MODES)}, got {query.mode!r}")
    with snapshot.explaining_damage():
        return _Question(snapshot, model, query, remote, uses_hot).answer()


class _Question:
    """One question on its way: the session, and what supplies it."""

    def __init__(
        self,
        snapshot: Snapshot,
        model: IndexModel,
        query: Query,
        remote: RemoteChunks | None,
        uses_hot: bool,
    ) -> None:
        self._started = time.perf_counter()
        self._snapshot = snapshot
        self._model = model
        self._query = query
        self._remote = remote
        self._stages = Stages()
        self._hot = snapshot.hot if uses_hot else None
        self._texts = TextSource(snapshot)
        self._index = snapshot.vectors if query.mode != "lexical" else None
        self._vectors = VectorSource(
            0 if self._index is None else self._index.dim, model, self._hot, remote
        )
        with self._stages.time("words"):
            self._words = self._choose_words()
        with self._stages.time("codes"):
            self._session = _core.QuerySession(
                snapshot.collection, self._index is not None, query.to_bytes(self._words)
            )

    def _choose_words(self) -> str:
        """Say what ranks by words, and finds what a question requires."""
        return "host" if self._snapshot.words is not None else self._snapshot.word_source

    def answer(self) -> Results:
        """Supply the session until it needs nothing more."""
        while needs := json.loads(decode_name(self._session.needs())):
            by_name: dict[str, Need] = {need["need"]: need for need in needs}
            if "question" in by_name and len(by_name) > 1:
                asked = by_name.pop("question")["text"]
                self._embed_question_beside(asked, by_name)
            else:
                self._supply(by_name)
        return self._read_answer()

    def _embed_question_beside(self, asked: str, others: Mapping[str, Need]) -> None:
        """Load the model and embed the question while words are counted."""
        with ThreadPoolExecutor(1, thread_name_prefix="gossamer-question") as pool:
            vectors = pool.submit(self._embed_question, asked)
            self._supply(others)
            self._supply_question(vectors.result())

    def _supply(self, needs: Mapping[str, Need]) -> None:
        for name, need in needs.items():
            if name == "question":
                self._supply_question(self._embed_question(need["text"]))
            else:
                getattr(self, f"_supply_{name}")(need)

    def _supply_question(self, question: QuestionVectors) -> None:
        assert self._index is not None
        with self._stages.time("codes"):
            self._session.supply_question(
                self._index.core, question.row, question.tokens, question.starts
            )

    def _embed_question(self, asked: str) -> QuestionVectors:
        """Give the vector of the question; those of its tokens where they are compared."""
        query = self._query
        if query.mode == "hybrid" and query.reranks and query.vector is None:
            with self._stages.time("load model"):
                embedder = token_embedder(self._model.embedder)
            if embedder is not None and self._has_few_tokens(asked):
                with self._stages.time("embed question"):
                    found = embedder.embed_question_tokens(asked)
                return replace(found, row=as_kept(found.row))
        vector = self._question_vector(asked)
        return QuestionVectors(vector, np.zeros((0, len(vector)), np.float32), _NO_NUMBERS)

    def _has_few_tokens(self, asked: str) -> bool:
        """Say whether the tokens of the question are compared; of a long text they are not."""
        tokenizer = self._model.embedder.tokenizer
        starts = tokenizer.token_starts(asked.encode("utf-8", "replace"))
        return starts.size <= _core.QuerySession.most_tokens

    def _question_vector(self, asked: str) -> Floats:
        query, hot = self._query, self._hot
        if query.vector is not None:
            return query.vector
        name = hash_of_text(asked)
        if hot is not None and (known := hot.question(name)) is not None:
            return known
        with self._stages.time("load model"):
            embedder = self._model.embedder
        with self._stages.time("embed question"):
            vector = as_kept(embedder.embed_question(asked))
        if hot is not None:
            hot.put_question(name, vector)
        return vector

    def _supply_words(self, _: Need) -> None:
        with self._stages.time("words"):
            texts, threads = self._snapshot.texts.core, self._model.threads
            run_with_progress(
                lambda progress: self._session.count_words(texts, threads, progress), None
            )

    def _supply_ranking(self, need: Need) -> None:
        """Ask the lexical index; the texts, where it turns out to be damaged or locked."""
        assert self._snapshot.words is not None
        allowed = None
        ids = self._session.allowed_ids()
        if ids is not None:
            allowed = np.zeros(self._snapshot.manifest.next_chunk_id, bool)
            allowed[ids] = True
        with self._stages.time("words"):
            try:
                question = need["text"]
                found, _ = self._snapshot.words.search(question, need["best"], allowed)
                counts = self._snapshot.words.count_terms(question)
            except GossamerError:
                self._session.read_words()
                return
            self._session.supply_ranking(
                found.astype(np.uint64), [term.encode() for term in counts], list(counts.values())
            )

    def _supply_postings(self, need: Need) -> None:
        with self._stages.time("words"):
            found = self._snapshot.read_words(need["ranges"])
            self._session.supply_postings(found)

    def _supply_vectors(self, need: Need) -> None:
        with self._stages.time("embed chunks"):
            ids = np.array(need["ids"], np.int64)
            states, rows = self._vectors.find(ids, need["away"], need["tokens"])
        with self._stages.time("codes"):
            self._session.supply_vectors(states, rows)

    def _supply_embeddings(self, need: Need) -> None:
        with self._stages.time("embed chunks"):
            ids = np.array(need["ids"], np.int64)
            if need["tokens"]:
                made = self._vectors.embed_tokens(ids, need["texts"])
            else:
                rows = self._vectors.embed(ids, need["texts"])
                made = TextVectors(rows, rows[:0], _NO_NUMBERS, _NO_NUMBERS)
        with self._stages.time("codes"):
            self._session.supply_embeddings(made.rows, made.tokens, made.counts, made.starts)

    def _supply_scores(self, need: Need) -> None:
        reranker, texts = self._query.reranker, need["texts"]
        assert reranker is not None
        with self._stages.time("rerank"):
            given = reranker.score(need["question"], texts)
            try:
                scores = np.ascontiguousarray(given, dtype=np.float32)
            except (TypeError, ValueError) as error:
                raise InvalidArgument(
                    f"the reranker {reranker.name!r} gave no numbers: {error}"
                ) from error
        if scores.shape != (len(texts),):
            raise InvalidArgument(
                f"the reranker {reranker.name!r} gave an array of shape {scores.shape}; expected "
                f"a score for each of {len(texts)} texts"
            )
        self._session.supply_scores(scores)

    def _supply_texts(self, need: Need) -> None:
        with self._stages.time("read"):
            self._session.supply_texts(self._texts.read(need["documents"]))

    def _supply_chunks(self, need: Need) -> None:
        with self._stages.time("read"):
            supply_chunks(self._session, self._remote, need["ids"])

    def _read_answer(self) -> Results:
        with self._stages.time("read"):
            answer = json.loads(decode_name(self._session.answer()))
        hits = tuple(map(read_hit, answer["hits"]))
        said = answer["explanation"]
        stale = tuple(sorted(answer["stale"]))
        notes = tuple(self._notes(said, hits, len(stale)))
        absent = tuple(said["absent"])
        for name in ("out_of_reach", "counts_words", "absent"):
            del said[name]
        explanation = Explanation(
            mode=self._query.mode,
            chunks_embedded=self._vectors.embedded,
            chunks_cached=self._vectors.cached,
            chunks_asked=self._vectors.asked,
            reranker="" if self._query.reranker is None else self._query.reranker.name,
            stages=self._stages.ms,
            **said,
        )
        return Results(
            hits=hits,
            explanation=explanation,
            stale=() if self._snapshot.manifest.origin else stale,
            took_ms=(time.perf_counter() - self._started) * 1e3,
            notes=notes,
            absent=absent,
        )

    def _notes(self, said: Need, hits: tuple[Any, ...], stale: int) -> Iterator[str]:
        """Say what an index could not do as if it had everything itself."""
        snapshot = self._snapshot
        counts_words = said["counts_words"]
        yield from snapshot.notes
        if self._words == "none" and self._query.mode != "semantic":
            yield "words were not looked for: all texts would have to be fetched"
        if not snapshot.is_trusted:
            if snapshot.collection.has_away_texts:
                yield (
                    "this index is not trusted, so the files that it names were not read: words "
                    "were looked for in the texts that it holds, and hits elsewhere have no text; "
                    f"`{how_to_accept(snapshot.folder)}` shows and accepts what it names"
                )
            return
        if self._remote is not None:
            yield from (f"{note}; answered from what is here" for note in self._remote.notes)
        if said["out_of_reach"]:
            yield (
                f"{said['out_of_reach']} of the nearest chunks were ranked by their codes alone: "
                "their vectors are to be had from the server only"
            )
        if counts_words and snapshot.collection.has_away_texts:
            yield "words were looked for only in the texts that are kept here"
        if without := sum(not hit.text for hit in hits):
            yield f"{without} of the hits have no text here: it is to be had from the server only"
        if snapshot.manifest.origin and stale:
            yield f"{stale} of the sources have changed on the server; `gossamer pull` brings them"
