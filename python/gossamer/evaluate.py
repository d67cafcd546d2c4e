"""How well an index answers: recall against exact search, and what a question costs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InvalidArgument
from gossamer.evaluate_questions import Question, pick_sentence
from gossamer.index import Index
from gossamer.progress import ProgressCallback
from gossamer.query.opened import OpenedState
from gossamer.query.run import MODES, Query, run_query
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["Evaluation", "FoundRow", "ModeRow", "RecallRow", "evaluate"]

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Ids = NDArray[np.int64]

RECALLS = (0.80, 0.90, 0.95, 0.98)
# Whole searches for each mode where there are no answers to compare with.
_TIMED = 10
_EMBEDDED_AT_ONCE = 256
# Chunks that say the same are as near as each other, up to rounding.
_SAME = 1e-5


@dataclass(frozen=True, slots=True)
class RecallRow:
    """What came of asking for one recall, without any vectors kept from earlier questions."""

    asked: float
    reached: float  # share of the truly nearest k that were found
    low: float  # with 95 % confidence between
    high: float  # and this
    embedded: float  # chunks embedded again for a question, on average
    embedded_p95: float
    codes_touched: float
    rounds: float


@dataclass(frozen=True, slots=True)
class ModeRow:
    """What a whole search of one mode takes, from question to cited hits."""

    mode: str
    searches: int
    ms: float  # for a question, on average
    cpu_ms: float
    embedded: float
    stages: Mapping[str, float] = field(default_factory=dict)  # milliseconds


@dataclass(frozen=True, slots=True)
class FoundRow:
    """How often the file that is known to hold the answer was among the hits."""

    mode: str
    questions: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What `evaluate` measured."""

    model: str
    k: int
    questions: int
    is_made_from_text: bool  # the questions are sentences of the index itself
    chunks: int  # in the index
    compared_chunks: int  # with which recall was measured: all that can be read, or a sample
    index_bytes: int
    text_bytes: int
    rows: tuple[RecallRow, ...]
    modes: tuple[ModeRow, ...]
    found: tuple[FoundRow, ...]  # empty where no question names a file

    @property
    def is_sample(self) -> bool:
        """Whether recall was measured among some of the chunks only."""
        return self.compared_chunks < self.chunks

    @property
    def bytes_per_chunk(self) -> float:
        """The folder's bytes for each chunk."""
        return self.index_bytes / self.chunks

    @property
    def share_of_text(self) -> float:
        """The folder's bytes against those of the indexed text; 0 where that is unknown."""
        return self.index_bytes / self.text_bytes if self.text_bytes else 0.0

    def to_json(self) -> dict[str, object]:
        """Give everything as numbers, strings, lists and mappings."""
        return {
            **asdict(self),
            "is_sample": self.is_sample,
            "bytes_per_chunk": self.bytes_per_chunk,
            "share_of_text": self.share_of_text,
        }


def evaluate(
    index: Index,
    *,
    questions: Sequence[str | Question] | None = None,
    count: int = 50,
    k: int = 3,
    recalls: Sequence[float] = RECALLS,
    max_chunks: int = 5000,
    seed: int = 1,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Measure recall against exact search and the cost of a question, for each recall asked.

    Exact search needs every chunk embedded once; an index of more than `max_chunks` (0: no
    limit) is measured on a random sample of so many. Of the `questions` the first `count` are
    asked; without any, sentences of the index are, and the chunk that one comes from counts
    neither as near nor as found. Nothing is written.
    """
    _check(k, count, recalls, max_chunks)
    report = progress or _silent
    state = index._opened.state
    if state.vectors is None:
        raise InvalidArgument("the index is empty: add files or texts before evaluating it")
    random = np.random.default_rng(seed)
    table = _Table(index, state, _sample(state.layout.ids, max_chunks, random), report)
    if questions is None:
        asked = _make_questions(state, table.ids, count, random)
    else:
        given = [Question(one) if isinstance(one, str) else one for one in questions]
        asked = given[:count]
    if not asked:
        raise InvalidArgument("there are no questions, and no sentences to make some from")
    vectors = _question_vectors(index, asked, report)
    truth = _Truth(table, vectors, asked, k)
    rows = tuple(
        _measure(state.vectors, table, truth, vectors, asked, k, recall, report)
        for recall in recalls
    )
    modes, found = _search_whole(state, asked, k, report)
    status = index.status()
    return Evaluation(
        model=status.model,
        k=k,
        questions=len(asked),
        is_made_from_text=questions is None,
        chunks=len(state.layout.ids),
        compared_chunks=len(table.ids),
        index_bytes=status.total_bytes,
        text_bytes=status.text_bytes,
        rows=rows,
        modes=modes,
        found=found,
    )
