"""The published `leann` package: the folder that its own build makes, vectors given.

Run by the Python of `benchmarks.leann_venv` it builds; imported, it starts that and counts.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import leann_venv
from benchmarks.baselines.sizes import Parts, bytes_under, parts_of, table_bytes
from benchmarks.datasets import REPOSITORY, Floats

TIMEOUT_S = 300
# Its command line builds a graph that can grow; its Python API a compact one.
BUILDS = {"command line's defaults": False, "compact": True}
NAME = "documents.leann"
MODEL = "sentence-transformers/all-MiniLM-L6-v2"


class NotInstalled(Exception):  # noqa: N818 - nothing went wrong
    """Says how to install it."""


@dataclass(frozen=True)
class Built:
    """Bytes by part of each of BUILDS."""

    version: str
    parts: dict[str, Parts]


def store(texts: Sequence[str], vectors: Floats, folder: Path) -> Built:
    """Build its index of these chunks, in each way; raises NotInstalled."""
    python = leann_venv.python()
    if python is None:
        raise NotInstalled(f"not installed; `{leann_venv.MAKE}` does it")
    folder.mkdir()
    (folder / "texts.json").write_text(json.dumps(list(texts)), encoding="utf-8")
    np.save(folder / "vectors.npy", vectors, allow_pickle=False)
    done = subprocess.run(
        [python, "-m", __name__, folder],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    version = done.stdout.splitlines()[-1]
    return Built(version, {name: _parts(folder / name) for name in BUILDS})


def _parts(folder: Path) -> Parts:
    """Its texts are in a file of passages, and again beside the index of their words."""
    words = folder / f"{NAME}.bm25.sqlite"
    tables = table_bytes(words)
    again = sum(size for table, size in tables.items() if table.endswith("_content"))
    return parts_of(
        bytes_under(folder),
        graph=bytes_under(folder / NAME.replace(".leann", ".index")),
        text=bytes_under(folder / f"{NAME}.passages.jsonl") + again,
        words=bytes_under(words) - again,
    )


def _build(folder: Path) -> None:
    """Let its builder do all it does, but for the model's work."""
    from importlib.metadata import version

    import leann.api

    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / "vectors.npy", allow_pickle=False)
    leann.api.compute_embeddings = lambda *_, **__: vectors
    for name, is_compact in BUILDS.items():
        builder = leann.api.LeannBuilder(
            "hnsw", embedding_model=MODEL, dimensions=vectors.shape[1], is_compact=is_compact
        )
        for text in texts:
            builder.add_text(text)
        builder.build_index(str(folder / name / NAME))
    print(version("leann"))


if __name__ == "__main__":
    _build(Path(sys.argv[1]))
