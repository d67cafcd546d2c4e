"""What a search may be told besides its question, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from gossamer.errors import InvalidArgument
from gossamer.filters import combine
from gossamer.query.run import Query, check_rerank
from gossamer.rerankers import Reranker

__all__ = ["SearchOptions", "query_of"]


class SearchOptions(TypedDict, total=False):
    """Options of `Index.search`; one that is left out is as usual."""

    # "hybrid" (the usual: by meaning and by words), "semantic" or "lexical".
    mode: str
    # "auto" (the usual): in hybrid mode the best of both rankings are read, embedded and ranked
    # again by what they say; "none" adds up their places.
    rerank: str
    # Scores the best at last, in any mode, and they are ordered by that alone: an ONNX
    # cross-encoder in a folder, one that was fetched from a hub (ORGANISATION/NAME), the address of
    # a server's /v1/rerank, or an object with a `name` and `score(question, texts)`. It is kept for
    # the life of the index object.
    reranker: str | Reranker | None
    # Takes the signs of the question for text: `"exact phrase"`, `+word`, `-word`, `path:`,
    # `type:` and `title:` say what a hit must hold or be else.
    plain: bool
    # Share of the truly nearest chunks to find by meaning: 0.90 unless the best are ranked again,
    # where codes choose them.
    recall: float | None
    # An expression over metadata such as `lang == "en" and year >= 2020`.
    where: str | Mapping[str, object] | None
    paths: Sequence[str]  # globs
    types: Sequence[str]  # kinds of files
    # The first date that counts, of mails and chats their own: "2024-05-31", "7d", "last week".
    after: str | None
    before: str | None  # the first that does not
    full: bool  # snippets are whole chunks
    # True (the usual): passages that say the same are one hit, whose `also` says where else.
    distinct: bool
    # How many hits a document has as long as others are among the best: 2; 0 for any number. The
    # `more` of its first hit names what was held back.
    per_file: int
    min_score: float | None  # hits below this probability (0 to 1) are left out
    # "auto" brings up to 20 files that changed up to date first, in about two seconds and unless
    # another process changes the index; "always" all there is, as `add_paths()` does. "never" is
    # the usual.
    update: str


def query_of(
    question: str,
    k: int,
    options: SearchOptions,
    load_reranker: Callable[[str | Reranker], Reranker],
) -> Query:
    """Make a query of a question and its options; InvalidArgument says what is wrong."""
    if unknown := options.keys() - SearchOptions.__annotations__.keys():
        known = ", ".join(SearchOptions.__annotations__)
        raise InvalidArgument(f"a search has no option {min(unknown)!r}; it has {known}")
    if not any(map(str.isalnum, question)):
        raise InvalidArgument(f"a question needs a word or a number, got {question!r}")
    condition = combine(
        where=options.get("where"),
        paths=options.get("paths", ()),
        types=options.get("types", ()),
        after=options.get("after"),
        before=options.get("before"),
    )
    reranker, min_score = options.get("reranker"), options.get("min_score")
    if min_score is not None and not 0 <= min_score <= 1:
        raise InvalidArgument(f"min_score must be from 0 to 1, got {min_score!r}")
    return Query(
        question,
        k,
        mode=options.get("mode", "hybrid"),
        recall=options.get("recall"),
        reranks=check_rerank(options.get("rerank", "auto")),
        filter=None if condition is None else condition.key,
        is_plain=options.get("plain", False),
        full=options.get("full", False),
        reranker=None if reranker is None else load_reranker(reranker),
        distinct=options.get("distinct", True),
        per_file=options.get("per_file", 2),
        min_score=min_score,
    )
