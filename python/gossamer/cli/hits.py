"""Hits as commands show them."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise

from gossamer.cli.output import Column, Output, Piece
from gossamer.cli.words import counted, near_path, size
from gossamer.query.results import ResultsRecord, record_results
from gossamer.records import Hit

__all__ = ["ResultsRecord", "record_results", "show_results"]

# What a ranking is called by what it goes by.
_RANKINGS = {"semantic": "meaning", "lexical": "words"}


def show_results(output: Output, found: ResultsRecord, as_json: bool, is_explained: bool) -> None:
    """Print what was found."""
    if as_json:
        output.json(asdict(found))
        return
    if found.absent and found.hits:
        nearest = "other words" if found.mode == "lexical" else "meaning"
        output.line((f"{_absence(found)}; nearest by {nearest}:", "warning"))
        output.line()
    for hit in found.hits:
        _show_hit(output, hit)
    if not found.hits:
        output.note("; ".join(["nothing found", *([_absence(found)] if found.absent else [])]))
    if is_explained:
        _show_explanation(output, found)
    for note in found.notes:
        output.note((note, "warning"))
    if found.stale:
        changed = counted(len(found.stale), "file")
        output.note((f"{changed} changed since the last update; run `gossamer add`", "warning"))


def _absence(found: ResultsRecord) -> str:
    # A phrase may begin in one passage and end in the next.
    where = "passage" if any(" " in words for words in found.absent) else "file"
    return f"no {where} contains " + " or ".join(f'"{words}"' for words in found.absent)


def _show_hit(output: Output, hit: Hit) -> None:
    place = near_path(hit.path) + hit.location[len(hit.path) :]
    title = [("  ", ""), (hit.title, "title")] if hit.title else []
    output.line(f"{hit.number}. ", (place, "path"), *title)
    output.line((_why(hit), "quiet"), indent=3)
    output.line(*_styled(hit), indent=3)
    output.line()


def _why(hit: Hit) -> str:
    """Say where each ranking has it: "score 0.0328 · meaning 1 (cosine 0.42) · words 3"."""
    by_whom = "" if hit.reranker is None else " by the reranker"
    parts = [f"score {hit.score:.4g}{by_whom}"]
    if hit.tokens is not None:
        parts.append(f"tokens {hit.tokens:.2f}")
    if hit.exact > 0:
        parts.append(f"exact {hit.exact:.2g}")
    for name, rank in hit.ranks.items():
        likeness = ""
        if name == "semantic" and hit.distance is not None:
            likeness = f" (cosine {round(-hit.distance, 2) + 0.0:.2f})"
        parts.append(f"{_RANKINGS.get(name, name)} {rank}{likeness}")
    return " · ".join([*parts, hit.kind, f"id {hit.id}"])


def _styled(hit: Hit) -> list[Piece]:
    """Give the snippet in pieces: the words that match, and what else of it is code."""
    ends = {0, len(hit.snippet)}.union(*hit.highlights, *hit.code)
    return [
        (hit.snippet[start:end], _style_at(hit, start)) for start, end in pairwise(sorted(ends))
    ]


def _style_at(hit: Hit, place: int) -> str:
    styles = (("match", hit.highlights), ("code", hit.code))
    for style, spans in styles:
        if any(start <= place < end for start, end in spans):
            return style
    return ""


def _show_explanation(output: Output, found: ResultsRecord) -> None:
    said = dict(found.explanation)
    stages = said.pop("stages")
    terms = said.pop("lexical_terms")
    assert isinstance(stages, dict)
    assert isinstance(terms, dict)
    if not said["reranker"]:
        del said["reranker"], said["chunks_scored"]
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
