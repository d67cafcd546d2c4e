"""Writes what Python answers, for the tests of the query in TypeScript: tests/data/query/*.json."""

import json
from pathlib import Path

from gossamer.chunking import context_line, embedded_text
from gossamer.errors import GossamerError
from gossamer.filters import parse
from gossamer.filters.comparisons import date_of
from gossamer.lexical import find_terms, terms_of
from gossamer.query.fusion import fuse
from gossamer.query.scope import _extension, _moment
from gossamer.query.snippet import choose_snippet
from gossamer.records import Value

FOLDER = Path(__file__).parent / "data" / "query"

RANKINGS: tuple[dict[str, list[int]], ...] = (
    {"semantic": [3, 1, 2], "lexical": [2, 9]},
    {"semantic": [], "lexical": [7, 5]},
    {"semantic": [1, 2, 3, 4], "lexical": [4, 3, 2, 1]},
    {"semantic": [8, 4, 8], "lexical": []},
    {},
)

FIELDS: tuple[dict[str, Value | None], ...] = (
    {"type": "markdown", "year": 2021, "lang": "en", "draft": False, "path": "/a/b/notes.md"},
    {"type": "python", "year": "2021", "modified": "2024-05-31T10:00:00+00:00", "size": 12.5},
    {"type": "PDF", "draft": True, "title": "Ωmega 😀", "year": None, "x-y": 0, "rank": 1e3},
    {"date": "2023", "name": "￿", "when": "2024-05-31T23:30+02:00", "tag": ""},
    {},
)
EXPRESSIONS = (
    'type == "markdown"',
    'type != "markdown" and not draft',
    "year >= 2020",
    '2020 <= year < "2024"',
    "year in [2021, 2022, null]",
    "type not in [\"pdf\", 'PDF'] or draft",
    '"note" in path',
    "modified >= 2024-05 and modified < 2024-06-01",
    "modified == 2024",
    "modified > 2024-05-31T09:59Z",
    'when == "2024-05-31T21:30:00"',
    "2024-05-31T21:30:00.0Z == when",
    "date <= 2023-04",
    "draft == true",
    "draft == 0",
    "rank == 1000 and size > .5e1",
    "title == none",
    "`x-y` == 0 and NOT tag",
    "x-y",
    'name < "😀"',
    "((year == 2021))",
    "true",
    "not not draft",
    "type in title",
    "year == year",
    'year in ["2021"]',
    'lang == "e\\"n" or lang == "en"',
)
MALFORMED = (
    "",
    "   ",
    'type = "markdown"',
    "year >=",
    "year >= 2020 and",
    "(year == 2021",
    "year == 2021)",
    'type == "open',
    "year in 2021",
    "year in [2021,",
    "year in [path]",
    "a & b",
    "a ! b",
    "5",
    "5 == ",
    "and",
    "😀😀 == 1",
    "year == 12ab",
    "year == 1234567890123456789012345678901",
    "(" * 51 + "a" + ")" * 51,
    "a or or b",
    "x " * 40 + "== 1",
    "a\n\t== $",
    "a" * 10_001,
    "a not b",
    'path in "/a/b/notes.md and more"',
)
DATES = (
    "2024",
    "2024-05",
    "2024-05-31 10:00",
    "2024-05-31T10:00Z",
    "2024-05-31T10:00+05:30",
    "2024-05-31 10:00:01.5+0530",
    "2024-05-31T10:00+10:75",
    "2024-05-31T10:00+24:00",
    "2024-05-31T24:00Z",
    "0001-01-01T00:00+01:00",
    "9999-12-31T23:59-00:01",
    "2024-13-31T10:00Z",
    "2024-02-30T10:00Z",
    "2023-02-29T10:00Z",
    "2024-05-31T10:60Z",
    "2024-05-31T10:00:60Z",
    "2024-05-31T10:00-00:00",
    "0000-01-01T00:00Z",
    "0099-03-01T00:00Z",
    "2024-05-31T10:00:01.000Z",
    "20240531",
    "yesterday",
)
MOMENTS = (
    0,
    1_700_000_000_000_000_000,
    1_700_000_000_999_999_900,
    1_700_000_000_999_999_400,
    -1,
    -6_213_559_680_000_000_000,
    253_402_300_800_000_000,
    9_000_000_000_000_000_000,
)
PATHS = ("/a/b.MD", "/a/.hidden", "/a.b/c", "notes", "x.tar.gz", "id.", "")

