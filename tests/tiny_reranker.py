"""A cross-encoder of a few words, and a server that reranks, so that tests need no model."""

import http.server
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.models import graph

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# What each word counts for if question and text both have it; any other word counts nothing.
WEIGHTS = {"lease": 1.0, "due": 2.0, "rent": 4.0, "tomatoes": 8.0, "sun": 16.0, "water": 32.0}
WORDS = [*SPECIALS, *WEIGHTS]


def overlap(question: str, text: str) -> float:
    """What the tiny model says of a text."""
    counts = [[part.lower().split().count(word) for word in WEIGHTS] for part in (question, text)]
    return float(np.prod([*counts, list(WEIGHTS.values())], axis=0).sum())


def write_reranker(
    folder: Path,
    *,
    shape: str = "column",
    with_types: bool = True,
    spoil: float = 1.0,
    file: str = "model.onnx",
) -> Path:
    """Write the tiny model: what the words of question and text have in common, by weight.

    `shape` is "column" (n, 1), "row" (n), "pair" (n, 2) or "tokens", which is no reranker.
    Without types it takes all words for the text's. `spoil` multiplies all weights.
    """
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_model(shape, with_types, spoil))
    (folder / "tokenizer.json").write_text(json.dumps(definition()), encoding="utf-8")
    return folder


def definition() -> dict[str, Any]:
    """The tokenizer of the tiny model, which is BERT's."""
    ids = {word: number for number, word in enumerate(WORDS)}
    special = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": ids[one], "content": one, **special} for one in SPECIALS],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": template(["[CLS]:0", "A:0", "[SEP]:0", "B:1", "[SEP]:1"]),
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }


def template(pair: Sequence[str]) -> dict[str, Any]:
    """What stands around a text, and around and between two."""

    def part(said: str) -> dict[str, Any]:
        id, _, type = said.rpartition(":")
        kind = "Sequence" if len(id) == 1 else "SpecialToken"
        return {kind: {"id": id, "type_id": int(type)}}

    special = {
        name: {"id": name, "ids": [WORDS.index(name)], "tokens": [name]}
        for name in ("[CLS]", "[SEP]")
    }
    return {
        "type": "TemplateProcessing",
        "single": [part(one) for one in ("[CLS]:0", "A:0", "[SEP]:0")],
        "pair": [part(one) for one in pair],
        "special_tokens": special,
    }


def _model(shape: str, with_types: bool, spoil: float) -> bytes:
    """The bytes of the ONNX file."""
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if with_types else [])]
    nodes = [
        _node("Gather", ["table", "input_ids"], "rows"),
        _node("Cast", ["attention_mask"], "mask", to=1),
        _node("Cast", [inputs[-1]], "types", to=1),
        _node("Unsqueeze", ["mask", "two"], "mask3"),
        _node("Unsqueeze", ["types", "two"], "types3"),
        _node("Mul", ["rows", "mask3"], "all_rows"),
        _node("Mul", ["rows", "types3"], "text_rows"),
        _node("ReduceSum", ["all_rows", "one"], "all", keepdims=0),
        _node("ReduceSum", ["text_rows", "one"], "text", keepdims=0),
        _node("Sub", ["all", "text"], "question"),
        _node("Mul", ["question" if with_types else "text", "text"], "common"),
        _node("Mul", ["common", "weights"], "weighted"),
        _node("ReduceSum", ["weighted", "one"], "column", keepdims=1),
        _node("ReduceSum", ["weighted", "one"], "row", keepdims=0),
        _node("Neg", ["column"], "no"),
        _node("Concat", ["no", "column"], "pair", axis=1),
        _node("Identity", ["rows"], "tokens"),
        _node("Identity", [shape], "logits"),
    ]
    with np.errstate(invalid="ignore"):
        weights = np.array([0] * len(SPECIALS) + list(WEIGHTS.values()), "<f4") * np.float32(spoil)
    tensors = [
        _tensor("table", np.eye(len(WORDS), dtype="<f4")),
        _tensor("weights", weights),
        _tensor("one", np.array([1], "<i8")),
        _tensor("two", np.array([2], "<i8")),
    ]
    dims: dict[str, list[int | str]] = {
        "column": ["n", 1],
        "row": ["n"],
        "pair": ["n", 2],
        "tokens": ["n", "s", len(WORDS)],
    }
    body = b"".join(graph._field(1, node) for node in nodes) + graph._field(2, b"tiny")
    body += b"".join(graph._field(5, tensor) for tensor in tensors)
    body += b"".join(graph._field(11, graph._port(name, 7, ["n", "s"])) for name in inputs)
    body += graph._field(12, graph._port("logits", 1, dims[shape]))
    opset = graph._field(1, b"") + graph._number(2, 17)
    return graph._number(1, 8) + graph._field(7, body) + graph._field(8, opset)


def _node(kind: str, inputs: list[str], output: str, **values: int) -> bytes:
    message = b"".join(graph._field(1, name.encode()) for name in inputs)
    message += graph._field(2, output.encode()) + graph._field(4, kind.encode())
    return message + b"".join(
        graph._field(5, graph._attribute(name, value)) for name, value in values.items()
    )


def _tensor(name: str, values: Any) -> bytes:
    element = 1 if values.dtype == np.float32 else 7
    message = b"".join(graph._number(1, size) for size in values.shape)
    message += graph._number(2, element) + graph._field(8, name.encode())
    return message + graph._field(9, values.tobytes())


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers with what `server.answers` holds, then with the scores of the tiny model."""

    server: "RerankServer"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        answer = self.server.answers.pop(0) if self.server.answers else results_of(self.path, body)
        status = 200
        if isinstance(answer, tuple):
            status, answer = answer
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.server.pause.wait(self.server.pause_s)
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class RerankServer(http.server.ThreadingHTTPServer):
    """A server that reranks, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[Any] = []
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.pause_s = 0.0
        self.pause = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that have left."""


def results_of(path: str, body: Any) -> Any:
    """The answer of a server: best first, as they give it."""
    scores = [overlap(body["query"], text) for text in body["documents"]]
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    if path == "/rerank":  # as Text Embeddings Inference has it
        return [{"index": at, "score": scores[at]} for at in order]
    return {"results": [{"index": at, "relevance_score": scores[at]} for at in order]}


@contextmanager
def rerank_server() -> Iterator[RerankServer]:
    """Serve on this machine."""
    with RerankServer() as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield serving
        serving.pause.set()
        serving.shutdown()
        thread.join()
