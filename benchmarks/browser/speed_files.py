"""What the speed page loads: vectors, queries, our indexes over them, and the rivals' graph."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import gossamer
from benchmarks.browser.packages import VERSIONS, WEB, bundle, rivals
from benchmarks.datasets import Dataset, cache_folder
from gossamer.vectors.model_pack import unpack_codebook

DIM = 384
SEED = 1
MAX_DEGREE, BUILD_EFFORT = 16, 100
PACK = Path(gossamer.__file__).parent / "models" / "data" / "minilm.codebook"
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Benchmark</title>
<script type="module" src="page.js"></script></html>
"""


@dataclass(frozen=True)
class Kind:
    """How one of our indexes is built."""

    name: str
    scalar: str
    graph: str = "full"

    def file(self, count: int) -> str:
        """Name its file."""
        return f"{self.name}-{count}.gossamer"


# The first is the one that is judged.
KINDS = (Kind("i8", "i8"), Kind("i8-slim", "i8", "slim"), Kind("f16", "f16"), Kind("f32", "f32"))


def write_site(folder: Path) -> None:
    """Write the page, the package's vectors with their worker and modules, and the rivals."""
    modules = rivals()
    bundle(["bench/page.ts"], folder, modules)
    bundle(["vectors=src/vectors/index.ts", "vectors-worker=src/vectors/host.ts"], folder)
    (folder / "index.html").write_text(_PAGE)
    for module in (WEB / "wasm" / "built").glob("*.wasm"):
        shutil.copy(module, folder)
    shutil.copy(modules / "voy-search" / "voy_search_bg.wasm", folder / "voy.wasm")


def write_data(folder: Path, data: Dataset) -> None:
    """Write vectors and queries as they lie in memory."""
    data.vectors.tofile(folder / vectors_file(len(data.vectors)))
    data.queries.tofile(folder / "queries.f32")


def write_indexes(folder: Path, data: Dataset) -> None:
    """Build ours, from the same vectors, with codes by the codebook that ships."""
    codebook, _ = unpack_codebook(PACK.read_bytes())
    for kind in KINDS:
        index = gossamer.VectorIndex.build(
            data.vectors,
            metric=codebook.metric,
            keep="all",
            graph=kind.graph,
            scalar=kind.scalar,
            codebook=codebook,
            max_degree=MAX_DEGREE,
            build_effort=BUILD_EFFORT,
            seed=SEED,
        )
        index.save(folder / kind.file(len(data.vectors)))


def vectors_file(count: int) -> str:
    """Name the file of so many vectors."""
    return f"vectors-{count}.f32"


def rival_graph(count: int) -> Path:
    """Where hnswlib-wasm's own graph of so many vectors is kept: it takes minutes to build."""
    kept = cache_folder() / "browser"
    kept.mkdir(exist_ok=True)
    return kept / f"hnswlib-wasm-{VERSIONS['hnswlib-wasm']}-m16-ef100-{count}.dat"