LONG = (
    "The whale surfaced near the ship. Nobody on deck had seen one so close! Was it the white "
    "one? The captain said nothing of the whale, and wrote the day and the hour into his book. "
    "In the evening the wind turned. 鯨は大きい。船は小さい！ It was a whale again, whales never "
    "come alone, and the crew counted seven of them before the fog came down over the water and "
    "took everything away, the ship, the sails, the lamps, and the voices of the men."
)
TEXTS = (
    "",
    "\n \n\t\n",
    "one line about whales",
    "    def find(whale):\n        return whale.depth\n\n    def lose():\n        pass\n",
    "# Title\n\nfirst\nsecond\nthird\nfourth whale\nfifth\nsixth\n",
    LONG,
    "intro\n" + LONG + "\n" + LONG.replace("whale", "shark") + "\nend of the whale",
    "😀 emoji before the whale 😀😀 and after\n" + "😀" * 30 + " whale",
    "😀" * 400 + " whale " + "𝒳" * 200,
    "word " * 200 + "whale " + "word " * 200,
    "x" * 700,
    "café\x85naïve\x1cwhale\u3000鯨が大きい\nCafé whale",
    "\ufeffwhale at the beginning\n\nship\n\n\nship whale",
    "a whale. b ship. " * 30,
)
QUESTIONS = ("whale ship", "where do whales and the captain go?", "鯨が大きい café", "nothing here")


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    _write("fusion", [{"rankings": one, "fused": _fused(one)} for one in RANKINGS])
    _write("filters", _filters())
    _write("snippets", [_snippet(text, asked) for text in TEXTS for asked in QUESTIONS])
    _write("embedded", _embedded())


def _fused(rankings: dict[str, list[int]]) -> list[dict[str, object]]:
    return [{"id": f.id, "score": f.score, "ranks": dict(f.ranks)} for f in fuse(rankings)]


def _filters() -> dict[str, object]:
    return {
        "fields": FIELDS,
        "matches": [
            {
                "text": text,
                "names": sorted(parse(text).names),
                "matches": [parse(text).matches(fields) for fields in FIELDS],
            }
            for text in EXPRESSIONS
        ],
        "errors": [{"text": text, "message": _error(text)} for text in MALFORMED],
        "dates": [{"text": text, "date": date_of(text)} for text in DATES],
        "moments": [{"ns": str(ns), "moment": _moment(ns)} for ns in MOMENTS],
        "extensions": [{"path": path, "extension": _extension(path)} for path in PATHS],
    }


def _error(text: str) -> str:
    try:
        parse(text)
    except GossamerError as error:
        return str(error)
    raise AssertionError(f"{text!r} was read")


def _snippet(text: str, question: str) -> dict[str, object]:
    found = find_terms(text.encode(), question)
    words = {text.encode()[start:end].decode() for start, end in found}
    snippet = choose_snippet(text, question)
    return {
        "text": text,
        "question": question,
        "spans": [place for span in found for place in span],
        "terms": {word: terms_of(word) for word in sorted(words)},
        "snippet": snippet.text,
        "shown": [snippet.text[start:end] for start, end in snippet.highlights],
        "highlights": snippet.highlights,
        "line": snippet.line,
    }


def _embedded() -> list[dict[str, object]]:
    cases = [
        ("docs/a/b/c.md", "", ["One", "Two"], "body"),
        ("c.md", "A title", [], "body"),
        ("docs/a/b/c.md", "  A   title\x85of\u3000words ", ["One"], ""),
        ("", "", [], "body\nlines"),
        ("", "long " * 40, [""], "body"),
        ("", "long " * 40, ["H"], "body"),
        ("", "ünbröken" * 30, ["H"], "body"),
        ("a//b/./c", "", [], "x"),
        ("", "😀" * 29 + "a b😀😀", [], "x"),
    ]
    return [
        {
            "name": name,
            "title": title,
            "headings": headings,
            "body": body,
            "embedded": embedded_text(context_line(name, title), headings, body),
        }
        for name, title, headings, body in cases
    ]


def _write(name: str, value: object) -> None:
    text = json.dumps(value, ensure_ascii=True, indent=1, allow_nan=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", "ascii")


if __name__ == "__main__":
    main()
