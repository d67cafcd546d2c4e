"""Questions with an answer and without one, asked of real texts: what hits' strength is judged by.

Questions without an answer are of five kinds: `removed` (like those with one, but the documents
that answer them were left out), `absent` (of quite another subject), `words` (of the texts, picked
at random), `letters` (typed at random) and `foreign` (in a language that the texts are not in).
"""

import json
import random
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.datasets import cache_folder
from benchmarks.documentation import QUESTIONS, SOURCES, Label, corpus, is_right, labels
from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import create_index, scratch_folder
from benchmarks.long_questions import long_questions
from benchmarks.retrieval import SETS, Retrieval, limited, retrieval
from benchmarks.scale import SCALE, scaled
from benchmarks.strength_model import check
from gossamer.index import Index
from gossamer.records import Hit
from gossamer.update.prepare import GivenText

NAMES, WORDS = "names of cosqa", "words of locomo"
LOOKUPS = (NAMES, WORDS)
FIT = (*SETS, *(f"few of {name}" for name in SETS), *LOOKUPS)
JUDGED = ("python", "policy", SOURCES, "financebench", "rfc")
MODELS = ("minilm", "pocket")
MODES = ("hybrid", "semantic", "lexical")
OWN = "own"
WITHOUT = ("removed", "absent", "words", "letters", "foreign")
K = 5

DOCUMENTS = scaled(1500, smoke=200, small=400)
FEWER = {"financebench": scaled(400, smoke=40, small=100), "rfc": scaled(800, smoke=80, small=200)}
TAKEN = 400  # the first questions of a set, and their answers, are what its documents are chosen by
ASKED = scaled(150, smoke=8, small=40)
REMOVED, ABSENT, MADE_UP = (scaled(n, smoke=3, small=10) for n in (40, 40, 20))
LOOKED_UP = scaled(40, smoke=4, small=20)
FEW_TEXTS = 5
_LONG_WORD = re.compile(r"[a-zA-Z]{5,}")
_DEFINITION = re.compile(r"\bdef (\w{4,})")
EVERY_FILE = scaled(8, smoke=60, small=12)
FEW_DOCUMENTS = (5, 10, 20, 40)
FEW_INDEXES = scaled(8, smoke=2, small=4)
FEW_ASKED = 4
# Questions of other subjects: of these sets, from these places on. Judging takes later ones.
OTHERS = {
    "scifact": (200, ("hotpotqa", "locomo", "cosqa")),
    "hotpotqa": (500, ("scifact", "locomo", "cosqa")),
    "locomo": (500, ("scifact", "hotpotqa", "cosqa")),
    "cosqa": (500, ("scifact", "hotpotqa", "locomo")),
}
OTHERS_JUDGED = (700, ("hotpotqa", "locomo"))
KEPT = ("score", "distance", "tokens", "words", "exact", "nearness", "coverage", "probability")


@dataclass(frozen=True)
class Asked:
    """A question, of which kind, and what tells whether a hit answers it."""

    text: str
    kind: str
    is_right: Callable[[Hit], bool]


@dataclass(frozen=True)
class Place:
    """Texts to ask: how they are added to an index, and the questions."""

    fill: Callable[[Index], object]
    asked: list[Asked]


def observations(name: str, model: str) -> list[dict[str, Any]]:
    """Ask all questions of a set in every mode; give the hits with what is known of each.

    What was asked once is kept, as long as the sizes of this run stay what they are.
    """
    folder = cache_folder() / "strength"
    folder.mkdir(exist_ok=True)
    path = folder / f"{SCALE}-{model}-{name}.json"
    if not path.exists():
        found = [
            one
            for number, place in enumerate(_places(name))
            for one in _ask(f"{name} {number}", place, model)
        ]
        path.write_text(json.dumps(found), encoding="utf-8")
    kept: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return kept


