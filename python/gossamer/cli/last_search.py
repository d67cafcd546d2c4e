"""The hits that the user saw last, by their numbers: what `gossamer open 2` means."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import UnknownId
from gossamer.files import write_file
from gossamer.places import cache_folder, is_address

if TYPE_CHECKING:
    from gossamer.cli.answers import Answer, Asked
    from gossamer.records import Hit

__all__ = ["Place", "place_of", "read_place", "remember"]

_FILE = "last_search.json"
_MOST = 1000  # hits that are remembered
_MOST_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hit stands. Nothing here is followed before its index was asked again."""

    index: str  # folder or address
    id: int
    path: str
    kind: str
    unit: str
    line: int


def place_of(asked: Asked, hit: Hit) -> Place:
    """Give the place of a hit."""
    index = asked.index.snapshot.place
    return Place(
        index=index if is_address(index) else os.path.abspath(index),
        id=hit.id,
        path=hit.path,
        kind=hit.kind,
        unit=hit.unit,
        line=hit.line,
    )


def remember(answer: Answer) -> None:
    """Remember the hits of an answer, for this user alone; if it cannot be, `open` says so."""
    places = [place_of(answer.asked_for(hit), hit) for hit in answer.found.hits[:_MOST]]
    with suppress(OSError):
        _path().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(_path(), [_encode(places)], is_secret=True)


def read_place(number: int) -> Place:
    """Give the place of the hit with this number; UnknownId if there is none."""
    places = _read()
    if not places:
        raise UnknownId("no search is remembered; run `gossamer search` first")
    if not 0 < number <= len(places):
        raise UnknownId(f"the last search has hits 1 to {len(places)}, not {number}")
    return places[number - 1]


def _path() -> Path:
    return cache_folder() / _FILE


def _encode(places: Iterable[Place]) -> bytes:
    return json.dumps([asdict(place) for place in places]).encode("ascii")


def _read() -> list[Place]:
    """Read what was remembered; nothing if that cannot be, or is damaged."""
    try:
        with open(_path(), "rb") as file:
            places = [Place(**one) for one in json.loads(file.read(_MOST_BYTES))]
    except (OSError, ValueError, TypeError, RecursionError):
        return []
    return places if all(map(_is_whole, places)) else []


def _is_whole(place: Place) -> bool:
    texts, numbers = (place.index, place.path, place.kind, place.unit), (place.id, place.line)
    return all(isinstance(text, str) for text in texts) and all(type(n) is int for n in numbers)
