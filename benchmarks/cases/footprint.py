"""What every method takes on disk for the same texts, by part (LEANN's Table 1 and Figure 3)."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import folders, indexes, ours
from benchmarks.baselines import GraphParameters, graph_rivals, leann_design
from benchmarks.baselines.sizes import PARTS, Parts, bytes_under, parts_of
from benchmarks.datasets import Floats, mdn
from benchmarks.metrics import in_child
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.stand_in import StandIn
from gossamer import SlimOptions
from gossamer.embed import load_embedder
from gossamer.index import Index
from gossamer.sync.records import HOT_ENTRY_BYTES

TITLE = "footprint: bytes on disk of every method over RFCs"
# The rivals take this part of what Gossamer takes whole, the slow ones so many chunks of it.
EVERY = 8
MOST_SLOW = scaled(8_000, smoke=300, small=2_000)
# What the paper says LEANN stays below.
BAR_PERCENT = 5.0
NEVER = 1 << 31
HOT_SHARE = 0.1
EDGE_DEGREE = 8
ENGINE_PARTS = {
    "codes": "codes",
    "vectors": "vectors",
    "hot nodes": "vectors",
    "graph": "graph",
    "source graph": "graph",
}
FOLDER_PARTS = {"texts": "text", "hot": "vectors"}
BY_PLACE = "places in your files, read there"
FROM_SERVER = "places in the server's files; texts from it, or pulled too"
IDS_ALONE = "numbers of chunks"


@dataclass(frozen=True)
class Method:
    """What one way to keep chunks takes for `chunks` of them, and what it answers with."""

    name: str
    kind: str  # "ours", "design" (of a paper), "library", "store", "words" or "package" (leann)
    chunks: int
    parts: Parts
    answers_with: str
    has_text: bool = False
    links: float | None = None  # a node, in a graph of our engine
    once: int = 0  # bytes of `rest` that do not grow with the chunks: a codebook, free pages

    def bytes_a_chunk(self, whole: int) -> dict[str, float]:
        """Give the bytes a chunk of each part; what is there once counts for `whole` chunks."""
        once = {"rest": self.once}
        return {
            part: (size - once.get(part, 0)) / self.chunks + once.get(part, 0) / whole
            for part, size in self.parts.items()
        }


@dataclass(frozen=True)
class Corpus:
    """Chunks of some RFCs; vectors of as many other chunks, of MDN, stand in for theirs."""

    path: Path
    files: int
    text_bytes: int
    bodies: list[str]
    vectors: Floats

    def evenly(self, most: int) -> tuple[list[str], Floats]:
        """Give at most so many chunks from all over."""
        count = min(most, len(self.bodies), len(self.vectors))
        places = np.linspace(0, len(self.bodies) - 1, count).astype(int)
        return [self.bodies[place] for place in places], self.vectors[:count]


def run() -> Result:
    """Gossamer over the whole set; it and all rivals over a part."""
    folders.rfc()
    whole = in_child("index_rfc", "stand-in", 0)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        corpus, default = _index_part(scratch)
        methods = [
            default,
            *_ours(corpus, default, scratch),
            *_rivals(corpus, default, whole["chunks"], scratch),
        ]
        versions = _add_leann(corpus, scratch, methods)
    count = whole["chunks"]
    details = {
        "whole": whole,
        "part": {
            "files": corpus.files,
            "chunks": default.chunks,
            "text_bytes": corpus.text_bytes,
            "body_bytes": sum(len(body.encode()) for body in corpus.bodies),
        },
        "dim": int(corpus.vectors.shape[1]),
        "methods": [
            {**asdict(method), "bytes_a_chunk": method.bytes_a_chunk(count)} for method in methods
        ],
    }
    return Result(_rows(whole, corpus, methods), details, versions=dict(versions))


def _rows(whole: dict[str, Any], corpus: Corpus, methods: list[Method]) -> list[Row]:
    sizes = [sum(method.bytes_a_chunk(whole["chunks"]).values()) for method in methods]
    share = 100 * whole["total_bytes"] / whole["text_bytes"]
    part_share = 100 * sum(methods[0].parts.values()) / corpus.text_bytes
    megabytes = whole["text_bytes"] / 1e6, corpus.text_bytes / 1e6
    return [
        Row(f"our folder, % of {megabytes[0]:.0f} MB of text", share, bar=BAR_PERCENT),
        Row(f"our folder, % of a part of {megabytes[1]:.1f} MB", part_share, bar=BAR_PERCENT),
        *(
            Row("bytes a chunk", sizes[0], size, method.name)
            for method, size in zip(methods, sizes, strict=True)
            if method.kind != "ours"
        ),
    ]


def _index_part(scratch: Path) -> tuple[Corpus, Method]:
    path = folders.rfc(EVERY)
    index = _index(path, scratch / "default")
    status = index.status()
    corpus = Corpus(
        path=path,
        files=status.indexed,
        text_bytes=status.text_bytes,
        bodies=indexes.read_bodies(index),
        vectors=mdn().vectors,
    )
    parts = _folder_parts(index, scratch / "default")
    return corpus, Method("Gossamer", "ours", status.chunks, parts, BY_PLACE)


def _index(path: Path, folder: Path, **settings: Any) -> Index:
    """Index files as `gossamer add` does; vectors of noise, on whose values no byte depends."""
    Index.create(folder, model="minilm", **settings)
    index = indexes.open_index(folder, StandIn(load_embedder("minilm"), NEVER))
    index.add_paths([path])
    return index


def _folder_parts(index: Index, folder: Path) -> Parts:
    known = dict.fromkeys(PARTS[:-1], 0)
    for file in folder.glob("vectors-*.gsm"):
        _add(known, _engine_parts(file))
    for part, size in index.status().bytes_by_part.items():
        if part in FOLDER_PARTS:
            known[FOLDER_PARTS[part]] += size
    return parts_of(bytes_under(folder), **known)


def _engine_parts(file: Path) -> Parts:
    known: Parts = {}
    for section, size in ours.section_bytes(file).items():
        if section in ENGINE_PARTS:
            _add(known, {ENGINE_PARTS[section]: size})
    return known


def _add(parts: Parts, others: Parts) -> None:
    for part, size in others.items():
        parts[part] = parts.get(part, 0) + size


def _ours(corpus: Corpus, default: Method, scratch: Path) -> Iterator[Method]:
    count = default.chunks
    hot = round(count * HOT_SHARE) * (2 * corpus.vectors.shape[1] + HOT_ENTRY_BYTES)
    # Half of the budget is filled by an update and the rest by questions: all of it counts.
    filled = {**default.parts, "vectors": hot}
    name = f"Gossamer, hot vectors (room for {HOT_SHARE:.0%})"
    yield Method(name, "ours", count, filled, BY_PLACE)
    options: dict[str, dict[str, Any]] = {
        "Gossamer, texts stored": {"store_text": True},
        "Gossamer, all vectors (f16)": {"keep": "all"},
    }
    for name, settings in options.items():
        folder = scratch / name
        parts = _folder_parts(_index(corpus.path, folder, **settings), folder)
        has_text = "store_text" in settings
        says = "texts, compressed" if has_text else BY_PLACE
        yield Method(name, "ours", count, parts, says, has_text)
    yield from _engines(corpus, default, scratch)


def _engines(corpus: Corpus, default: Method, scratch: Path) -> Iterator[Method]:
    """Graphs need real vectors: their links are as many as neighbors were found."""
    _, vectors = corpus.evenly(len(corpus.bodies))
    catalogue = round(default.parts["rest"] * len(vectors) / default.chunks)
    for scalar, called in (("f16", "f16"), ("i8", "int8")):
        edge = ours.build(
            vectors,
            keep="all",
            graph="slim",
            code_bytes=0,
            scalar=scalar,
            slim=SlimOptions(low_degree0=EDGE_DEGREE),
        )
        size = ours.save_for_edge(edge, scratch / called)
        parts = parts_of(size + catalogue, **_engine_parts(scratch / called))
        yield Method(f"Gossamer, slim edge ({called})", "ours", len(vectors), parts, FROM_SERVER)
    design = leann_design.build(vectors)
    size = ours.save(design, scratch / "design")
    parts = parts_of(size, **_engine_parts(scratch / "design"))
    name = f"LEANN's design, {leann_design.CODE_BYTES} B codes"
    codebook = ours.section_bytes(scratch / "design")["codebook"]
    links = ours.links_per_node(design)
    yield Method(name, "design", len(vectors), parts, IDS_ALONE, links=links, once=codebook)


def _rivals(corpus: Corpus, default: Method, whole: int, scratch: Path) -> Iterator[Method]:
    texts, vectors = corpus.evenly(len(corpus.bodies))
    code_bytes = round(default.parts["codes"] / default.chunks)
    yield from _libraries(vectors, code_bytes, whole, scratch)
    yield from _stores(corpus, texts, vectors, scratch)
    yield from _words(texts, scratch)


def _libraries(vectors: Floats, code_bytes: int, whole: int, scratch: Path) -> Iterator[Method]:
    from benchmarks.baselines import faiss_files

    count = len(vectors)
    parameters = GraphParameters()
    graphs: dict[str, int] = {}
    for rival in graph_rivals(vectors.shape[1], parameters):
        rival.build(vectors, threads=2)
        rival.save(path := scratch / rival.name)
        graphs[rival.name] = bytes_under(path) - vectors.nbytes
        parts = {"vectors": vectors.nbytes, "graph": graphs[rival.name]}
        name = f"{rival.name.removesuffix(' HNSW')} HNSW, M={parameters.max_degree}"
        yield Method(name, "library", count, parts, IDS_ALONE)
        path.unlink()
    parts = faiss_files.inverted_lists(vectors, scratch / "ivf")
    yield Method("faiss IVF, in memory or on disk", "library", count, parts, IDS_ALONE)
    parts = faiss_files.recomputed_lists(whole, vectors.shape[1])
    yield Method("IVF-recompute", "design", whole, parts, IDS_ALONE)
    codes = faiss_files.product_codes(vectors, code_bytes, scratch / "pq")
    for name, parts in (
        (f"faiss PQ, {code_bytes} B", codes),
        (f"faiss HNSW over PQ, {code_bytes} B", {**codes, "graph": graphs["faiss HNSW"]}),
    ):
        yield Method(name, "library", count, parts, IDS_ALONE, once=codes["rest"])


def _stores(corpus: Corpus, texts: list[str], vectors: Floats, scratch: Path) -> Iterator[Method]:
    from benchmarks.baselines import chromadb_store, lancedb_store, sqlite_vec_store

    few, theirs = corpus.evenly(MOST_SLOW)
    chroma = chromadb_store.store(few, theirs, scratch / "chromadb")
    plain, indexed = lancedb_store.store(texts, vectors, scratch / "lancedb")
    for name, count, stored in (
        ("chromadb", len(few), chroma),
        ("lancedb", len(texts), plain),
        ("lancedb, IVF-PQ", len(texts), indexed),
    ):
        yield Method(name, "store", count, stored.parts, "texts", True, once=stored.once)
    parts = sqlite_vec_store.store(vectors, scratch / "sqlite-vec")
    yield Method("sqlite-vec", "store", len(vectors), parts, IDS_ALONE)


def _words(texts: list[str], scratch: Path) -> Iterator[Method]:
    from benchmarks.baselines.bm25s_words import Bm25s
    from benchmarks.baselines.sqlite_fts import SqliteFts

    for rival in (Bm25s(texts, stem=False), SqliteFts(texts, "unicode61")):
        rival.save(path := scratch / rival.name)
        size = bytes_under(path)
        yield Method(f"{rival.name} (BM25)", "words", len(texts), {"words": size}, IDS_ALONE)


def _add_leann(corpus: Corpus, scratch: Path, methods: list[Method]) -> Mapping[str, str]:
    """Add the published package; gives its version, or nothing if it is not installed."""
    from benchmarks.baselines import leann_package

    texts, vectors = corpus.evenly(MOST_SLOW)
    try:
        built = leann_package.store(texts, vectors, scratch / "leann")
    except leann_package.NotInstalled as reason:
        print(f"  leann: {reason}")
        return {}
    for name, parts in built.parts.items():
        methods.append(Method(f"leann, {name}", "package", len(texts), parts, "texts", True))
    return {"leann": built.version}
