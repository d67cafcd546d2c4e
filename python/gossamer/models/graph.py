"""Writes data/minilm.*.onnx: MiniLM computed in 8-bit integers over the weights of its package.

The package's own graph turns its int8 weights into floats before anything else, so it runs as
slowly as the float model and needs 90 MB. These graphs multiply integers, take a third of the
time and start five times sooner. They hold no weights: each names a place in the package's file.

`graph` is for chunks, with activations of 8 bits. `question` is for questions, with activations of
16 bits at twice the cost: the error of a chunk moves one chunk in a ranking, that of a question
moves all of them.

    python -m gossamer.models.graph      writes the files again; `make test` compares them
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["TOKENS", "add_tokens", "write_graph"]

_FLOAT, _INT8, _INT64 = 1, 3, 7  # ONNX's numbers of element types
_ORT = "com.microsoft"
_LAYERS = 6
_HEADS = 12
_DIM = 384
_EPSILON = 1e-12
_OPSETS = (("", 17), (_ORT, 1))
_IR_VERSION = 8

# The vectors of tokens within a graph.
TOKENS = f"inner.encoder.layer.{_LAYERS - 1}.output.LayerNorm.out"

Value = int | float | list[int]


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor of the package's file: where its numbers stand."""

    dims: tuple[int, ...]
    element: int
    offset: int
    length: int


def write_graph(source: bytes, file_name: str, is_fine: bool) -> bytes:
    """Give the graph over the weights of `source`, which lies beside it as `file_name`.

    `is_fine` gives activations 16 bits.
    """
    tensors = dict(_tensors(source))
    matrices = [
        name.removesuffix("_q")
        for name in tensors
        if name.startswith("val_") and name.endswith("_q")
    ]
    graph = _Graph(tensors, file_name, is_fine)
    tokens = _embed_tokens(graph)
    for layer in range(_LAYERS):
        tokens = _layer(graph, f"inner.encoder.layer.{layer}.", tokens, matrices[6 * layer :][:6])
    graph.node("ReduceMean", [tokens], ["sentence_embedding"], axes=[1], keepdims=0)
    return graph.serialize()


def add_tokens(model: bytes) -> bytes:
    """Let a graph of ours give the vectors of tokens too; what else it gives stays the same."""
    tokens = _field(12, _port(TOKENS, _FLOAT, ["batch", "sequence", _DIM]))
    ((start, end),) = [place for number, place in _fields(model, 0, len(model)) if number == 7]
    before = model[: start - len(_varint(end - start)) - 1]
    return before + _field(7, model[start:end] + tokens) + model[end:]


def _embed_tokens(graph: _Graph) -> str:
    """Word, type and place of each token, added up."""
    prefix = "inner.embeddings."
    for constant, value in (("zero", 0), ("one", 1), ("end", 2**31)):
        graph.constant(constant, [value])
    graph.constant("type", [0], is_scalar=True)
    graph.node("Shape", ["input_ids"], ["length"], start=1, end=2)
    rows = []
    for what, pick in (("word", "Gather"), ("position", "Slice")):
        picked = []
        for part in ("weight_q", "weight_scale"):
            table = graph.weight(f"{prefix}{what}_embeddings.{part}")
            inputs = [table, "input_ids"] if what == "word" else [table, "zero", "length", "zero"]
            picked.append(graph.node(pick, inputs, [f"{what}.{part}"]))
        floats = graph.node("Cast", picked[:1], [f"{what}.float"], to=_FLOAT)
        rows.append(graph.node("Mul", [floats, picked[1]], [what]))
    kind = graph.weight(f"{prefix}token_type_embeddings.weight")
    kind = graph.node("Gather", [kind, "type"], ["kind"])
    typed = graph.node("Add", [rows[0], kind], ["typed"])
    placed = graph.node("Add", [typed, rows[1]], ["placed"])
    return _normalize(graph, f"{prefix}LayerNorm", placed)


