"""What an evaluation gives: frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

__all__ = ["Evaluation", "FoundRow", "ModeRow", "RecallRow"]


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
