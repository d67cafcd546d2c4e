"""A whole query, top to bottom: rankings by meaning and by words, fused, read and cited."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gossamer.embed import Embedder
from gossamer.errors import InvalidArgument
from gossamer.lexical import LexicalResult, rank
from gossamer.passages import Passage, Passages
from gossamer.query.elsewhere import Elsewhere
from gossamer.query.fusion import Fused, fuse
from gossamer.query.layout import ChunkLayout
from gossamer.query.results import Explanation, Results
from gossamer.query.stages import Stages
from gossamer.query.supply import ChunkVectors
from gossamer.records import Hit
from gossamer.store import HotVectors, hash_of_text
from gossamer.store.folder import explaining_damage
from gossamer.store.journal import as_kept
from gossamer.store.trust import how_to_accept
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["MODES", "Query", "Searchable", "locate", "run_query"]

MODES = ("hybrid", "semantic", "lexical")
# How far down a ranking a chunk may stand and still gain from another one. Beyond the exact hits,
# ranks come from the codes alone and cost nothing.
_DEPTH = 100

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `vector` stands in for a question that is itself a chunk."""

    question: str
    k: int
    mode: str
    recall: float
    allowed: Mask | None = None  # by chunk number
    vector: Floats | None = None


@dataclass(frozen=True, slots=True)
class Searchable:
    """An opened index: what a query reads."""

    passages: Passages
    layout: ChunkLayout
    vectors: VectorIndex | None  # None while nothing is indexed
    embedder: Callable[[], Embedder]  # loaded when first asked for
    hot: HotVectors | None
    lexical: Callable[[Query, int], LexicalResult | None] | None = None  # instead of a pass
    threads: int = 0
    elsewhere: Elsewhere | None = None  # the server that the index follows


@dataclass(slots=True)
class _Ranking:
    """Chunks nearest first; the exact ones have a distance."""

    ids: list[int]
    distances: dict[int, float]
    strategy: str = ""
    codes_touched: int = 0
    rounds: int = 0
    embedded: int = 0
    cached: int = 0
    asked: int = 0
    out_of_reach: int = 0


def run_query(index: Searchable, query: Query) -> Results:
    """Find the k best chunks; fewer only where fewer match.

    A chunk whose text is not what was indexed is never a hit, and another takes its place.
    """
    if query.mode not in MODES:
        raise InvalidArgument(f"mode must be one of {', '.join(MODES)}, got {query.mode!r}")
    with explaining_damage(index.passages.folder):
        return _run(index, query)


def _run(index: Searchable, query: Query) -> Results:
    started = time.perf_counter()
    stages = Stages()
    while True:
        known_stale = len(index.passages.stale_rows)
        near, words = _rankings(index, query, stages)
        with stages.time("read"):
            hits = _read_hits(index, _fuse(index, near, words), near, query.k)
        if len(hits) == query.k or len(index.passages.stale_rows) == known_stale:
            break
        query = _without_stale(index, query)
    return Results(
        hits=tuple(hits),
        explanation=_explain(index, query, near, words, stages),
        stale=() if index.passages.is_following else index.passages.stale_paths,
        took_ms=(time.perf_counter() - started) * 1e3,
        notes=tuple(_notes(index, near, words, hits)),
    )


def _fuse(index: Searchable, near: _Ranking | None, words: LexicalResult | None) -> list[Fused]:
    rankings: dict[str, Sequence[int]] = {}
    if near is not None:
        rankings["semantic"] = near.ids
    if words is not None:
        rankings["lexical"] = index.layout.ids[words.numbers.astype(np.int64)].tolist()
    return fuse(rankings)


def _without_stale(index: Searchable, query: Query) -> Query:
    """Ask again without the sources whose text turned out to have changed."""
    is_fresh = index.layout.numbers_of(~index.passages.stale_documents)
    allowed = is_fresh if query.allowed is None else query.allowed & is_fresh
    return replace(query, allowed=allowed)


def _rankings(
    index: Searchable, query: Query, stages: Stages
) -> tuple[_Ranking | None, LexicalResult | None]:
    """Rank by meaning, by words or both; the model loads while words are counted."""
    wants_words = query.mode != "semantic"
    if query.mode == "lexical" or index.vectors is None:
        return None, _by_words(index, query, stages) if wants_words else None
    with ThreadPoolExecutor(1, thread_name_prefix="gossamer-question") as pool:
        vector = pool.submit(_question_vector, index, query, stages)
        words = _by_words(index, query, stages) if wants_words else None
        near = _by_meaning(index, query, vector.result(), stages)
    return near, words


def _question_vector(index: Searchable, query: Query, stages: Stages) -> Floats:
    if query.vector is not None:
        return query.vector
    name = hash_of_text(query.question)
    if index.hot is not None and (known := index.hot.question(name)) is not None:
        return known
    with stages.time("load model"):
        embedder = index.embedder()
    with stages.time("embed question"):
        vector = as_kept(embedder.embed_question(query.question))
    if index.hot is not None:
        index.hot.put_question(name, vector)
    return vector