def _layer(graph: _Graph, prefix: str, tokens: str, matrices: list[str]) -> str:
    query, key, value, output, wider, narrower = matrices
    quantized = _quantize(graph, tokens, f"{prefix}in")
    heads = [
        _multiply(graph, quantized, matrix, f"{prefix}attention.self.{what}")
        for what, matrix in (("query", query), ("key", key), ("value", value))
    ]
    mixed = graph.node("MultiHeadAttention", heads, [f"{prefix}mixed"], _ORT, num_heads=_HEADS)
    quantized = _quantize(graph, mixed, f"{prefix}mixed")
    mixed = _multiply(graph, quantized, output, f"{prefix}attention.output.dense")
    mixed = graph.node("Add", [mixed, tokens], [f"{prefix}attended"])
    tokens = _normalize(graph, f"{prefix}attention.output.LayerNorm", mixed)

    # The numbers of [CLS] are four times as large as those of any other token here. Quantized by
    # itself it does not coarsen theirs, which halves the error of the vectors.
    spans = {"first": ["zero", "one"], "rest": ["one", "end"]}
    parts = []
    for part, bounds in ({"all": ["zero", "end"]} if graph.is_fine else spans).items():
        name = f"{prefix}{part}."
        piece = graph.node("Slice", [tokens, *bounds, "one"], [f"{name}in"])
        wide = _multiply(
            graph, _quantize(graph, piece, name), wider, f"{prefix}intermediate.dense", name
        )
        wide = graph.node("Gelu", [wide], [f"{name}gelu"], _ORT)
        parts.append(
            _multiply(
                graph, _quantize(graph, wide, f"{name}w"), narrower, f"{prefix}output.dense", name
            )
        )
    joined = graph.node("Concat", parts, [f"{prefix}joined"], axis=1)
    joined = graph.node("Add", [joined, tokens], [f"{prefix}fed"])
    return _normalize(graph, f"{prefix}output.LayerNorm", joined)


def _quantize(graph: _Graph, floats: str, name: str) -> list[list[str]]:
    """Turn floats into bytes, and if the graph is fine what is lost by that into bytes too."""
    parts = [_quantize_once(graph, floats, name)]
    if graph.is_fine:
        back = graph.node("DequantizeLinear", parts[0], [f"{name}.back"])
        lost = graph.node("Sub", [floats, back], [f"{name}.lost"])
        parts.append(_quantize_once(graph, lost, f"{name}.lost"))
    return parts


def _quantize_once(graph: _Graph, floats: str, name: str) -> list[str]:
    outputs = [f"{name}.u8", f"{name}.scale", f"{name}.zero"]
    graph.node("DynamicQuantizeLinear", [floats], outputs)
    return outputs


def _multiply(
    graph: _Graph, quantized: list[list[str]], matrix: str, module: str, name: str = ""
) -> str:
    scales = graph.weight(f"{matrix}_scale", is_flat=True)
    weights, bias = graph.weight(f"{matrix}_q"), graph.weight(f"{module}.bias")
    products = []
    for number, (numbers, scale, zero) in enumerate(quantized):
        inputs = [numbers, weights, scale, scales, zero, *(["", bias] if number == 0 else [])]
        output = f"{name}{module}.out{number}"
        products.append(graph.node("MatMulIntegerToFloat", inputs, [output], _ORT))
    if len(products) == 1:
        return products[0]
    return graph.node("Add", products, [f"{name}{module}.sum"])


def _normalize(graph: _Graph, module: str, tokens: str) -> str:
    weights = [graph.weight(f"{module}.weight"), graph.weight(f"{module}.bias")]
    return graph.node(
        "LayerNormalization", [tokens, *weights], [f"{module}.out"], axis=-1, epsilon=_EPSILON
    )


