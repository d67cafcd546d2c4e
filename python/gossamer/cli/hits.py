"""Hits as commands show them: one record for text and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from gossamer.cli.output import Column, Output, Piece
from gossamer.cli.words import counted, near_path, size
from gossamer.records import Hit, Span, Value

if TYPE_CHECKING:
    from gossamer.query.results import Explanation, Results

__all__ = ["HitRecord", "ResultsRecord", "record_results", "show_results"]

# What a ranking is called by what it goes by.
_RANKINGS = {"semantic": "meaning", "lexical": "words"}


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
        explanation=_explanation(results.explanation),
    )


def show_results(output: Output, found: ResultsRecord, as_json: bool, is_explained: bool) -> None:
    """Print what was found."""
    if as_json:
        output.json(asdict(found))
        return
    for hit in found.hits:
        _show_hit(output, hit)
    if not found.hits:
        output.note("nothing found")
    if is_explained:
        _show_explanation(output, found)
    if found.stale:
        changed = counted(len(found.stale), "file")
        output.note((f"{changed} changed since the last update; run `gossamer add`", "warning"))


def _record(number: int, hit: Hit, words: str, is_full: bool) -> HitRecord:
    from gossamer.query.snippet import choose_snippet, whole_snippet

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


def _show_hit(output: Output, hit: HitRecord) -> None:
    place = near_path(hit.path) + hit.location[len(hit.path) :]
    title = [("  ", ""), (hit.title, "title")] if hit.title else []
    output.line(f"{hit.number}. ", (place, "path"), *title)
    output.line((_why(hit), "quiet"), indent=3)
    output.line(*_highlighted(hit.snippet, hit.highlights), indent=3)
    output.line()


def _why(hit: HitRecord) -> str:
    """Say where each ranking has it: "score 0.0328 · meaning 1 (cosine 0.42) · words 3"."""
    parts = [f"score {hit.score:.4g}"]
    for name, rank in hit.ranks.items():
        likeness = ""
        if name == "semantic" and hit.distance is not None:
            likeness = f" (cosine {round(-hit.distance, 2) + 0.0:.2f})"
        parts.append(f"{_RANKINGS.get(name, name)} {rank}{likeness}")
    return " · ".join([*parts, hit.kind, f"id {hit.id}"])


def _highlighted(text: str, spans: Sequence[Span]) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    for start, end in spans:
        pieces += [(text[at:start], ""), (text[start:end], "match")]
        at = end
    return [*pieces, (text[at:], "")]


def _show_explanation(output: Output, found: ResultsRecord) -> None:
    said = dict(found.explanation)
    stages = said.pop("stages")
    terms = said.pop("lexical_terms")
    assert isinstance(stages, dict)
    assert isinstance(terms, dict)
    rows = [(name.replace("_", " "), _shown(name, value)) for name, value in said.items()]
    rows += [("lexical terms", ", ".join(f"{term} ({n:,})" for term, n in terms.items()))]
    rows += [(f"time: {name}", f"{ms:,.1f} ms") for name, ms in stages.items()]
    rows += [("time in all", f"{found.took_ms:,.1f} ms")]
    output.table([Column("", style="quiet"), Column("", may_fold=True)], rows)
    output.line()


def _shown(name: str, value: object) -> str:
    if value is None:
        return "all"
    if not isinstance(value, int):
        return str(value)
    return size(value) if name.endswith("_bytes") else f"{value:,}"
