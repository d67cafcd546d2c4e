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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.texts import check_lengths, embed_pieces, to_unit_rows, tokenizer_of
from gossamer.embed.workers import run_each, usable_cpus
from gossamer.errors import Damaged, InvalidArgument, MissingModel
from gossamer.models.records import Model

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["OnnxEmbedder", "open_session"]

# In the order they are tried. CoreML is not among them: the ordinary macOS package lists it on
# every machine, and it compiles for seconds at each start and runs changing lengths slowly.
_GPU_PROVIDERS = (
    "CUDAExecutionProvider",
    "ROCMExecutionProvider",
    "MIGraphXExecutionProvider",
    "DmlExecutionProvider",
)
_GPU_BATCH = 64
_FATAL_ONLY = 4

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
        self._specials = len(self.tokenizer.encode([""])[0])
        prompts = self._count_tokens(model.text_prompt), self._count_tokens(model.question_prompt)
        self.max_tokens = model.max_length - self._specials - max(prompts)
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

    def _encode(
        self,
        texts: Sequence[str],
        progress: Callable[[int], None] | None = None,
        is_question: bool = False,
    ) -> Rows:
        ids = self.tokenizer.encode(texts)
        most = self._model.max_length - self._specials
        check_lengths([len(one) - self._specials for one in ids], most)
        return self._encoder(is_question).run(ids, progress)

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
        self._pooling = model.pooling
        self._threads = threads
        self._batch = batch
        _check_inputs(self._inputs, model)

    def run(self, ids: Sequence[Ids], progress: Callable[[int], None] | None) -> Rows:
        """Give a row of unit length for each text's ids."""
        # Longest first: the threads finish together, and a batch holds texts of like length.
        order = sorted(range(len(ids)), key=lambda at: -len(ids[at]))
        batches = [order[at : at + self._batch] for at in range(0, len(order), self._batch)]
        found: list[Rows] = [np.empty(0, np.float32)] * len(ids)

        def work(number: int) -> None:
            members = batches[number]
            for at, row in zip(members, self._rows([ids[at] for at in members]), strict=True):
                found[at] = row

        def report(done: int) -> None:
            if progress is not None:
                progress(min(done * self._batch, len(ids)))

        run_each(work, range(len(batches)), self._threads, report)
        return np.stack(found)

    def _rows(self, ids: list[Ids]) -> Rows:
        padded, mask = _pad(ids)
        given = {"input_ids": padded, "attention_mask": mask, "token_type_ids": 0 * padded}
        feed = {name: value for name, value in given.items() if name in self._inputs}
        try:
            (output,) = self._session.run([self._output], feed)
        except Exception as error:
            raise Damaged(
                f"the model failed on a text of {padded.shape[1]} tokens: "
                f"{str(error).strip()[:300]}; do its files belong together?"
            ) from error
        return to_unit_rows(_pool(np.asarray(output, np.float32), mask, self._pooling))


def _make_encoder(model: Model, threads: int, device: str, is_question: bool) -> _Encoder:
    import onnxruntime

    providers = [name for name in _GPU_PROVIDERS if name in onnxruntime.get_available_providers()]
    if device == "gpu" and not providers:
        raise InvalidArgument(
            "device='gpu' was asked for, but onnxruntime offers none here; install a build of "
            "onnxruntime for this GPU, or use device='auto'"
        )
    if providers and device != "cpu" and not is_question:
        session = open_session(model, str(model.weights.path), providers[:1])
        return _Encoder(session, model, 1, _GPU_BATCH)
    own = model.question_graph if is_question else model.graph
    graph = own.path.read_bytes() if own else str(model.weights.path)
    return _Encoder(open_session(model, graph), model, threads, 1)


def open_session(model: Model, graph: str | bytes, gpu: Sequence[str] = ()) -> InferenceSession:
    """Load a graph over the model's weights: a file's path, or its bytes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    # One thread in each run, several runs at a time.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Our own graph holds no weights: it names places in the model's file.
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(model.weights.path.parent)
    )
    unfused: Any = {"disabled_optimizers": ["SkipLayerNormFusion"]} if not gpu else {}
    try:
        return onnxruntime.InferenceSession(
            graph, options, providers=[*gpu, "CPUExecutionProvider"], **unfused
        )
    except Exception as error:
        raise MissingModel(
            f"onnxruntime {onnxruntime.__version__} cannot load {model.weights.path}: "
            f"{str(error).strip()[:300]}; check the file, or upgrade onnxruntime"
        ) from error


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


def _check_inputs(inputs: set[str], model: Model) -> None:
    others = inputs - {"input_ids", "attention_mask", "token_type_ids"}
    if others or "input_ids" not in inputs:
        raise InvalidArgument(
            f"{model.weights.path} takes {', '.join(sorted(inputs))}, but expected is an encoder "
            "that takes input_ids, attention_mask and token_type_ids"
        )


def _pad(ids: list[Ids]) -> tuple[Ids, Ids]:
    longest = max(len(one) for one in ids)
    padded = np.zeros((len(ids), longest), np.int64)
    mask = np.zeros_like(padded)
    for row, one in enumerate(ids):
        padded[row, : len(one)] = one
        mask[row, : len(one)] = 1
    return padded, mask


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
