"""Questions of several sentences with known answers: abstracts of RFCs, and what they replace.

A question is what the abstract of an RFC says, without the sentences that name other documents;
the answers are the RFCs that it obsoletes or updates, by their abstracts. The RFCs that are asked
about are not among the texts. Nobody wrote these questions for a search engine, and they repeat the
words they are about, as long questions do.
"""

import re
from functools import cache

from benchmarks.retrieval import Retrieval, data_folder, records
from benchmarks.scale import scaled

QUESTIONS = scaled(400, smoke=20, small=60)
LEAST_SENTENCES = 3
MOST_BYTES = 1500  # of a text
HEADER_BYTES = 3000  # in which an RFC says what it replaces

_REPLACED = re.compile(
    r"^(?:Obsoletes|Updates):?\s+((?:RFC)?\s*\d+(?:,\s*(?:RFC)?\s*\d+)*)", re.MULTILINE | re.I
)
_ABSTRACT = re.compile(r"^\s*Abstract\s*\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_INTRODUCTION = re.compile(r"^\s*1\.?\s+Introduction\s*\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_NAMES_OTHERS = re.compile(r"\bRFC|obsolete|supersede|update|replace|revis|\[", re.I)


@cache
def long_questions() -> Retrieval:
    """Give abstracts as questions, and all other abstracts to find."""
    titles, abstracts, replaced = _read_rfcs()
    asked = [
        number
        for number in sorted(replaced)
        if abstracts.keys() & set(replaced[number]) and _question(abstracts[number])
    ]
    chosen = asked[:: max(1, len(asked) // QUESTIONS)][:QUESTIONS]
    numbers = sorted(abstracts.keys() - set(chosen))
    position = {number: place for place, number in enumerate(numbers)}
    judged = [
        (
            _question(abstracts[number]),
            {position[answer]: 1.0 for answer in replaced[number] if answer in position},
        )
        for number in chosen
    ]
    judged = [(question, grades) for question, grades in judged if grades]
    return Retrieval(
        name="rfc_abstracts",
        ids=[f"rfc{number}" for number in numbers],
        titles=[titles[number] for number in numbers],
        bodies=[abstracts[number] for number in numbers],
        questions=[question for question, _ in judged],
        grades=[grades for _, grades in judged],
        answers=[[] for _ in judged],
    )


def _read_rfcs() -> tuple[dict[int, str], dict[int, str], dict[int, list[int]]]:
    """Give titles, abstracts, and what each RFC replaces, by number."""
    titles: dict[int, str] = {}
    abstracts: dict[int, str] = {}
    replaced: dict[int, list[int]] = {}
    for document in records(data_folder() / "rfc" / "corpus.jsonl.zst"):
        number = int(re.sub(r"\D", "", document["id"]))
        text: str = document["text"]
        found = _ABSTRACT.search(text[:8000]) or _INTRODUCTION.search(text[:40000])
        if not found or len(found.group(1)) < 200:
            continue
        titles[number] = document["title"]
        abstracts[number] = " ".join(found.group(1).split())[:MOST_BYTES]
        named = _REPLACED.findall(text[:HEADER_BYTES])
        replaced[number] = [int(one) for names in named for one in re.findall(r"\d+", names)]
    return titles, abstracts, {number: named for number, named in replaced.items() if named}


def _question(abstract: str) -> str:
    """Give what an abstract says of its subject; nothing if that is too little."""
    sentences = re.split(r"(?<=[.!?])\s+", abstract)
    own = [sentence for sentence in sentences if not _NAMES_OTHERS.search(sentence)]
    return " ".join(own) if len(own) >= LEAST_SENTENCES else ""
