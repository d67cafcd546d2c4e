"""Sentence encoders that onnxruntime runs: the default model, and those of users.

On a CPU each text is computed alone. Quantized models scale their activations by the largest one
of a batch, so a text that shares a batch gets other bits than the same text alone, and an index
asks for a text again in other company. Alone costs nothing: several threads, one text each, are
as fast as batches.

A GPU, where onnxruntime has one, computes chunks in padded batches and in floats. Its vectors
differ from those of the CPU (cosine 0.998) and in the last places from batch to batch, which an
index bears: its codes only steer a search, and distances are computed anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.sessions import GPU_BATCH, check_inputs, find_gpu, open_session, pad
from gossamer.embed.texts import (
    check_lengths,
    count_specials,
    embed_pieces,
    piece_starts,
    to_unit_rows,
    tokenizer_of,
)
from gossamer.embed.tokens import QuestionVectors, TextVectors
from gossamer.embed.workers import run_each, usable_cpus
from gossamer.errors import Damaged, InvalidArgument
from gossamer.models.graph import TOKENS, add_tokens
from gossamer.models.records import Model
from gossamer.text.encoding import to_utf8

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["OnnxEmbedder"]

Rows = NDArray[np.float32]
Ids = NDArray[np.int64]


class OnnxEmbedder:
    """An `Embedder` over an ONNX model. The session is made when the first text comes."""

    def __init__(self, model: Model, threads: int = 0, device: str = "auto") -> None:
        self._model = model
        self._threads = threads or usable_cpus()
        self._device = device
        self._encoders: dict[bool, _Encoder] = {}
        self._lock = threading.Lock()
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.tokenizer = tokenizer_of(model)
        self._before, self._after = count_specials(self.tokenizer)
        self._specials = self._before + self._after
        self._text_prompt = self._count_tokens(model.text_prompt)
        self._question_prompt = self._count_tokens(model.question_prompt)
        self.max_tokens = (
            model.max_length - self._specials - max(self._text_prompt, self._question_prompt)
        )
        if self.max_tokens < 1:
            raise InvalidArgument(
                f"the model in {model.folder} takes {model.max_length} tokens, which leaves no "
                "room for a text; set max_length in gossamer-model.json there"
            )

    @cached_property
    def dim(self) -> int:
        """Length of a vector."""
        return self._model.dim or int(self._encode([""]).shape[1])

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Rows:
        """Give a row of unit length for each text; see `Embedder`."""
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        return self._encode([self._model.text_prompt + text for text in texts], progress)

    def embed_question(self, text: str) -> Rows:
        """Give the vector of a question; see `Embedder`."""
        prompt = self._model.question_prompt
        return embed_pieces(
            text,
            self.tokenizer,
            self.max_tokens,
            lambda pieces: self._encode([prompt + piece for piece in pieces], is_question=True),
        )

    @cached_property
    def gives_tokens(self) -> bool:
        """Whether the graphs give vectors of tokens, as long as those of texts."""
        for encoder in {self._encoder(True), self._encoder(False)}:
            if not encoder.gives_tokens:
                return False
            ((row, tokens),) = encoder.run(self._ids([""]), None, with_tokens=True)
            if tokens.shape[1:] != row.shape:  # there is a layer behind the tokens
                return False
        return True

    def embed_tokens(self, texts: Sequence[str]) -> TextVectors:
        """Give the vectors of texts and of their tokens; see `TokenEmbedder`."""
        prompted = [self._model.text_prompt + text for text in texts]
        encoded = self._encoder(False).run(self._ids(prompted), None, with_tokens=True)
        rows = [self._own_tokens(one, self._text_prompt) for _, one in encoded]
        return TextVectors(
            np.stack([row for row, _ in encoded]),
            np.concatenate(rows),
            np.array([len(one) for one in rows], np.uint32),
            np.concatenate([self.tokenizer.token_starts(to_utf8(text)) for text in texts]),
        )

    def embed_question_tokens(self, text: str) -> QuestionVectors:
        """Give the vectors of a question and of its tokens; see `TokenEmbedder`."""
        tokens: list[Rows] = []

        def embed(pieces: list[str]) -> Rows:
            prompted = [self._model.question_prompt + piece for piece in pieces]
            encoded = self._encoder(True).run(self._ids(prompted), None, with_tokens=True)
            tokens.extend(self._own_tokens(one, self._question_prompt) for _, one in encoded)
            return np.stack([row for row, _ in encoded])

        row = embed_pieces(text, self.tokenizer, self.max_tokens, embed)
        starts = piece_starts(text, self.tokenizer, self.max_tokens)
        return QuestionVectors(row, np.concatenate(tokens), starts)

    def _own_tokens(self, rows: Rows, prompt: int) -> Rows:
        return rows[self._before + prompt : len(rows) - self._after]

    def _encode(
        self,
        texts: Sequence[str],
        progress: Callable[[int], None] | None = None,
        is_question: bool = False,
    ) -> Rows:
        encoded = self._encoder(is_question).run(self._ids(texts), progress)
        return np.stack([row for row, _ in encoded])

    def _ids(self, texts: Sequence[str]) -> list[Ids]:
        ids = self.tokenizer.encode(texts)
        most = self._model.max_length - self._specials
        check_lengths([len(one) - self._specials for one in ids], most)
        return ids

    def _encoder(self, is_question: bool) -> _Encoder:
        """Give the encoder, made when it is first needed; most models have one for everything."""
        is_question = is_question and self._model.question_graph is not None
        with self._lock:
            if is_question not in self._encoders:
                made = _make_encoder(self._model, self._threads, self._device, is_question)
                self._encoders[is_question] = made
            return self._encoders[is_question]

    def _count_tokens(self, prompt: str) -> int:
        return self.tokenizer.token_starts(prompt.encode()).size


class _Encoder:
    """A session, and how texts go through it."""

    def __init__(self, session: InferenceSession, model: Model, threads: int, batch: int) -> None:
        self._session = session
        self._inputs = {entry.name for entry in session.get_inputs()}
        self._output = _choose_output(session, model)
        names = [entry.name for entry in session.get_outputs() if len(entry.shape or ()) == 3]
        self._tokens = next((name for name in (TOKENS, "last_hidden_state") if name in names), "")
        self._pooling = model.pooling
        self._threads = threads
        self._batch = batch
        check_inputs(self._inputs, model)

    @property
    def gives_tokens(self) -> bool:
        """Whether it gives vectors of tokens."""
        return self._tokens != ""

    def run(
        self,
        ids: Sequence[Ids],
        progress: Callable[[int], None] | None,
        with_tokens: bool = False,
    ) -> list[tuple[Rows, Rows]]:
        """Give a row of unit length for each text's ids, and those of its tokens if wanted."""
        # Longest first: the threads finish together, and a batch holds texts of like length.
        order = sorted(range(len(ids)), key=lambda at: -len(ids[at]))
        batches = [order[at : at + self._batch] for at in range(0, len(order), self._batch)]
        nothing = np.empty(0, np.float32)
        found = [(nothing, nothing)] * len(ids)

        def work(number: int) -> None:
            members = batches[number]
            rows, tokens = self._rows([ids[at] for at in members], with_tokens)
            for place, at in enumerate(members):
                found[at] = rows[place], tokens[place, : len(ids[at])] if with_tokens else nothing

        def report(done: int) -> None:
            if progress is not None:
                progress(min(done * self._batch, len(ids)))

        run_each(work, range(len(batches)), self._threads, report)
        return found

    def _rows(self, ids: list[Ids], with_tokens: bool) -> tuple[Rows, Rows]:
        padded, mask = pad(ids)
        given = {"input_ids": padded, "attention_mask": mask, "token_type_ids": 0 * padded}
        feed = {name: value for name, value in given.items() if name in self._inputs}
        try:
            wanted = [self._output, *([self._tokens] if with_tokens else [])]
            output, *others = self._session.run(wanted, feed)
        except Exception as error:
            raise Damaged(
                f"the model failed on a text of {padded.shape[1]} tokens: "
                f"{str(error).strip()[:300]}; do its files belong together?"
            ) from error
        rows = to_unit_rows(_pool(np.asarray(output, np.float32), mask, self._pooling))
        return rows, np.asarray(others[0] if others else rows, np.float32)