def _by_words(index: Searchable, query: Query, stages: Stages) -> LexicalResult:
    with stages.time("words"):
        found = None if index.lexical is None else index.lexical(query, _DEPTH + query.k)
        if found is not None:
            return found
        layout = index.layout
        words = rank(
            query.question,
            _DEPTH + query.k,
            layout.files,
            layout.buffers(),
            allowed=query.allowed,
            threads=index.threads,
        )
        index.passages.note_unreadable([str(layout.files.paths[i]) for i in words.files_failed])
        return words


def _by_meaning(index: Searchable, query: Query, vector: Floats, stages: Stages) -> _Ranking:
    """Rank by distance: exactly down to the k-th, by codes below."""
    assert index.vectors is not None
    ranking = _Ranking([], {})
    allow = None if query.allowed is None else index.layout.ids[query.allowed]
    if allow is not None and not len(allow):
        return ranking
    with stages.time("codes"):
        session = index.vectors.session(vector, query.k, recall=query.recall, allow=allow)
    source = ChunkVectors(index.passages, index.embedder, index.hot, index.elsewhere)
    while not source.is_cut_off and (wanted := session.wanted()).size:
        with stages.time("embed chunks"):
            supplied = source.of(wanted)
        with stages.time("codes"):
            session.supply(supplied.vectors, supplied.missing)
    found = session.nearest()
    ranking.distances = dict(zip(found.ids.tolist(), found.distances.tolist(), strict=True))
    ranking.ids = found.ids.tolist()
    ranking.strategy = found.stats.strategy
    ranking.codes_touched, ranking.rounds = found.stats.codes_touched, found.stats.rounds
    ranking.embedded, ranking.cached = source.embedded, source.cached
    ranking.asked, ranking.out_of_reach = source.asked, source.out_of_reach
    if (query.mode == "hybrid" or source.out_of_reach) and index.vectors.codebook is not None:
        with stages.time("codes"):
            estimated, _ = index.vectors.estimate(vector, _DEPTH + query.k, allow=allow)
        ranking.ids += [id for id in estimated.tolist() if id not in ranking.distances]
    return ranking


def _read_hits(
    index: Searchable, fused: Sequence[Fused], near: _Ranking | None, k: int
) -> list[Hit]:
    """Read the best until k of them are there, leaving out those whose text has changed."""
    hits: list[Hit] = []
    for start in range(0, len(fused), k):
        some = fused[start : start + k]
        passages = index.passages.read(np.array([one.id for one in some], np.int64))
        for one, passage in zip(some, passages, strict=True):
            if passage is None and index.passages.is_out_of_reach(one.id):
                passage = index.passages.without_text(one.id)
            if passage is not None and len(hits) < k:
                distance = None if near is None else near.distances.get(one.id)
                hits.append(locate(index.passages, passage, one, distance))
        if len(hits) == k:
            break
    return hits


def locate(
    passages: Passages,
    passage: Passage,
    fused: Fused | None = None,
    distance: float | None = None,
) -> Hit:
    """Make a hit of a passage: say where it stands."""
    first, last = passages.place_of(passage)
    return Hit(
        id=passage.id,
        source=passage.source.path,
        key=passage.document.key,
        kind=passage.document.kind,
        title=passage.title,
        unit=passage.document.unit,
        first=first,
        last=last,
        start=passage.start,
        end=passage.end,
        text=passage.body,
        score=0.0 if fused is None else fused.score,
        distance=distance,
        ranks={} if fused is None else fused.ranks,
        metadata=passage.document.metadata,
    )


def _notes(
    index: Searchable,
    near: _Ranking | None,
    words: LexicalResult | None,
    hits: Sequence[Hit],
) -> Iterator[str]:
    """Say what an index could not do as if it had everything itself."""
    if not index.passages.is_trusted:
        if index.layout.has_away_texts:
            yield (
                "this index is not trusted, so the files that it names were not read: words were "
                "looked for in the texts that it holds, and hits elsewhere have no text; "
                f"`{how_to_accept(index.passages.folder)}` shows and accepts what it names"
            )
        return
    if index.elsewhere is not None:
        yield from (f"{note}; answered from what is here" for note in index.elsewhere.notes)
    if near is not None and near.out_of_reach:
        yield (
            f"{near.out_of_reach} of the nearest chunks were ranked by their codes alone: "
            "their vectors are to be had from the server only"
        )
    if words is not None and index.lexical is None and index.layout.has_away_texts:
        yield "words were looked for only in the texts that are kept here"
    if without := sum(not hit.text for hit in hits):
        yield f"{without} of the hits have no text here: it is to be had from the server only"
    if index.passages.is_following and (changed := len(index.passages.stale_rows)):
        yield f"{changed} of the sources have changed on the server; `gossamer pull` brings them"


def _explain(
    index: Searchable,
    query: Query,
    near: _Ranking | None,
    words: LexicalResult | None,
    stages: Stages,
) -> Explanation:
    near = near or _Ranking([], {})
    return Explanation(
        mode=query.mode,
        strategy=near.strategy,
        chunks=len(index.layout),
        allowed_chunks=None if query.allowed is None else int(query.allowed.sum()),
        codes_touched=near.codes_touched,
        chunks_embedded=near.embedded,
        chunks_cached=near.cached,
        chunks_asked=near.asked,
        rounds=near.rounds,
        lexical_bytes=0 if words is None else words.bytes_read,
        lexical_terms=(
            {} if words is None else dict(zip(words.terms, words.chunks_with, strict=True))
        ),
        stages=stages.ms,
    )
