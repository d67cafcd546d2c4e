"""What one index answered, or several together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gossamer.cli.add import bring_up_to_date
from gossamer.errors import GossamerError, NoIndex
from gossamer.query.results import Results, ResultsRecord, record_results
from gossamer.records import Hit, Place

if TYPE_CHECKING:
    from gossamer.cli.session import Session
    from gossamer.index import Index

__all__ = ["Answer", "Asked", "answer_of_one", "ask"]


@dataclass(frozen=True, slots=True)
class Asked:
    """An index that was asked."""

    name: str  # as it was called
    index: Index


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, numbered from 1, and which index each of them is of."""

    found: ResultsRecord
    asked: Sequence[Asked]  # one for each hit
    indexes: Sequence[Asked]  # all that answered
    is_joint: bool = False  # several were asked

    @property
    def count(self) -> int:
        """How many hits there are."""
        return len(self.found.hits)

    @property
    def stages(self) -> list[dict[str, float]]:
        """Milliseconds by stage, of each index that was asked."""
        said: Any = self.found.explanation
        return [one["stages"] for one in (said.values() if self.is_joint else [said])]

    def asked_for(self, hit: Hit) -> Asked:
        """Give the index that a hit is of."""
        return self.asked[hit.number - 1]

    def has_own_lines(self, hit: Hit) -> bool:
        """Whether a hit's text is at hand, and its lines are those of its file."""
        if not (hit.is_indexed and hit.text):
            return False
        catalogue = self.asked_for(hit).index.snapshot.catalogue
        return not catalogue.document(int(catalogue.document_rows([hit.id])[0])).places

    def before(self, hit: Hit, margin: int) -> str:
        """Give up to `margin` bytes of text before a hit."""
        return self.asked_for(hit).index.context(hit.id, margin)[0]


def ask(
    session: Session,
    question: str,
    model: str,
    *,
    k: int,
    wants_all: bool,
    is_grouped: bool,
    **options: Any,
) -> Answer:
    """Ask the index that was named, or several: one that fails is a note, unless all do.

    `is_grouped`: each document has one hit, which says where its others stand.
    """
    answers: list[Answer] = []
    failures: dict[str, Exception] = {}
    for name in _names(session, wants_all):
        one = replace(session, index=name, others=())
        try:
            answers.append(_ask_one(one, question, model, k, is_grouped, **options))
        except (GossamerError, OSError) as error:
            failures[name] = error
    if not answers:
        raise next(iter(failures.values()))
    if options["types"] and not any(answer.count for answer in answers):
        answers = [_with_kinds(answer, options["types"]) for answer in answers]
    if len(answers) + len(failures) == 1:
        return answers[0]
    problems = [f"{name}: {error}" for name, error in failures.items()]
    return _join(answers, problems, k, is_grouped, options["distinct"])


def _ask_one(
    session: Session, question: str, model: str, k: int, is_grouped: bool, **options: Any
) -> Answer:
    index = session.open_index(model)
    if options.get("update") == "always":
        bring_up_to_date(session.output, index)
        options["update"] = "auto"  # says what is gone
    results = index.search(question, k, **options)
    if is_grouped:
        results = replace(results, hits=_group(results.hits))
    return answer_of_one(Asked(session.index, index), question, results)


def answer_of_one(asked: Asked, question: str, results: Results) -> Answer:
    """Give the answer of an index that was asked alone."""
    return Answer(record_results(question, results), [asked] * len(results), (asked,))


def _with_kinds(answer: Answer, types: Sequence[str]) -> Answer:
    """Say which types there are, where one was asked for that is not."""
    from gossamer.filters import combine
    from gossamer.status import count_kinds

    snapshot = answer.indexes[0].index.snapshot
    kinds, is_wanted = count_kinds(snapshot), combine(types=types)
    extensions = {os.path.splitext(path)[1] for path in snapshot.catalogue.paths}
    there = [{"type": kind} for kind in kinds] + [{"extension": name} for name in extensions]
    if is_wanted is None or any(map(is_wanted.matches, there)):
        return answer
    note = (
        f"no hit is of the type {' or '.join(types)}; the kinds in this index are "
        f"{', '.join(sorted(kinds))}, and an extension such as md is a type too"
    )
    return replace(answer, found=replace(answer.found, notes=(*answer.found.notes, note)))