def _make_encoder(model: Model, threads: int, device: str, is_question: bool) -> _Encoder:
    gpu = find_gpu(device)
    if gpu and not is_question:
        session = open_session(model, str(model.weights.path), gpu)
        return _Encoder(session, model, 1, GPU_BATCH)
    own = model.question_graph if is_question else model.graph
    graph = add_tokens(own.path.read_bytes()) if own else str(model.weights.path)
    return _Encoder(open_session(model, graph), model, threads, 1)


def _choose_output(session: InferenceSession, model: Model) -> str:
    """Take the output that is a vector for each text, else the one that is one for each token."""
    outputs = session.get_outputs()
    names = {entry.name for entry in outputs}
    for usual in ("sentence_embedding", "last_hidden_state"):
        if usual in names:
            return usual
    if not outputs or outputs[0].type != "tensor(float)":
        raise InvalidArgument(f"{model.weights.path} gives no vectors of 32-bit floats")
    name: str = outputs[0].name
    return name


def _pool(output: Rows, mask: Ids, pooling: str) -> Rows:
    """Make one vector of those of the tokens; padding does not count."""
    if output.ndim == 2:
        return output
    if output.ndim != 3 or output.shape[:2] != mask.shape:
        raise InvalidArgument(
            f"the model gave an array of shape {output.shape} for ids of shape {mask.shape}; "
            "expected a vector for each token or for each text"
        )
    if pooling == "cls":
        return output[:, 0]
    weights = mask.astype(np.float32)[:, :, None]
    mean: Rows = (output * weights).sum(axis=1) / weights.sum(axis=1)
    return mean
