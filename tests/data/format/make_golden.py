"""Make the golden index files of the present format version, with what they must answer.

Run it as `python tests/data/format/make_golden.py`, once for each new version of the format. Files
of earlier versions stay: they were made by the releases that wrote them.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gossamer
from gossamer import Effort, VectorIndex

FOLDER = Path(__file__).parent / "v1"
COUNT = 200
DIM = 16
K = 5
PLENTY = Effort(rerank=COUNT, beam=COUNT, ratio=1.0)

KINDS: dict[str, dict[str, Any]] = {
    "none": {"keep": "none"},
    "hot": {"keep": "hot:1600B", "graph": "full"},
    "all-full": {"keep": "all", "graph": "full", "scalar": "f32"},
    "hub": {"keep": "none", "graph": "hub", "metric": "cosine"},
    "slim-source": {"keep": "all", "graph": "slim", "keep_source": True, "code_bytes": 6},
    "shared-codebook": {"keep": "none", "graph": "slim"},
    "deletions": {"keep": "all", "graph": "full", "metric": "l2", "scalar": "i8"},
    "coarse": {"keep": "none", "metric": "cosine"},
}


def main() -> None:
    """Write a file for each kind, and one with their answers."""
    vectors, queries = make_vectors(COUNT, 1), make_vectors(8, 2)
    np.savez_compressed(FOLDER / "vectors.npz", vectors=vectors, queries=queries)
    answers = {}
    for name, options in KINDS.items():
        index = build(name, options, vectors)
        path = FOLDER / f"{name}.gossamer"
        index.save(path, with_codebook=name != "shared-codebook")
        if name == "shared-codebook" and index.codebook is not None:
            (FOLDER / "shared.codebook").write_bytes(index.codebook.to_bytes())
        answers[name] = answers_of(index, vectors, queries)
    lines = ",\n".join(f'"{name}": {json.dumps(answer)}' for name, answer in answers.items())
    (FOLDER / "answers.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def make_vectors(count: int, seed: int) -> NDArray[np.float16]:
    """Unit vectors in clusters, in half precision so that the file is small."""
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(0).normal(size=(8, DIM))
    rows = centers[random.integers(0, 8, count)] + 0.5 * random.normal(size=(count, DIM))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)


def build(name: str, options: dict[str, Any], vectors: NDArray[np.float16]) -> VectorIndex:
    """Build one kind; the later ones have a history or ids of their own."""
    options = {"code_bytes": 6, "threads": 1, "max_degree": 8, **options}
    if name == "coarse":
        options["codebook"] = gossamer.train_codebook(vectors, 8, "cosine", coarse=10)
        options["ids"] = np.arange(COUNT) * 10**10 + 7
    if name != "deletions":
        return VectorIndex.build(vectors, **options)
    index = VectorIndex.build(vectors[:150], **options)
    index.delete(np.arange(0, 150, 5))
    index.add(vectors[150:], np.arange(150, COUNT))
    return index


def answers_of(
    index: VectorIndex, vectors: NDArray[np.float16], queries: NDArray[np.float16]
) -> dict[str, Any]:
    """Answer every strategy with all the effort there is, and say what the index holds."""
    stats = index.stats()
    rows = {id: row for row, id in enumerate(range(COUNT))}
    if stats.count == COUNT and index.ids.max() >= COUNT:
        rows = {row * 10**10 + 7: row for row in range(COUNT)}
    found = index.search(
        queries,
        K,
        effort=PLENTY,
        strategy="exact",
        vectors_of=lambda ids: vectors[[rows[id] for id in ids.tolist()]],
    )
    names = ["count", "deleted", "kept", "metric", "keep", "graph", "levels", "code_bytes"]
    return {
        "ids": found.ids.tolist(),
        "distances": found.distances.round(6).astype(float).tolist(),
        "all_ids": np.sort(index.ids).tolist(),
        "mean_degree": stats.mean_degree,
        "stats": {name: getattr(stats, name) for name in names},
    }


if __name__ == "__main__":
    main()
