"""What the product speaks of: documents, chunks, hits. Spans are in bytes of UTF-8 text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "MOST_CHUNK_BYTES",
    "MOST_HEADINGS",
    "MOST_HEADING_BYTES",
    "ChunkSpan",
    "Document",
    "Hit",
    "Place",
    "RemoteChunk",
    "Span",
    "Value",
]

# What every index may hold, whoever made it: no model takes so much text, no heading is so long.
MOST_CHUNK_BYTES = 1 << 20
MOST_HEADING_BYTES = 1 << 16
MOST_HEADINGS = 255  # that a chunk stands under

# What metadata can hold; dates are ISO 8601 strings, which compare in the order of time.
Value = str | int | float | bool
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Document:
    """Text that a reader found in a file or that a program gave, and what is known of it."""

    text: bytes  # UTF-8
    kind: str  # what a filter on `type` compares: "markdown", "python", "pdf", "mail", ...
    # How the text is divided: "plain", "markdown", "rst", "rows", or "code/LANGUAGE".
    markup: str = "plain"
    title: str = ""  # shown, and put before each chunk when it is embedded; "" for none
    # What `places` count: line, page, slide, message, cell, row, paragraph, chapter.
    unit: str = "line"
    # Where the numbered places begin: (offset in text, number), rising. Empty: the lines of
    # `text` itself, counted from 1.
    places: tuple[tuple[int, int], ...] = ()
    is_verbatim: bool = False  # the text is the file's own bytes, so that it can be read there
    key: str = ""  # names this document within its file, where a file holds several
    metadata: Mapping[str, Value] = field(default_factory=dict)
    # Where the words of headings begin in `text`, and the ids that lead to them on the page.
    anchors: tuple[tuple[int, str], ...] = ()
    has_slugs: bool = False  # such ids follow from the words of headings, as generators make them


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A piece of a document's text, and the headings it stands under."""

    start: int
    end: int
    # Headings or enclosing signatures in the same text, outermost first.
    context: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where else something stands."""

    id: int  # of the chunk
    path: str  # the file's path, or the id of a text
    line: int  # (or page, ...) that answers best
    location: str
    url: str = ""  # where people read it; "" where nobody knows


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: where it stands and what it says."""

    number: int  # among the hits, from 1
    id: int  # of the chunk
    path: str  # the file's path, or the id that an added text was given
    key: str  # which document of the file; "" where it holds one
    kind: str
    title: str
    unit: str  # what `first`, `last` and `line` count: line, page, slide, message, cell, row, ...
    first: int
    last: int
    line: int  # that answers best
    location: str  # where that is, to show and to click on: path:line, or path and page
    headings: tuple[str, ...]  # that it stands under, outermost first
    url: str  # the page where people read it, at the nearest heading; "" where nobody knows
    start: int  # bytes of the document's text
    end: int
    score: float  # larger is better; comparable within one search only
    distance: float | None  # from the question, where it was computed
    ranks: Mapping[str, int]  # place in each ranking that found it, from 1
    tokens: float | None  # how well it matches the question's tokens, where they were compared
    words: float  # what its words count, where the best of both rankings were ranked again
    exact: float  # what is looked up in it, to the letter: names, the question word for word
    reranker: float | None  # what a reranking model says of it, where one was asked
    nearness: float | None  # by how many deviations its vector is nearer than most; None: unknown
    coverage: float | None  # share of what the question's words tell that it holds; None: unknown
    probability: float | None  # that it answers the question; None where that cannot be told
    strength: str  # the same in a word: "strong", "fair", "weak"; "" where it cannot be told
    metadata: Mapping[str, Value]
    snippet: str  # the lines that answer best, without marks such as those of Markdown
    highlights: tuple[Span, ...]  # characters of `snippet`: words of the question
    code: tuple[Span, ...]  # characters of `snippet` that are code
    best: Span  # characters of `snippet`: the line, or sentence, that answers best
    answer: Span  # the same in `text`
    copies: int  # how many other passages say the same
    also: tuple[Place, ...]  # where these stand; a hundred at most
    more: tuple[Place, ...]  # in the same document, below what is shown of it
    text: str
    is_indexed: bool = True  # else found by words in a file that changed, and `id` is 0

    @property
    def source(self) -> str:
        """The file's path, or the id that an added text was given."""
        return self.path

    @property
    def places(self) -> tuple[Place, ...]:
        """Where it stands: its own place, then those of its copies."""
        return Place(self.id, self.path, self.line, self.location, self.url), *self.also


@dataclass(frozen=True, slots=True)
class RemoteChunk:
    """A chunk whose text came from the server for one use."""

    id: int
    title: str
    body: str
    embedded: str  # what was embedded: headings, title, body
    first: int  # line, page, ...
    last: int
