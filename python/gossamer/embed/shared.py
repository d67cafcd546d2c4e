"""One model for many threads: what they ask for at the same time is embedded in shared rounds.

A server has one model and many users. Each round takes what waits, embeds every text once, and
spreads the rows; questions and searches go before updates, which have time.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gossamer.embed import Embedder, EmbedProgress
from gossamer.embed.memory import RowMemory
from gossamer.embed.tokens import QuestionVectors, TextVectors, token_embedder
from gossamer.errors import GossamerError, WrongState
from gossamer.text.tokenizer import Tokenizer

__all__ = ["BackgroundEmbedder", "Round", "SharedEmbedder"]

Rows = NDArray[np.float32]

_LOG = logging.getLogger("gossamer.embed")
# Texts in a round. More make it no faster, and whoever comes meanwhile waits for all of them.
_MOST_TEXTS = 128
# Texts of an update that are embedded at one time: what a search may have to wait for.
_PIECE = 8
# Rounds of searches after which an update that waits has its turn: it shall end some day.
_ROUNDS_BEFORE_UPDATE = 4


def _no_rows() -> Rows:
    return np.zeros((0, 0), np.float32)


def _no_starts() -> NDArray[np.uint32]:
    return np.zeros(0, np.uint32)


@dataclass(frozen=True, slots=True)
class _Embedded:
    """The vector of a text; those of its tokens where they were asked for."""

    row: Rows
    tokens: Rows = field(default_factory=_no_rows)
    starts: NDArray[np.uint32] = field(default_factory=_no_starts)


@dataclass(slots=True)
class _Request:
    """What one call waits for: an answer for each of its texts."""

    texts: Sequence[str]
    is_question: bool
    with_tokens: bool = False
    answers: Future[list[_Embedded]] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class Round:
    """What was embedded together."""

    texts: int  # different ones
    questions: int
    is_update: bool = False


class SharedEmbedder:
    """An Embedder that any number of threads may use, which calls the one it wraps from one thread.

    The same text gives the same bits, since the wrapped model promises that. What it raises for a
    text goes to those who asked for that text, and to nobody else.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        memory_bytes: int = 0,
        on_round: Callable[[Round], None] | None = None,
    ) -> None:
        """Share a model, and remember rows that searches asked for within `memory_bytes`.

        `on_round` is told of each round, from the thread that runs it.
        """
        self._embedder = embedder
        self._memory = RowMemory(embedder.dim, memory_bytes)
        self._on_round = on_round
        self._first: deque[_Request] = deque()
        self._later: deque[_Request] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._passed_over = 0  # rounds since updates began to wait
        self._is_update = False  # the round in hand
        self._worker = threading.Thread(target=self._work, name="gossamer-shared", daemon=True)
        self._worker.start()

    @property
    def name(self) -> str:
        """The name of the model; see `Embedder`."""
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model; see `Embedder`."""
        return self._embedder.fingerprint

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self._embedder.dim

    @property
    def max_tokens(self) -> int:
        """How many tokens one text may hold; see `Embedder`."""
        return self._embedder.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """What `max_tokens` is counted in."""
        return self._embedder.tokenizer

    @property
    def waiting(self) -> int:
        """How many calls wait for the next round."""
        return len(self._first) + len(self._later)

    @property
    def in_background(self) -> BackgroundEmbedder:
        """The same model for updates, which let searches go before."""
        return BackgroundEmbedder(self)

    def embed(self, texts: Sequence[str], progress: EmbedProgress | None = None) -> Rows:
        """Give a row of unit length for each text; see `Embedder`. WrongState once closed."""
        rows = self._memory.find(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in rows]
        if missing:
            made = self._ask(_Request(missing, is_question=False), self._first)
            new = {text: one.row for text, one in zip(missing, made, strict=True)}
            self._memory.put(new)
            rows |= new
        if progress is not None:
            progress(len(texts))
        return np.array([rows[text] for text in texts], np.float32).reshape(-1, self.dim)

    def embed_question(self, text: str) -> Rows:
        """Give the vector of a question; see `Embedder`."""
        return self._ask(_Request([text], is_question=True), self._first)[0].row

    @property
    def gives_tokens(self) -> bool:
        """Whether the model gives vectors of tokens; see `TokenEmbedder`."""
        return token_embedder(self._embedder) is not None

    def embed_tokens(self, texts: Sequence[str]) -> TextVectors:
        """Give the vectors of texts and of their tokens; see `TokenEmbedder`.

        They are not remembered: those of one text take as much as hundreds of vectors.
        """
        made = self._ask(_Request(texts, is_question=False, with_tokens=True), self._first)
        return TextVectors(
            np.stack([one.row for one in made]),
            np.concatenate([one.tokens for one in made]),
            np.array([len(one.tokens) for one in made], np.uint32),
            np.concatenate([one.starts for one in made]),
        )

    def embed_question_tokens(self, text: str) -> QuestionVectors:
        """Give the vectors of a question and of its tokens; see `TokenEmbedder`."""
        (made,) = self._ask(_Request([text], is_question=True, with_tokens=True), self._first)
        return QuestionVectors(made.row, made.tokens, made.starts)

    def embed_later(self, texts: Sequence[str], progress: EmbedProgress | None = None) -> Rows:
        """Embed like `embed`, a few texts at a time, so that searches can go before."""
        rows = [np.zeros((0, self.dim), np.float32)]
        for start in range(0, len(texts), _PIECE):
            some = texts[start : start + _PIECE]
            made = self._ask(_Request(some, is_question=False), self._later)
            rows.append(np.stack([one.row for one in made]))
            if progress is not None:
                progress(start + len(some))
        return np.concatenate(rows)

    def close(self) -> None:
        """Finish what was asked for, and stop."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._worker.join()

    def _ask(self, request: _Request, queue: deque[_Request]) -> list[_Embedded]:
        with self._changed:
            if self._is_closed:
                raise _closed()
            queue.append(request)
            self._changed.notify_all()
        return request.answers.result()

    def _work(self) -> None:
        # Whatever ends this thread, nobody may wait for it for ever.
        requests: list[_Request] = []
        try:
            while requests := self._take():
                self._run(requests)
                # Rows of a round can be large; they must not stay here until the next one.
                requests = []
        finally:
            with self._changed:
                self._is_closed = True
                _fail((*requests, *self._first, *self._later), _closed())

    def _run(self, requests: Sequence[_Request]) -> None:
        try:
            done = _run_round(self._embedder, requests)
        except BaseException as error:
            _fail(requests, error)
            return
        if self._on_round is None:
            return
        try:
            self._on_round(replace(done, is_update=self._is_update))
        except Exception:
            _LOG.exception("a round of embedding could not be noted")

    def _take(self) -> list[_Request]:
        """Wait for work and take some; nothing once all is done and this is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._first or self._later or self._is_closed)
            queue = self._next_queue()
            taken: list[_Request] = []
            count = 0
            while queue and (not taken or count + len(queue[0].texts) <= _MOST_TEXTS):
                taken.append(queue.popleft())
                count += len(taken[-1].texts)
            return taken

    def _next_queue(self) -> deque[_Request]:
        is_turn_of_updates = not self._first or self._passed_over == _ROUNDS_BEFORE_UPDATE
        self._is_update = bool(self._later) and is_turn_of_updates
        if self._is_update:
            self._passed_over = 0
            return self._later
        self._passed_over += bool(self._later)
        return self._first


class BackgroundEmbedder:
    """A shared model as updates use it; see `SharedEmbedder.in_background`."""

    def __init__(self, shared: SharedEmbedder) -> None:
        self._shared = shared

    @property
    def name(self) -> str:
        """The name of the model; see `Embedder`."""
        return self._shared.name

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model; see `Embedder`."""
        return self._shared.fingerprint

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self._shared.dim

    @property
    def max_tokens(self) -> int:
        """How many tokens one text may hold; see `Embedder`."""
        return self._shared.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """What `max_tokens` is counted in."""
        return self._shared.tokenizer

    def embed(self, texts: Sequence[str], progress: EmbedProgress | None = None) -> Rows:
        """Give a row of unit length for each text; see `Embedder`."""
        return self._shared.embed_later(texts, progress)

    def embed_question(self, text: str) -> Rows:
        """Give the vector of a question; see `Embedder`."""
        return self._shared.embed_question(text)


