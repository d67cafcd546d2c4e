"""Hits as commands show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise

from gossamer.cli.answers import Answer
from gossamer.cli.formats import Format, print_paths, print_vimgrep
from gossamer.cli.last_search import remember
from gossamer.cli.output import Column, Output, Piece
from gossamer.cli.words import counted, duration, near_path, size
from gossamer.query.results import ResultsRecord, has_close
from gossamer.records import Hit, Place

__all__ = ["as_json", "show_results"]

# What a ranking is called by what it goes by.
_MOST_NAMED = 4
_RANKINGS = {"semantic": "meaning", "lexical": "words"}


def show_results(
    output: Output, answer: Answer, format: Format, is_explained: bool = False
) -> None:
    """Print what was found; what is numbered is remembered for `gossamer open`."""
    found = answer.found
    if format.name in ("text", "json"):
        remember(answer)
    if format.name == "json":
        output.json(as_json(answer))
        return
    hits = [hit for hit in found.hits if format.has_weak or hit.strength != "weak"]
    if format.name == "vimgrep":
        print_vimgrep(output, answer, hits)
    elif format.name == "paths":
        print_paths(output, hits, format.end)
    else:
        _show_hits(output, answer, is_explained)
    if found.hits and not hits:
        output.note("nothing close was found; --min-score 0 prints weak hits too")
    _show_notes(output, answer)


def as_json(answer: Answer) -> dict[str, object]:
    """Give an answer as programs read it."""
    hits = [{**asdict(hit), "index": answer.asked_for(hit).name} for hit in answer.found.hits]
    return {**asdict(answer.found), "hits": hits}


def _show_hits(output: Output, answer: Answer, is_explained: bool) -> None:
    found = answer.found
    if found.absent and found.hits:
        nearest = "other words" if found.mode == "lexical" else "meaning"
        output.line((f"{_absence(found)}; nearest by {nearest}:", "warning"))
        output.line()
    elif found.hits and not has_close(found.hits):
        output.line(("nothing close was found; nearest:", "warning"))
        output.line()
    # Behind the last one that is not weak it is said only where the others stand.
    sure = max((hit.number for hit in found.hits if hit.strength != "weak"), default=answer.count)
    for hit in found.hits:
        if hit.number == sure + 1:
            output.line(("weak, and perhaps no answer:", "quiet"))
        index = answer.asked_for(hit).name if answer.is_joint else ""
        _show_hit(output, hit, index, hit.number <= sure, is_explained)
    if sure < answer.count:
        output.line()
    if is_explained:
        several = found.explanation if answer.is_joint else {"": found.explanation}
        for name, explanation in several.items():
            _show_explanation(output, name, explanation)
        output.line((f"time in all  {found.took_ms:,.1f} ms", "quiet"))
        output.line()


def _show_notes(output: Output, answer: Answer) -> None:
    found = answer.found
    if not found.hits:
        output.note("; ".join(["nothing found", *([_absence(found)] if found.absent else [])]))
    if found.updated:
        output.note(_update(answer))
    for note in found.notes:
        output.note((note, "warning"))
    if found.stale:
        changed = counted(len(found.stale), "file")
        output.note((f"{changed} changed since the last update; run `gossamer add`", "warning"))


def _update(answer: Answer) -> str:
    updated = answer.found.updated
    ms = sum(stages.get("update", 0.0) for stages in answer.stages)
    files = counted(len(updated), "changed file")
    were = "was" if len(updated) == 1 else "were"
    return f"{files} {were} brought up to date ({duration(ms / 1e3)})"


def _absence(found: ResultsRecord) -> str:
    # A phrase may begin in one passage and end in the next.
    where = "passage" if any(" " in words for words in found.absent) else "file"
    return f"no {where} contains " + " or ".join(f'"{words}"' for words in found.absent)


def _show_hit(output: Output, hit: Hit, index: str, is_sure: bool, is_explained: bool) -> None:
    """Print a hit, with its index where several were asked."""
    of_index = [(f"[{index}] ", "quiet")] if index else []
    place: Piece = (_near(hit.path, hit.location), "path" if is_sure else "quiet")
    title: list[Piece] = [("  ", ""), (hit.title, "title" if is_sure else "quiet")]
    about = " · ".join(filter(None, [hit.strength if is_sure else "", hit.kind, _name(hit)]))
    beside: list[Piece] = [] if is_sure else [(f"  {about}", "quiet")]
    output.line(f"{hit.number}. ", *of_index, place, *(title if hit.title else []), *beside)
    if is_sure:
        output.line((about, "quiet"), indent=3)
    if is_explained:
        output.line((_why(hit), "quiet"), indent=3)
    if is_sure:
        output.line(*_styled(hit), indent=3)
        _show_places(output, hit)
        output.line()


def _name(hit: Hit) -> str:
    """Say how `show` and `similar` call it."""
    return f"id {hit.id}" if hit.is_indexed else "not in the index yet"


def _show_places(output: Output, hit: Hit) -> None:
    """Say where else it stands, and what more the document has."""
    if hit.also:
        named = [_near(place.path, place.location) for place in hit.also]
        others = "1 other" if hit.copies == 1 else f"{hit.copies:,} others"
        output.line((f"also in {others}: {_listed(named, hit.copies)}", "quiet"), indent=3)
    if hit.more:
        named = list(dict.fromkeys(_near_hit(place, hit) for place in hit.more))
        output.line((f"more in this file: {_listed(named, len(named))}", "quiet"), indent=3)


def _listed(names: Sequence[str], count: int) -> str:
    rest = count - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _near(path: str, location: str) -> str:
    return near_path(path) + location[len(path) :]


def _near_hit(place: Place, hit: Hit) -> str:
    """Name a place without the file, unless that is a copy of the hit's."""
    if place.path == hit.path:
        return place.location[len(place.path) :].lstrip(": ")
    return _near(place.path, place.location)


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


def _show_explanation(output: Output, index: str, explanation: object) -> None:
    assert isinstance(explanation, dict)
    said = dict(explanation)
    stages = said.pop("stages")
    terms = said.pop("lexical_terms")
    assert isinstance(stages, dict)
    assert isinstance(terms, dict)
    if not said["reranker"]:
        del said["reranker"], said["chunks_scored"]
    rows = [("index", index)] if index else []
    rows += [(name.replace("_", " "), _shown(name, value)) for name, value in said.items()]
    rows += [("lexical terms", ", ".join(f"{term} ({n:,})" for term, n in terms.items()))]
    rows += [(f"time: {name}", f"{ms:,.1f} ms") for name, ms in stages.items()]
    output.table([Column("", style="quiet"), Column("", may_fold=True)], rows)
    output.line()


def _shown(name: str, value: object) -> str:
    if value is None:
        return "all"
    if not isinstance(value, int):
        return str(value)
    return size(value) if name.endswith("_bytes") else f"{value:,}"
