"""Requests and answers as OpenAPI describes them. Answers with a record of the product use that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, model_validator

from gossamer.files import PLAIN_NAME
from gossamer.records import RemoteChunk, Value
from gossamer.server.options import MOST_ITEMS
from gossamer.sync.client import MOST_VECTORS
from gossamer.sync.records import Conflict, PushResult

__all__ = [
    "MOST_LISTED",
    "Chunk",
    "ChunkIds",
    "ChunkInContext",
    "Chunks",
    "Conflicts",
    "Health",
    "Info",
    "Making",
    "Names",
    "NewText",
    "NewTexts",
    "Paths",
    "Problem",
    "Progress",
    "Pushed",
    "PushedChange",
    "Pushes",
    "PutFile",
    "Question",
    "Report",
    "Search",
    "Similar",
    "Status",
    "Titles",
    "VectorIds",
]

# Every list and every mapping has a most, and one bad item ends the look at a list: whatever is
# sent, it is refused in milliseconds.
MOST_LISTED = 100  # globs, types or conditions of a filter

_MOST_ID = (1 << 63) - 1
_MOST_TEXT = 100_000  # characters of anything that is not a text to index
_MOST_METADATA = 1000

Text = Annotated[str, Field(max_length=_MOST_TEXT)]
Expression = Annotated[str, Field(max_length=10_000)]
Glob = Annotated[str, Field(max_length=1000)]
Kind = Annotated[str, Field(max_length=100)]
Date = Annotated[str, Field(max_length=100)]
Conditions = Annotated[dict[str, Any], Field(max_length=MOST_LISTED)]
Where = Annotated[
    Expression | Conditions | None,
    Field(
        description='An expression over metadata, such as `lang == "en" and year >= 2020`, '
        'or an object such as {"lang": "en", "year": {">=": 2020}}.'
    ),
]
Globs = Annotated[
    list[Glob],
    Field(fail_fast=True, max_length=MOST_LISTED, description="Only files like one of these."),
]
Kinds = Annotated[
    list[Kind],
    Field(
        fail_fast=True,
        max_length=MOST_LISTED,
        description="Only these kinds: pdf, markdown, python, ...",
    ),
]
Count = Annotated[StrictInt, Field(ge=1, description="How many hits; the server has a limit.")]
Recall = Annotated[
    float,
    Field(gt=0, le=1, allow_inf_nan=False, description="Share of the truly nearest to find."),
]
Name = Annotated[Text, Field(min_length=1)]
T = TypeVar("T")
Items = Annotated[list[T], Field(fail_fast=True, min_length=1, max_length=MOST_ITEMS)]
ModeName = Literal["hybrid", "semantic", "lexical"]
RerankName = Literal["auto", "none"]
UpdateName = Literal["never", "auto"]
ChunkId = Annotated[StrictInt, Field(ge=0, le=_MOST_ID)]


class _Request(BaseModel):
    # An argument that is not known is a mistake, and nothing is guessed about it.
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: Any) -> Any:
        """Say of one argument that it is not known; the model itself would say it of each."""
        unknown = given.keys() - cls.model_fields.keys() if isinstance(given, dict) else ()
        for name in unknown:
            known = ", ".join(cls.model_fields)
            raise ValueError(f"there is no {name[:100]!r} here; there is {known}")
        return given


class Search(_Request):
    """A question."""

    question: Annotated[str, Field(min_length=1, description="What is asked, in any words.")]
    k: Count = 5
    mode: Annotated[ModeName, Field(description="By meaning and words, or by one of them.")] = (
        "hybrid"
    )
    rerank: Annotated[
        RerankName, Field(description="Rank the best of both rankings again, by what they say.")
    ] = "auto"
    recall: Recall | None = None
    where: Where = None
    paths: Globs = []
    types: Kinds = []
    after: Annotated[
        Date | None,
        Field(description="Mails and chats dated, other files changed since: 2024-05-31, 7d."),
    ] = None
    before: Annotated[Date | None, Field(description="Only those before then.")] = None
    plain: Annotated[bool, Field(description="Quotes, + and - in the question are text.")] = False
    full: Annotated[bool, Field(description="Whole chunks as snippets.")] = False
    distinct: Annotated[bool, Field(description="Passages that say the same are one hit.")] = True
    per_file: Annotated[
        StrictInt, Field(ge=0, description="Hits of a document among others; 0: any number.")
    ] = 2
    min_score: Annotated[
        float | None, Field(ge=0, le=1, allow_inf_nan=False, description="Least probability.")
    ] = None
    explain: Annotated[bool, Field(description="Say what the search did and cost.")] = True
    update: Annotated[
        UpdateName, Field(description="Bring a few files up to date first that have changed.")
    ] = "never"


class Similar(_Request):
    """A chunk or a place to find the like of."""

    place: Annotated[
        ChunkId | Annotated[StrictStr, Field(max_length=_MOST_TEXT)],
        Field(description="The id of a chunk, or PATH:LINE such as a.md:12."),
    ]
    k: Count = 5
    recall: Recall = 0.9
    where: Where = None
    paths: Globs = []
    types: Kinds = []
    full: bool = False
    explain: bool = True


class NewText(_Request):
    """A text to put in, under an id of its own."""

    id: Annotated[str, Field(min_length=1, max_length=4000)]
    text: Annotated[str, Field(min_length=1)]
    title: Text = ""
    markup: Annotated[Text, Field(description="plain, markdown, rst, rows, or code/LANGUAGE.")] = (
        "plain"
    )
    metadata: Annotated[dict[str, Value], Field(max_length=_MOST_METADATA)] = {}


class NewTexts(_Request):
    """Texts to put in; one whose id is there already takes its place."""

    texts: Items[NewText]


class Paths(_Request):
    """Files and folders of the index to bring up to date; null for all of them."""

    paths: Items[Name] | None = None


class Names(_Request):
    """What to take out: ids of texts, paths of files and folders."""

    names: Items[Name]


# What an edge says of the index that it follows: ids mean nothing in another one.
OriginPart = Annotated[
    str, Field(max_length=100, description="As /v1/sync says it; another one is refused.")
]


class ChunkIds(_Request):
    """Ids of chunks."""

    ids: Annotated[list[ChunkId], Field(fail_fast=True, max_length=MOST_ITEMS)]
    index: OriginPart = ""
    epoch: OriginPart = ""


class VectorIds(_Request):
    """Ids of chunks whose vectors may have to be made."""

    ids: Annotated[list[ChunkId], Field(fail_fast=True, max_length=MOST_VECTORS)]
    index: OriginPart = ""
    epoch: OriginPart = ""


class Question(_Request):
    """A question to embed."""

    question: Annotated[str, Field(min_length=1, description="What is asked, in any words.")]
    index: OriginPart = ""
    epoch: OriginPart = ""


class PushedChange(_Request):
    """A change that an edge made: a text put, or a text or a file removed (null)."""

    op: Annotated[str, Field(pattern=PLAIN_NAME)]
    id: Annotated[str, Field(min_length=1, max_length=4000)]
    base: Annotated[str, Field(max_length=200)] = ""
    text: NewText | None = None
    is_file: Annotated[bool, Field(description="A file that was put is removed, not a text.")] = (
        False
    )


class Pushes(_Request):
    """Changes that an edge made."""

    items: Items[PushedChange]


class Problem(BaseModel):
    """Why something was not done."""

    error: Annotated[str, Field(description="The reason, for programs: invalid_argument, ...")]
    message: Annotated[str, Field(description="What was expected, what came, what to do.")]


class Health(BaseModel):
    """The server answers, and its index can be read."""

    status: Literal["ok"] = "ok"


class Chunk(BaseModel):
    """A chunk, and where it stands."""

    location: str
    headings: Sequence[str]
    url: str
    id: int
    source: str
    key: str
    kind: str
    title: str
    unit: str
    first: int
    last: int
    start: int
    end: int
    text: str
    score: float
    distance: float | None
    ranks: Mapping[str, int]
    metadata: Mapping[str, Value]


class ChunkInContext(Chunk):
    """A chunk with the text around it."""

    before: str
    after: str


class Status(BaseModel):
    """What the index holds, what it takes, and how fresh it is."""

    name: str
    folder: str
    model: str
    generation: int
    created: str
    changed: str
    roots: Sequence[str]
    indexed: int
    skipped: int
    failed: int
    reasons: Mapping[str, int]
    kinds: Mapping[str, int]
    documents: int
    chunks: int
    text_bytes: int
    source_bytes: int
    bytes_by_part: Mapping[str, int]
    changed_files: int
    missing_files: int
    is_trusted: bool
    follows: Mapping[str, Any]
    total_bytes: int
    share_of_text: float
    share_of_files: float
    is_fresh: bool
    settings: Mapping[str, Any]


class Titles(BaseModel):
    """Titles of some documents."""

    titles: list[str]


class Report(BaseModel):
    """What a change did."""

    added: int
    updated: int
    removed: int
    lost: Annotated[int, Field(description="Indexed before, and now skipped or failed.")]
    unchanged: int
    skipped: int
    failed: int
    chunks_embedded: int
    chunks_reused: int
    chunks_resumed: int
    seconds: float
    problems: Annotated[
        list[Annotated[list[str], Field(min_length=2, max_length=2)]],
        Field(description="Pairs of a path and what is wrong there."),
    ]
    emptied: Annotated[
        dict[str, int],
        Field(description="Folders that are empty now, and how many files stay indexed of each."),
    ]


class Progress(BaseModel):
    """A line of a stream: how far it is, or at last the report, or an error."""

    phase: str | None = None
    files_done: int | None = None
    files_total: int | None = None
    bytes_done: int | None = None
    bytes_total: int | None = None
    chunks_done: int | None = None
    chunks_embedded: int | None = None
    report: Report | None = None
    path: str | None = None
    note: str | None = None
    error: str | None = None
    message: str | None = None


class PutFile(BaseModel):
    """Where a file was stored, and what became of it in the index."""

    path: str
    note: Annotated[str, Field(description="Why it cannot be found; empty if it can.")]
    report: Report


class Info(BaseModel):
    """Which index this is, and how it can be followed."""

    model_config = ConfigDict(extra="allow")

    protocol: int
    index: str
    epoch: str
    version: int


class Making(BaseModel):
    """A file that is being made; ask again after Retry-After seconds."""

    done: int
    total: int


class Chunks(BaseModel):
    """Texts of chunks, in the order asked for; null for those that cannot be had."""

    chunks: list[RemoteChunk | None]


class Pushed(BaseModel):
    """What became of each pushed change."""

    results: list[PushResult]
    version: int


class Conflicts(BaseModel):
    """Changes that took the place of others they did not know of; the last to arrive won."""

    conflicts: list[Conflict]