def _ask(name: str, place: Place, model: str) -> Iterator[dict[str, Any]]:
    folder = scratch_folder(f"strength-{model}-{name}")
    is_kept = model == "minilm"
    index = create_index(folder, cached_minilm()) if is_kept else Index.create(folder, model=model)
    place.fill(index)
    chunks = index.status().chunks
    for asked in place.asked:
        for mode in MODES:
            # What is held back of a document is among the others that a hit is compared with.
            hits = index.search(asked.text, K, mode=mode, per_file=0)
            one = {
                "question": asked.text,
                "kind": asked.kind,
                "mode": mode,
                "chunks": chunks,
                "hits": [
                    {**{key: getattr(hit, key) for key in KEPT}, "right": asked.is_right(hit)}
                    for hit in hits
                ],
            }
            check(one)
            yield one


def _places(name: str) -> Iterator[Place]:
    if name == NAMES:
        yield _names()
    elif name == WORDS:
        yield _words()
    elif name.startswith("few of "):
        yield from _few(name.removeprefix("few of "))
    elif name in (*SETS, "financebench", "rfc"):
        yield _of_set(name)
    else:
        yield _of_documentation(name)


def _of_set(name: str) -> Place:
    whole = long_questions() if name == "rfc" else retrieval(name)
    data = limited(whole, FEWER.get(name, DOCUMENTS), TAKEN)
    kept, removed = _remove_answers(data)
    asked = [
        Asked(kept.questions[i], OWN, partial(_is_graded, {kept.ids[d] for d in kept.grades[i]}))
        for i in range(len(kept.questions))
    ]
    start, others = OTHERS.get(name, OTHERS_JUDGED)
    asked += _without(removed, "removed") + _absent(start, others)
    language = "german" if name in SETS else "french"
    return Place(partial(_add, kept), asked + _made_up(name, kept.bodies, language))


def _few(name: str) -> Iterator[Place]:
    """Small indexes, each with what answers some of its questions."""
    data = limited(retrieval(name), DOCUMENTS, TAKEN)
    for number in range(FEW_INDEXES):
        first = ASKED + REMOVED + number * 2 * FEW_ASKED
        own, removed = range(first, first + FEW_ASKED), range(first + FEW_ASKED, first + 8)
        count = FEW_DOCUMENTS[number % len(FEW_DOCUMENTS)]
        answers = [next(iter(data.grades[i])) for i in own]
        never = {place for i in removed for place in data.grades[i]}
        draw = random.Random(f"{name} {number}")
        others = draw.sample(sorted(set(range(len(data.ids))) - never - {*answers}), count)
        places = sorted({*answers, *others[: max(1, count - len(answers))]})
        texts = [GivenText(data.ids[i], data.bodies[i], data.titles[i]) for i in places]
        asked = [
            Asked(
                data.questions[i], OWN, partial(_is_graded, {data.ids[d] for d in data.grades[i]})
            )
            for i in own
        ]
        asked += _without([data.questions[i] for i in removed], "removed")
        start, sets = OTHERS[name]
        asked += draw.sample(_absent(start, sets), 2)
        bodies = [data.bodies[i] for i in places]
        asked += draw.sample(_made_up(f"{name} {number}", bodies, "german"), 3)
        yield Place(lambda index, texts=texts: index.add_texts(texts), asked)


def _names() -> Place:
    """Names of functions, that are there and that are not: looked up rather than asked."""
    whole = retrieval("cosqa")
    data = limited(whole, DOCUMENTS, TAKEN)
    defined = [_DEFINITION.findall(body)[:1] for body in data.bodies]
    known = {name for names in defined for name in names}
    here = [(names[0], id) for names, id in zip(defined, data.ids, strict=True) if names]
    once = [(name, id) for name, id in here if defined.count([name]) == 1]
    others = {name for body in whole.bodies for name in _DEFINITION.findall(body)} - known
    text = "\n".join(data.bodies)
    nowhere = sorted(name for name in others if name not in text)
    draw = random.Random(NAMES)
    asked = [
        Asked(f"{keyword}{name}", OWN, partial(_is_graded, {id}))
        for name, id in draw.sample(once, min(LOOKED_UP, len(once)))
        for keyword in ("def ", "")
    ]
    asked += _without(draw.sample(nowhere, min(LOOKED_UP, len(nowhere))), "absent")
    return Place(partial(_add, data), asked)


