"""What one index answered, or several together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.query.results import Results, ResultsRecord, record_results

if TYPE_CHECKING:
    from gossamer.index import Index
    from gossamer.records import Hit

__all__ = ["Answer", "Asked", "answer_of_one"]


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
    is_joint: bool = False  # several indexes were asked

    def asked_for(self, hit: Hit) -> Asked:
        """Give the index that a hit is of."""
        return self.asked[hit.number - 1]

    def has_own_lines(self, hit: Hit) -> bool:
        """Whether lines of a hit's text are those of its file: it was not taken out of it."""
        catalogue = self.asked_for(hit).index.snapshot.catalogue
        return not catalogue.document(int(catalogue.document_rows([hit.id])[0])).places

    def before(self, hit: Hit, margin: int) -> str:
        """Give up to `margin` bytes of text before a hit."""
        return self.asked_for(hit).index.context(hit.id, margin)[0]


def answer_of_one(asked: Asked, question: str, results: Results) -> Answer:
    """Give the answer of an index that was asked alone."""
    return Answer(record_results(question, results), [asked] * len(results))
