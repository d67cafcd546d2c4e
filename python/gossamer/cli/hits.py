"""Hits as commands show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from gossamer.cli.output import Column, Output, Piece
from gossamer.cli.words import counted, near_path, size
from gossamer.query.results import ResultsRecord, has_close, record_results
from gossamer.records import Hit, Span

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
    elif found.hits and not has_close(found.hits):
        output.line(("nothing close was found; nearest:", "warning"))
        output.line()
    _show_hits(output, found.hits, is_explained)
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


def _show_hits(output: Output, hits: Sequence[Hit], is_explained: bool) -> None:
    """Print hits; behind the last one that is not weak, only where the others stand."""
    sure = max((at for at, hit in enumerate(hits, 1) if hit.strength != "weak"), default=len(hits))
    for hit in hits[:sure]:
        output.line(f"{hit.number}. ", *_place(hit, "path", "title"))
        output.line((_about(hit), "quiet"), indent=3)
        if is_explained:
            output.line((_why(hit), "quiet"), indent=3)
        output.line(*_highlighted(hit.snippet, hit.highlights), indent=3)
        output.line()
    if sure < len(hits):
        output.line(("weak, and perhaps no answer:", "quiet"))
    for hit in hits[sure:]:
        output.line(f"{hit.number}. ", *_place(hit, "quiet", "quiet"), (f"  id {hit.id}", "quiet"))
        if is_explained:
            output.line((_why(hit), "quiet"), indent=3)
    if sure < len(hits):
        output.line()


def _place(hit: Hit, style: str, title_style: str) -> list[Piece]:
    place = near_path(hit.path) + hit.location[len(hit.path) :]
    return [(place, style), *([("  ", ""), (hit.title, title_style)] if hit.title else [])]


def _about(hit: Hit) -> str:
    """Say how sure it is, what it is, and how `show` and `similar` call it."""
    return " · ".join([*filter(None, [hit.strength]), hit.kind, f"id {hit.id}"])


def _why(hit: Hit) -> str:
    """Say what speaks for it: "probability 0.91 · score 4.02 · meaning 1 (cosine 0.42)"."""
    parts = [] if hit.probability is None else [f"probability {hit.probability:.2f}"]
    by_whom = "" if hit.reranker is None else " by the reranker"
    parts.append(f"score {hit.score:.4g}{by_whom}")
    if hit.nearness is not None:
        parts.append(f"nearness {hit.nearness:.1f}")
    if hit.coverage is not None:
        parts.append(f"coverage {hit.coverage:.2f}")
    if hit.tokens is not None:
        parts.append(f"tokens {hit.tokens:.2f}")
    if hit.exact > 0:
        parts.append(f"exact {hit.exact:.2g}")
    for name, rank in hit.ranks.items():
        likeness = ""
        if name == "semantic" and hit.distance is not None:
            likeness = f" (cosine {round(-hit.distance, 2) + 0.0:.2f})"
        parts.append(f"{_RANKINGS.get(name, name)} {rank}{likeness}")
    return " · ".join(parts)


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