def _words() -> Place:
    """Single words that a few texts have, which are then right, and words that none has."""
    data = limited(retrieval("locomo"), DOCUMENTS, TAKEN)
    counts = Counter(word for text in data.texts for word in set(_LONG_WORD.findall(text.lower())))
    others = {word for body in retrieval("scifact").bodies for word in _LONG_WORD.findall(body)}
    text = "\n".join(data.texts).lower()
    draw = random.Random(WORDS)
    rare = sorted(word for word, count in counts.items() if count <= FEW_TEXTS)
    absent = sorted(word for word in others if word.islower() and word[:5] not in text)
    asked = [
        Asked(word, OWN, lambda hit, word=word: word in f"{hit.title}\n{hit.text}".lower())
        for word in draw.sample(rare, LOOKED_UP)
    ]
    return Place(partial(_add, data), asked + _without(draw.sample(absent, LOOKED_UP), "absent"))


def _of_documentation(name: str) -> Place:
    given = [one for some in ("python", "policy", "exact") for one in labels(some)]
    own = [label for label in given if label.corpus == name]
    whole = corpus(name)
    texts = whole.part({file for label in own for file in label.places}, EVERY_FILE)

    def judged(label: Label) -> Asked:
        return Asked(label.question, OWN, lambda hit: is_right(hit, label, whole))

    others = [label.question for label in given if label.corpus != name and name != SOURCES]
    asked = [judged(label) for label in own]
    # Of Python's sources and its documentation each answers questions to the other.
    if name == "policy":
        asked += _without([one for one in others if one in _asked_of("python")], "absent")
    if name == "python":
        asked += _without([one for one in others if one in _asked_of("policy")], "absent")
    bodies = [file.read_text(encoding="utf-8", errors="replace") for file in texts.files[:40]]
    asked += _absent(*OTHERS_JUDGED) + _made_up(name, bodies, "french")
    return Place(lambda index: index.add_paths(texts.files), asked)


def _asked_of(name: str) -> set[str]:
    return {label.question for label in labels(name)}


def _remove_answers(data: Retrieval) -> tuple[Retrieval, list[str]]:
    """Leave out what answers some of the questions; give the rest, and these questions."""
    asked = min(ASKED, len(data.questions) * 3 // 4)
    kept = {place for grades in data.grades[:asked] for place in grades}
    rest = range(asked, len(data.questions))
    removed = [i for i in rest if not kept & set(data.grades[i])][:REMOVED]
    gone = {place for i in removed for place in data.grades[i]}
    left = [place for place in range(len(data.ids)) if place not in gone]
    now = {place: position for position, place in enumerate(left)}
    part = Retrieval(
        name=data.name,
        ids=[data.ids[place] for place in left],
        titles=[data.titles[place] for place in left],
        bodies=[data.bodies[place] for place in left],
        questions=data.questions[:asked],
        grades=[{now[d]: grade for d, grade in one.items()} for one in data.grades[:asked]],
        answers=data.answers[:asked],
    )
    return part, [data.questions[i] for i in removed]


def _add(data: Retrieval, index: Index) -> None:
    trios = zip(data.ids, data.bodies, data.titles, strict=True)
    index.add_texts(GivenText(*trio) for trio in trios)


def _is_graded(right: set[str], hit: Hit) -> bool:
    return hit.source in right


def _without(questions: Iterable[str], kind: str) -> list[Asked]:
    return [Asked(question, kind, lambda _: False) for question in questions]


def _absent(start: int, sets: tuple[str, ...]) -> list[Asked]:
    each = -(-ABSENT // len(sets))
    questions = []
    for name in sets:
        some = retrieval(name).questions
        questions += some[min(start, len(some) - each) :][:each]
    return _without(questions, "absent")


def _made_up(name: str, bodies: list[str], language: str) -> list[Asked]:
    draw = random.Random(name)
    words = sorted({word for body in bodies for word in body.split() if word.isalpha()})
    picked = [" ".join(draw.sample(words, draw.randint(3, 6))) for _ in range(MADE_UP)]
    typed = [
        " ".join(
            "".join(draw.choices(string.ascii_lowercase, k=draw.randint(4, 9)))
            for _ in range(draw.randint(1, 4))
        )
        for _ in range(MADE_UP)
    ]
    said = (Path(QUESTIONS) / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    kinds = {"words": picked, "letters": typed, "foreign": said[:MADE_UP]}
    return [one for kind, some in kinds.items() for one in _without(some, kind)]