def _names(session: Session, wants_all: bool) -> Sequence[str]:
    if not wants_all:
        return session.names
    from gossamer.store import default_folder, list_indexes

    named = session.names if session.is_named else ()
    names = tuple(dict.fromkeys((*named, *list_indexes())))
    if not names:
        raise NoIndex(
            f"there are no indexes in {default_folder().parent}; `gossamer add FOLDER` makes one"
        )
    return names


def _group(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Keep the best hit of each document; the others are further places of it."""
    others: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        others.setdefault((hit.path, hit.key), []).append(hit)
    return tuple(
        replace(best, number=number, more=(*(one.places[0] for one in rest), *best.more))
        for number, (best, *rest) in enumerate(others.values(), 1)
    )


def _interleave(answers: Sequence[Answer]) -> Iterator[tuple[Hit, Asked]]:
    """Give the hits of several indexes, each in the order of its own: always the surest next one.

    Scores of two searches do not compare; probabilities do, and places where there are none.
    """
    waiting = [[(hit, answer.asked_for(hit)) for hit in answer.found.hits] for answer in answers]
    while waiting := [hits for hits in waiting if hits]:
        next_ = max(waiting, key=lambda hits: (hits[0][0].probability or 0.0, -hits[0][0].number))
        yield next_.pop(0)


def _show_once(
    hits: Iterable[tuple[Hit, Asked]], is_grouped: bool, is_distinct: bool
) -> list[tuple[Hit, Asked]]:
    """Make one hit of what several indexes hold: a line of a file, a document, the same text."""
    shown: list[tuple[Hit, Asked]] = []
    known: dict[object, int] = {}
    for hit, asked in hits:
        names = [_name(place, asked) for place in hit.places]
        if is_grouped:
            names = [_name(replace(hit.places[0], location=f"{hit.path}#{hit.key}"), asked)]
        text = " ".join(hit.snippet.split())
        first = next((known[name] for name in names if name in known), None)
        if first is None and is_distinct and text in known:
            first = known[text]
        if first is None:
            first = len(shown)
            shown.append((hit, asked))
        elif not is_grouped:
            shown[first] = (_with_copies(*shown[first], hit, asked), shown[first][1])
        known.update(dict.fromkeys([*names, text], first))
    return shown


def _name(place: Place, asked: Asked) -> tuple[str, str]:
    # An id that a program gave to a text means something else in another index.
    return "" if os.path.isabs(place.path) else asked.name, place.location


def _with_copies(best: Hit, its: Asked, hit: Hit, asked: Asked) -> Hit:
    """Name the places of a hit that says the same, which may be of another index."""
    there = {_name(place, its) for place in best.places}
    more = [
        replace(place, id=place.id if asked is its else 0)
        for place in hit.places
        if _name(place, asked) not in there
    ]
    copies = best.copies + len(more) + hit.copies - len(hit.also)
    return replace(best, also=(*best.also, *more), copies=copies)


def _join(
    answers: Sequence[Answer],
    problems: Sequence[str],
    k: int,
    is_grouped: bool,
    is_distinct: bool,
) -> Answer:
    """Make one answer of those of several indexes; of equals that of the first comes first."""
    best = _show_once(_interleave(answers), is_grouped, is_distinct)[:k]
    found = [answer.found for answer in answers]
    indexes = [asked for answer in answers for asked in answer.indexes]
    said = [(asked.name, one) for asked, one in zip(indexes, found, strict=True)]
    joint = ResultsRecord(
        question=found[0].question,
        mode=found[0].mode,
        took_ms=round(sum(one.took_ms for one in found), 1),
        hits=tuple(replace(hit, number=place) for place, (hit, _) in enumerate(best, 1)),
        stale=tuple(path for one in found for path in one.stale),
        updated=tuple(path for one in found for path in one.updated),
        gone=tuple(path for one in found for path in one.gone),
        notes=(*problems, *(f"{name}: {note}" for name, one in said for note in one.notes)),
        absent=tuple(
            words for words in found[0].absent if all(words in one.absent for one in found)
        ),
        explanation={name: one.explanation for name, one in said},
    )
    return Answer(joint, [asked for _, asked in best], indexes, is_joint=True)
