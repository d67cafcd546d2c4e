"""Texts that wait at the same time, put in as one change: of clients, and of edges that push."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gossamer import errors
from gossamer.index import Index
from gossamer.server.offering import Offering
from gossamer.sync.records import PushItem, PushResult
from gossamer.update.prepare import GivenText
from gossamer.update.report import UpdateReport, Watcher

__all__ = ["JointPushes", "JointTexts", "Pushed"]

G = TypeVar("G")
T = TypeVar("T")

# More is a long change, which those who came with a single text should not have to wait for.
_MOST_TEXTS = 500
_MOST_CHARACTERS = 4_000_000
# What is no fault of one of the changes: the others would fail as well, after the same wait.
_OF_ALL = (
    errors.Cancelled,
    errors.Locked,
    errors.WrongState,
    errors.NoIndex,
    errors.Unwritable,
    errors.Unreachable,
    errors.MissingModel,
)


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of the changes of a push, and which version holds them."""

    results: list[PushResult]
    version: int


class JointTexts:
    """Texts that clients add."""

    def __init__(self, index: Index, wait_s: float) -> None:
        """Add to an index; other processes that change it are waited for so long."""
        self._index = index
        self._wait_s = wait_s

    def fits(self, waiting: Sequence[Sequence[GivenText]], given: Sequence[GivenText]) -> bool:
        """Join small changes of different ids: of two texts of one id the later must win."""
        known = [text for texts in waiting for text in texts]
        sizes = [len(text.text) for text in (*known, *given)]
        return _are_few(sizes) and {text.id for text in known}.isdisjoint(one.id for one in given)

    def make(
        self, given: Sequence[Sequence[GivenText]], watch: Watcher
    ) -> Sequence[UpdateReport | Exception]:
        """Put all in; a report for each."""

        def add(some: Sequence[Sequence[GivenText]]) -> Sequence[UpdateReport]:
            return self._index.add_texts_together(some, wait_s=self._wait_s, progress=watch)

        return _each_alone_if_needed(add, given)


class JointPushes:
    """Texts that edges push."""

    def __init__(self, offering: Offering) -> None:
        self._offering = offering

    def fits(self, waiting: Sequence[Sequence[PushItem]], given: Sequence[PushItem]) -> bool:
        """Join small changes of any ids: a push makes those of one id in their order."""
        items = [item for items in (*waiting, given) for item in items]
        return _are_few([len(str((item.text or {}).get("text", ""))) for item in items])

    def make(
        self,
        given: Sequence[Sequence[PushItem]],
        watch: Watcher,  # noqa: ARG002 - a push says nothing on its way
    ) -> Sequence[Pushed | Exception]:
        """Push all; the results of each."""

        def push(some: Sequence[Sequence[PushItem]]) -> Sequence[Pushed]:
            offer = self._offering.get()
            results = iter(offer.push([item for items in some for item in items]))
            version = int(str(offer.info()["version"]))
            return [Pushed([next(results) for _ in items], version) for items in some]

        return _each_alone_if_needed(push, given)


def _are_few(sizes: Sequence[int]) -> bool:
    return len(sizes) <= _MOST_TEXTS and sum(sizes) <= _MOST_CHARACTERS


def _each_alone_if_needed(
    make: Callable[[Sequence[G]], Sequence[T]], given: Sequence[G]
) -> Sequence[T | Exception]:
    """Make changes as one; should that fail, each for itself, so that a bad one fails alone."""
    try:
        return make(given)
    except _OF_ALL:
        raise
    except Exception:
        if len(given) == 1:
            raise
    results: list[T | Exception] = []
    for one in given:
        try:
            results += make([one])
        except Exception as error:
            results.append(error)
    return results