def _run_round(embedder: Embedder, requests: Sequence[_Request]) -> Round:
    """Answer requests together; where that fails, each for itself, so that each fails alone."""
    questions: dict[tuple[str, bool], list[_Request]] = {}
    for request in requests:
        if request.is_question:
            questions.setdefault((request.texts[0], request.with_tokens), []).append(request)
    for (question, with_tokens), same in questions.items():
        _answer_question(embedder, question, with_tokens, same)
    count = 0
    for with_tokens in (False, True):
        texts = [
            request
            for request in requests
            if not request.is_question and request.with_tokens is with_tokens
        ]
        different = list(dict.fromkeys(text for request in texts for text in request.texts))
        if texts:
            _answer_texts(embedder, different, with_tokens, texts)
        count += len(different)
    return Round(count, len(questions))


def _answer_question(
    embedder: Embedder, question: str, with_tokens: bool, requests: Sequence[_Request]
) -> None:
    try:
        made = _embed_question(embedder, question, with_tokens)
    except BaseException as error:
        _fail(requests, error)
    else:
        for request in requests:
            request.answers.set_result([replace(made, row=made.row.copy())])


def _embed_question(embedder: Embedder, question: str, with_tokens: bool) -> _Embedded:
    tokens = token_embedder(embedder) if with_tokens else None
    if tokens is None:
        return _Embedded(embedder.embed_question(question))
    made = tokens.embed_question_tokens(question)
    return _Embedded(made.row, made.tokens, made.starts)


def _answer_texts(
    embedder: Embedder,
    different: Sequence[str],
    with_tokens: bool,
    requests: Sequence[_Request],
) -> None:
    try:
        made = _embed_texts(embedder, different, with_tokens)
    except BaseException as error:
        if len(requests) == 1:
            _fail(requests, error)
            return
        for request in requests:
            _answer_texts(embedder, list(dict.fromkeys(request.texts)), with_tokens, [request])
        return
    of_text = dict(zip(different, made, strict=True))
    for request in requests:
        request.answers.set_result([of_text[text] for text in request.texts])


def _embed_texts(embedder: Embedder, texts: Sequence[str], with_tokens: bool) -> list[_Embedded]:
    source = token_embedder(embedder) if with_tokens else None
    made = None if source is None else source.embed_tokens(texts)
    rows = embedder.embed(texts) if made is None else made.rows
    if rows.shape != (len(texts), embedder.dim):
        raise GossamerError(
            f"{embedder.name} gave rows of shape {rows.shape} for {len(texts)} texts of "
            f"{embedder.dim} dimensions; it is not the model that it should be"
        )
    if made is None:
        return [_Embedded(row) for row in rows]
    ends = np.cumsum(made.counts)[:-1]
    pieces = zip(rows, np.split(made.tokens, ends), np.split(made.starts, ends), strict=True)
    return [_Embedded(*piece) for piece in pieces]


def _fail(requests: Iterable[_Request], error: BaseException) -> None:
    for request in requests:
        if not request.answers.done():
            request.answers.set_exception(error)


def _closed() -> WrongState:
    return WrongState(
        "this model was closed: the server is shutting down, or its index has another model now"
    )
