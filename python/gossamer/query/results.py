"""What a search gives: hits, and how they were found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import overload

from gossamer.records import Hit

__all__ = [
    "Explanation",
    "Results",
    "ResultsRecord",
    "has_close",
    "record_chunk",
    "record_results",
]

_OF_A_SEARCH = (
    *("number", "path", "line", "snippet", "highlights", "code", "best", "answer"),
    *("copies", "also", "more", "is_indexed"),
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a search did and what it cost."""

    mode: str  # hybrid, semantic or lexical
    strategy: str  # how near vectors were found; "" where the search was lexical
    chunks: int  # in the index
    allowed_chunks: int | None  # that the filter lets through; None without a filter
    codes_touched: int = 0
    chunks_embedded: int = 0  # again, for this question
    chunks_cached: int = 0  # whose vectors were at hand
    chunks_asked: int = 0  # whose vectors came from the server that the index follows
    rounds: int = 0  # how often vectors were asked for
    candidates: int = 0  # of both rankings, that were ranked again
    copies: int = 0  # that were left out, as another passage says the same
    reranker: str = ""  # the model that scored the best of them; "" if none did
    chunks_scored: int = 0  # by it
    lexical_bytes: int = 0  # text that was read for words
    lexical_terms: Mapping[str, int] = field(default_factory=dict)  # chunks that hold each term
    stages: Mapping[str, float] = field(default_factory=dict)  # milliseconds


@dataclass(frozen=True, slots=True)
class Results(Sequence[Hit]):
    """Hits, best first, with what was done to find them."""

    hits: tuple[Hit, ...]
    explanation: Explanation
    # Files whose text is not what was indexed: their hits were dropped, `add` mends it.
    stale: tuple[str, ...] = ()
    # Files that were brought up to date before this was answered.
    updated: tuple[str, ...] = ()
    # Files that are not there any more, and folders that were added and are not there.
    gone: tuple[str, ...] = ()
    took_ms: float = 0.0
    # What else to know of this answer: a server that was away, texts that are not here.
    notes: tuple[str, ...] = ()
    # What was to be found to the letter and is nowhere: phrases, +words, names such as E1101. The
    # hits are what is nearest to the rest of the question.
    absent: tuple[str, ...] = ()

    @property
    def is_close(self) -> bool:
        """Whether something answers the question; False where every hit is weak."""
        return has_close(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Hit]: ...

    def __getitem__(self, place: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[place]


@dataclass(frozen=True, slots=True)
class ResultsRecord:
    """All that a search gives, as programs read it: the same keys everywhere."""

    question: str
    mode: str
    took_ms: float
    hits: tuple[Hit, ...]
    stale: tuple[str, ...]
    updated: tuple[str, ...]
    gone: tuple[str, ...]
    notes: tuple[str, ...]
    absent: tuple[str, ...]
    explanation: Mapping[str, object]


def record_results(question: str, results: Results) -> ResultsRecord:
    """Describe what was found, with numbers as long as they mean something."""
    explanation = asdict(results.explanation)
    explanation["stages"] = {name: round(ms, 2) for name, ms in results.explanation.stages.items()}
    return ResultsRecord(
        question=question,
        mode=results.explanation.mode,
        took_ms=round(results.took_ms, 1),
        hits=tuple(
            replace(
                hit,
                score=round(hit.score, 6),
                distance=None if hit.distance is None else round(hit.distance, 6),
            )
            for hit in results
        ),
        stale=results.stale,
        updated=results.updated,
        gone=results.gone,
        notes=results.notes,
        absent=results.absent,
        explanation=explanation,
    )


def has_close(hits: Sequence[Hit]) -> bool:
    """Whether there are hits, and not all of them are weak."""
    return any(hit.strength != "weak" for hit in hits)


def record_chunk(hit: Hit) -> dict[str, object]:
    """Describe a chunk that was asked for by its id: without what only an answer has."""
    record = asdict(hit)
    for name in _OF_A_SEARCH:
        del record[name]
    return {**record, "source": hit.source}
