"""Results as programs read them, from the command line and over HTTP: the same keys everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from gossamer.query.results import Explanation, Results
from gossamer.query.snippet import choose_snippet, whole_snippet
from gossamer.records import Hit, Span, Value

__all__ = ["HitRecord", "ResultsRecord", "record_results"]


@dataclass(frozen=True, slots=True)
class HitRecord:
    """A hit and the lines of it that answer best."""

    number: int
    id: int
    location: str  # path:line of the line that answers best, or path and page
    path: str  # absolute; or the id that a text was given
    key: str
    kind: str
    title: str
    unit: str
    first: int
    last: int
    line: int  # the line (or page, ...) in `location`
    start: int
    end: int
    score: float
    distance: float | None
    ranks: Mapping[str, int]
    metadata: Mapping[str, Value]
    snippet: str
    highlights: tuple[Span, ...]  # characters of `snippet`
    text: str


@dataclass(frozen=True, slots=True)
class ResultsRecord:
    """All that a search gives."""

    question: str
    mode: str
    took_ms: float
    hits: tuple[HitRecord, ...]
    stale: tuple[str, ...]
    notes: tuple[str, ...]
    explanation: Mapping[str, object]


def record_results(
    question: str, results: Results, is_full: bool, words: str | None = None
) -> ResultsRecord:
    """Describe what was found, with whole chunks or the best lines of each.

    `words` are looked for in the hits; those of the question if not given.
    """
    words = question if words is None else words
    return ResultsRecord(
        question=question,
        mode=results.explanation.mode,
        took_ms=round(results.took_ms, 1),
        hits=tuple(_record(i, hit, words, is_full) for i, hit in enumerate(results, 1)),
        stale=results.stale,
        notes=results.notes,
        explanation=_explanation(results.explanation),
    )


def _record(number: int, hit: Hit, words: str, is_full: bool) -> HitRecord:
    snippet = (whole_snippet if is_full else choose_snippet)(hit.text, words)
    # Where a line of the chunk is a line of the source, the best one can be named.
    has_lines = hit.unit == "line" and hit.last - hit.first == hit.text.count("\n")
    line = hit.first + (snippet.line if has_lines else 0)
    return HitRecord(
        number=number,
        id=hit.id,
        location=replace(hit, first=line).location,
        path=hit.source,
        key=hit.key,
        kind=hit.kind,
        title=hit.title,
        unit=hit.unit,
        first=hit.first,
        last=hit.last,
        line=line,
        start=hit.start,
        end=hit.end,
        score=round(hit.score, 6),
        distance=None if hit.distance is None else round(hit.distance, 6),
        ranks=dict(hit.ranks),
        metadata=dict(hit.metadata),
        snippet=snippet.text,
        highlights=snippet.highlights,
        text=hit.text,
    )


def _explanation(explanation: Explanation) -> dict[str, object]:
    record = asdict(explanation)
    record["stages"] = {name: round(ms, 2) for name, ms in explanation.stages.items()}
    return record
