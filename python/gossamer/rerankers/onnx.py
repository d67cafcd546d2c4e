"""Cross-encoders that onnxruntime runs.

As with encoders, on a CPU each pair is computed alone, so that a text gets the same score in any
company; a GPU computes padded batches.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.sessions import GPU_BATCH, check_inputs, find_gpu, open_session, pad
from gossamer.embed.workers import run_each, usable_cpus
from gossamer.errors import Damaged, InvalidArgument
from gossamer.models.records import Model
from gossamer.once import once
from gossamer.text.tokenizer import Pair, load_tokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["OnnxReranker"]

_LEAST_LENGTH = 16  # tokens of a pair: less leaves no room for question and text
_FLOATS = ("tensor(float)", "tensor(float16)")

Scores = NDArray[np.float32]


class OnnxReranker:
    """A `Reranker` over an ONNX cross-encoder. The session is made when the first texts come."""

    def __init__(self, model: Model, threads: int = 0, device: str = "auto") -> None:
        if model.kind != "onnx":
            raise InvalidArgument(
                f"the model in {model.folder} is a token table and cannot rerank; expected an "
                "ONNX cross-encoder, model.onnx or onnx/model.onnx"
            )
        if model.max_length < _LEAST_LENGTH:
            raise InvalidArgument(
                f"the model in {model.folder} takes {model.max_length} tokens, which leaves no "
                "room for a question and a text; set max_length in gossamer-model.json there"
            )
        self.name = model.name
        self._model = model
        self._threads = threads or usable_cpus()
        self._device = device
        self._tokenizer = load_tokenizer(model.tokenizer.path, of_pairs=True)
        self._lock = threading.Lock()

    def score(self, question: str, texts: Sequence[str]) -> Scores:
        """Give a number for each text; see `Reranker`."""
        scores = np.empty(len(texts), np.float32)
        if not texts:
            return scores
        pairs = self._tokenizer.encode_pairs(question, texts, self._model.max_length)
        # One question after the other, each with all threads.
        with self._lock:
            self._session.run(pairs, scores)
        if not np.isfinite(scores).all():
            raise Damaged(
                f"the reranker {self.name!r} gave NaN or an infinite score; its files do not "
                "work as they should"
            )
        return scores

    @once
    def _session(self) -> _Session:
        gpu = find_gpu(self._device)
        session = open_session(self._model, str(self._model.weights.path), gpu)
        if gpu:
            return _Session(session, self._model, 1, GPU_BATCH)
        return _Session(session, self._model, self._threads, 1)


class _Session:
    """A session, and how pairs go through it."""

    def __init__(self, session: InferenceSession, model: Model, threads: int, batch: int) -> None:
        self._session = session
        self._inputs = {entry.name for entry in session.get_inputs()}
        self._output = _choose_output(session, model)
        self._model = model
        self._threads = threads
        self._batch = batch
        check_inputs(self._inputs, model)

    def run(self, pairs: Sequence[Pair], scores: Scores) -> None:
        """Compute the score of each pair."""
        # Longest first: the threads finish together, and a batch holds pairs of like length.
        order = sorted(range(len(pairs)), key=lambda at: -len(pairs[at].ids))
        batches = [order[at : at + self._batch] for at in range(0, len(order), self._batch)]

        def work(number: int) -> None:
            members = batches[number]
            scores[members] = self._scores([pairs[at] for at in members])

        run_each(work, range(len(batches)), self._threads)

    def _scores(self, pairs: list[Pair]) -> Scores:
        padded, mask = pad([pair.ids for pair in pairs])
        types, _ = pad([pair.types for pair in pairs])
        given = {"input_ids": padded, "attention_mask": mask, "token_type_ids": types}
        feed = {name: value for name, value in given.items() if name in self._inputs}
        try:
            (output,) = self._session.run([self._output], feed)
        except Exception as error:
            raise Damaged(
                f"the reranker failed on a pair of {padded.shape[1]} tokens: "
                f"{str(error).strip()[:300]}; do its files belong together?"
            ) from error
        return _read(np.asarray(output, np.float32), len(pairs), self._model)


def _choose_output(session: InferenceSession, model: Model) -> str:
    outputs = {entry.name: entry.type for entry in session.get_outputs()}
    name = "logits" if "logits" in outputs else next(iter(outputs), "")
    if outputs.get(name) not in _FLOATS:
        raise InvalidArgument(f"{model.weights.path} gives no scores in floats")
    return name


def _read(output: Scores, count: int, model: Model) -> Scores:
    """Make one number of what the model says of each pair."""
    if output.shape in ((count,), (count, 1)):
        return output.reshape(count)
    if output.shape == (count, 2):
        # No and yes: by how much the second is more likely.
        scores: Scores = output[:, 1] - output[:, 0]
        return scores
    raise InvalidArgument(
        f"{model.weights.path} gave an array of shape {output.shape} for {count} pairs, but "
        f"expected is a cross-encoder, which gives ({count}, 1), ({count}, 2) or ({count},)"
    )
