"""The graph in a file that hnswlib-wasm wrote, as the JSON that mememo loads."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.datasets import Floats

# The header of hnswlib where size_t has 32 bits.
_HEADER = np.dtype(
    [
        ("offset_level0", "<u4"),
        ("most", "<u4"),
        ("count", "<u4"),
        ("element_bytes", "<u4"),
        ("label_at", "<u4"),
        ("data_at", "<u4"),
        ("max_level", "<i4"),
        ("entry", "<u4"),
        ("max_m", "<u4"),
        ("max_m0", "<u4"),
        ("m", "<u4"),
        ("mult", "<f8"),
        ("ef_construction", "<u4"),
    ]
)


@dataclass(frozen=True)
class Links:
    """Neighbors by layer and label; the label to enter at."""

    layers: list[dict[int, list[int]]]
    entry: int


def read_links(path: Path) -> Links:
    """Read all layers of a file."""
    data = path.read_bytes()
    head = np.frombuffer(data, _HEADER, 1)[0]
    count, size = int(head["count"]), int(head["element_bytes"])
    at = _HEADER.itemsize
    elements = np.frombuffer(data, np.uint8, count * size, at).reshape(count, size)
    at += count * size
    labels = _words(elements[:, int(head["label_at"]) : int(head["label_at"]) + 4])[:, 0]
    base = _words(elements[:, : 4 + 4 * int(head["max_m0"])])
    layers = [{int(labels[i]): _listed(base[i], labels) for i in range(count)}]
    layers += [{} for _ in range(int(head["max_level"]))]
    list_bytes = 4 + 4 * int(head["max_m"])
    for i in range(count):
        (length,) = np.frombuffer(data, "<u4", 1, at)
        at += 4
        for level in range(int(length) // list_bytes):
            line = np.frombuffer(data, "<u4", list_bytes // 4, at + level * list_bytes)
            layers[level + 1][int(labels[i])] = _listed(line, labels)
        at += int(length)
    return Links(layers, int(labels[head["entry"]]))


def write_for_mememo(links: Links, vectors: Floats, path: Path) -> None:
    """Write the graph with the distances of its links, which mememo keeps too."""
    layers = []
    for layer in links.layers:
        lines = {}
        for label, neighbors in layer.items():
            distances = 1 - vectors[neighbors] @ vectors[label] if neighbors else []
            pairs = zip(neighbors, distances, strict=True)
            lines[str(label)] = {str(other): round(float(far), 6) for other, far in pairs}
        layers.append(lines)
    head = {"distanceFunctionType": "cosine-normalized", "m": 16, "efConstruction": 100}
    head |= {"mMax0": 32, "ml": 1 / float(np.log(16)), "seed": 100}
    head |= {"useIndexedDB": False, "useDistanceCache": False, "entryPointKey": str(links.entry)}
    path.write_text(json.dumps({**head, "graphLayers": layers}))


def _words(columns: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(columns).view("<u4")


def _listed(line: np.ndarray, labels: np.ndarray) -> list[int]:
    # The upper half of the first word marks deleted elements.
    return [int(label) for label in labels[line[1 : 1 + (int(line[0]) & 0xFFFF)]]]