class _Graph:
    """An ONNX model in the making, in the bytes of its protocol buffer."""

    def __init__(self, tensors: dict[str, _Tensor], file_name: str, is_fine: bool) -> None:
        self.is_fine = is_fine
        self._tensors = tensors
        self._file_name = file_name
        self._nodes: list[bytes] = []
        self._initializers: dict[str, bytes] = {}

    def node(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: list[str],
        domain: str = "",
        **values: Value,
    ) -> str:
        """Add an operation; give the name of its first output."""
        message = b"".join(_field(1, name.encode()) for name in inputs)
        message += b"".join(_field(2, name.encode()) for name in outputs)
        message += _field(4, kind.encode())
        message += b"".join(_field(5, _attribute(name, values[name])) for name in values)
        self._nodes.append(message + _field(7, domain.encode()))
        return outputs[0]

    def weight(self, name: str, is_flat: bool = False) -> str:
        """Add a tensor of the package's file."""
        tensor = self._tensors[name]
        dims = [max(tensor.dims)] if is_flat else list(tensor.dims)
        place = {"location": self._file_name, "offset": tensor.offset, "length": tensor.length}
        message = b"".join(_number(1, dim) for dim in dims) + _number(2, tensor.element)
        message += _field(8, name.encode())
        for key, value in place.items():
            message += _field(13, _field(1, key.encode()) + _field(2, str(value).encode()))
        self._initializers[name] = message + _number(14, 1)
        return name

    def constant(self, name: str, values: list[int], is_scalar: bool = False) -> None:
        """Add whole numbers of the graph's own."""
        dims = b"" if is_scalar else _number(1, len(values))
        data = struct.pack(f"<{len(values)}q", *values)
        message = dims + _number(2, _INT64) + _field(8, name.encode()) + _field(9, data)
        self._initializers[name] = message

    def serialize(self) -> bytes:
        """Give the whole model."""
        graph = b"".join(_field(1, node) for node in self._nodes) + _field(2, b"minilm")
        graph += b"".join(_field(5, tensor) for tensor in self._initializers.values())
        graph += _field(11, _port("input_ids", _INT64, ["batch", "sequence"]))
        graph += _field(12, _port("sentence_embedding", _FLOAT, ["batch", _DIM]))
        opsets = [_field(1, domain.encode()) + _number(2, version) for domain, version in _OPSETS]
        model = _number(1, _IR_VERSION) + _field(2, b"gossamer") + _field(7, graph)
        return model + b"".join(_field(8, opset) for opset in opsets)


def _attribute(name: str, value: Value) -> bytes:
    message = _field(1, name.encode())
    if isinstance(value, float):
        return message + b"\x15" + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return message + _number(3, value) + _number(20, 2)
    return message + b"".join(_number(8, number) for number in value) + _number(20, 7)


def _port(name: str, element: int, dims: list[int | str]) -> bytes:
    sizes = b"".join(
        _field(1, _number(1, dim) if isinstance(dim, int) else _field(2, dim.encode()))
        for dim in dims
    )
    tensor = _number(1, element) + _field(2, sizes)
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, message: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(message)) + message


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value & (1 << 64) - 1)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _tensors(source: bytes) -> Iterator[tuple[str, _Tensor]]:
    """Walk the initializers of an ONNX file without reading their numbers."""
    (graph,) = [place for number, place in _fields(source, 0, len(source)) if number == 7]
    for number, (start, end) in _fields(source, *graph):
        if number != 5:
            continue
        dims, name, element, data = [], "", 0, (0, 0)
        for inner, (first, last) in _fields(source, start, end):
            if inner == 1:
                dims += _packed(source, first, last)
            elif inner == 2:
                (element,) = _packed(source, first, last)
            elif inner == 8:
                name = source[first:last].decode()
            elif inner == 9:
                data = (first, last)
        yield name, _Tensor(tuple(dims), element, data[0], data[1] - data[0])


def _fields(source: bytes, at: int, end: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Give number and place of each field; of a number field, the place of its digits."""
    while at < end:
        tag, at = _read_varint(source, at)
        match tag & 7:
            case 0:
                start = at
                _, at = _read_varint(source, at)
            case 1:
                start, at = at, at + 8
            case 2:
                length, start = _read_varint(source, at)
                at = start + length
            case _:
                start, at = at, at + 4
        yield tag >> 3, (start, at)


def _packed(source: bytes, at: int, end: int) -> list[int]:
    values = []
    while at < end:
        value, at = _read_varint(source, at)
        values.append(value)
    return values


def _read_varint(source: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = source[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7


if __name__ == "__main__":
    from gossamer.models import find

    model = find("minilm")
    weights = model.weights.path
    for file, is_fine in (("minilm.graph.onnx", False), ("minilm.question.onnx", True)):
        made = write_graph(weights.read_bytes(), weights.name, is_fine)
        (Path(__file__).parent / "data" / file).write_bytes(made)
