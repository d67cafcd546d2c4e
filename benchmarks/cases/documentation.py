"""Is the first hit right? Questions to two documentations, and exact lookups."""

from collections.abc import Sequence
from typing import Any

from benchmarks.definitions import definitions, sources
from benchmarks.documentation import Corpus, Label, absent_places, corpus, is_right, labels, shows
from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import create_index, scratch_folder
from benchmarks.report import Result, Row
from benchmarks.scale import FULL, SCALE, scaled
from gossamer.index import Index
from gossamer.records import Hit

TITLE = "is the first hit right: 60 questions to documentation, 40 exact lookups"
CORPORA = ("python", "policy", "sources")
ASKED, LOOKED_UP = ("python", "policy"), "exact"
K = 5
FIRST, FIRST_THREE = "first", "first three"
DEPTHS = {FIRST: 1, FIRST_THREE: 3}
BARS = {FIRST: 0.70, FIRST_THREE: 0.85}
EXACT_BAR = 0.95
SHOWN_BAR = 0.90
OURS = "hybrid"
WAYS: dict[str, dict[str, Any]] = {
    OURS: {},
    "places added up": {"rerank": "none"},
    "lexical": {"mode": "lexical"},
}
# Smaller runs take every so-many-th question, and files that none of them names.
EVERY_QUESTION = scaled(1, smoke=6, small=2)
EVERY_FILE = scaled(1, smoke=60, small=12)

Places = dict[str, int | None]  # by way: where the first right hit stands, from 1


def run() -> Result:
    """Ask every question in every way."""
    sets = {name: labels(name)[::EVERY_QUESTION] for name in (*ASKED, LOOKED_UP)}
    found: dict[str, list[Places]] = {name: [] for name in sets}
    missed: dict[str, list[dict[str, Any]]] = {name: [] for name in sets}
    shown: list[bool] = []
    chunks = {}
    for name in CORPORA:
        given = [label for some in sets.values() for label in some if label.corpus == name]
        texts = _corpus(name, given)
        index = _index(texts)
        chunks[name] = index.status().chunks
        for kind, some in sets.items():
            for label in (one for one in some if one.corpus == name):
                places, first, snippets = ask(index, label, texts)
                found[kind].append(places)
                shown += snippets if kind in ASKED else []
                if places[OURS] != 1:
                    missed[kind].append({"question": label.question, "right": places, **first})
    defined = _definitions()
    details = {
        "definitions": defined,
        "chunks": chunks,
        "questions": {name: len(some) for name, some in sets.items()},
        "shares": {name: _shares(places) for name, places in found.items()},
        "missed": missed,
    }
    rows = [*_rows(found), _shown_row(shown), *_definition_rows(defined)]
    return Result(rows, details)


def ask(index: Index, label: Label, texts: Corpus) -> tuple[Places, dict[str, str], list[bool]]:
    """Give the place of the first right hit in each way; what came first in ours.

    And for each right hit of ours, whether the snippet that is shown of it holds the right words.
    """
    places: Places = {}
    first = {}
    shown: list[bool] = []
    for way, options in WAYS.items():
        hits = index.search(label.question, K, **options)
        right = (hit.number for hit in hits if is_right(hit, label, texts))
        places[way] = next(right, None)
        if way == OURS:
            shown = [shows(hit, label, texts) for hit in hits if is_right(hit, label, texts)]
        if way == OURS and len(hits):
            where = hits[0].location.removeprefix(f"{texts.folder}/")
            first = {"came first": where, "says": hits[0].snippet}
    return places, first, shown


def _shown_row(shown: list[bool]) -> Row:
    share = sum(shown) / len(shown) if shown else None
    what = "right hits of questions whose snippet holds the words that answer"
    return Row(what, share, bar=SHOWN_BAR, at_least=True)


def _definitions() -> dict[str, dict[str, float]]:
    """Look up names of these sources; give the shares that are right."""
    folder = scratch_folder("documentation-definitions")
    index = Index.create(folder, model="pocket")
    index.add_paths(sources())
    chosen = definitions()
    shares = {}
    for form, questions in {
        "class Hit": [f"{one.keyword} {one.name}" for one in chosen],
        "Hit": [one.name for one in chosen],
    }.items():
        places = []
        for one, question in zip(chosen, questions, strict=True):
            hits = index.search(question, K)
            right = (h.number for h in hits if h.path == str(one.file) and _holds(h, one.line))
            places.append(next(right, K + 1))
        shares[form] = {
            depth: sum(place <= most for place in places) / len(places)
            for depth, most in DEPTHS.items()
        }
    return shares


def _holds(hit: Hit, line: int) -> bool:
    return hit.first <= line <= hit.last


def _definition_rows(shares: dict[str, dict[str, float]]) -> list[Row]:
    return [
        Row(f"definitions in these sources, asked as `{form}`, right: {depth}", share)
        for form, by_depth in shares.items()
        for depth, share in by_depth.items()
    ]


def _corpus(name: str, given: Sequence[Label]) -> Corpus:
    whole = corpus(name)
    if absent := absent_places(given, whole):
        raise ValueError("labels that are not in the files: " + "; ".join(absent))
    if SCALE == FULL:
        return whole
    return whole.part({file for label in given for file in label.places}, EVERY_FILE)


def _index(texts: Corpus) -> Index:
    """The default model; smaller runs take the smallest, to be done in seconds."""
    folder = scratch_folder(f"documentation-{texts.name}")
    if SCALE == FULL:
        index = create_index(folder, cached_minilm())
    else:
        index = Index.create(folder, model="pocket")
    index.add_paths(texts.files)
    return index


def _rows(found: dict[str, list[Places]]) -> list[Row]:
    asked = [places for name in ASKED for places in found[name]]
    rows = [
        _row(f"{len(asked)} questions, right: {depth}", asked, depth, bar)
        for depth, bar in BARS.items()
    ]
    rows += [
        _row(f"{name}, {len(found[name])} questions, right: {depth}", found[name], depth)
        for name in ASKED
        for depth in DEPTHS
    ]
    exact = found[LOOKED_UP]
    what = f"{len(exact)} exact lookups, right"
    rows.append(_row(f"{what}: {FIRST}", exact, FIRST, EXACT_BAR))
    return [*rows, _row(f"{what}: {FIRST_THREE}", exact, FIRST_THREE)]


def _row(what: str, found: Sequence[Places], depth: str, bar: float | None = None) -> Row:
    """Give the share that is right; the rival is the better of the other ways."""
    shares = {way: share[depth] for way, share in _shares(found).items()}
    rival = max((way for way in WAYS if way != OURS), key=lambda way: shares[way])
    return Row(what, shares[OURS], shares[rival], rival, bar, at_least=True)


def _shares(found: Sequence[Places]) -> dict[str, dict[str, float]]:
    return {
        way: {
            depth: sum((places[way] or K + 1) <= most for places in found) / len(found)
            for depth, most in DEPTHS.items()
        }
        for way in WAYS
    }
