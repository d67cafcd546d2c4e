"""Tasks that must run in a process of their own, because they measure its memory.

`python -m benchmarks.child TASK ARGUMENT...` prints one line of JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.datasets import mdn, mdn_parts
from benchmarks.metrics import peak_bytes, reset_peak, resident_bytes


def open_ours(path: str) -> dict[str, Any]:
    """Open a saved index and do nothing else."""
    from benchmarks import ours

    before = resident_bytes()
    start = time.perf_counter()
    index = ours.open_index(Path(path))
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "grown": resident_bytes() - before, "nodes": len(index)}


def search_ours(path: str) -> dict[str, Any]:
    """What a saved index takes more in memory once its graph was walked all over.

    Scans come first, so that codes and everything else are resident before. One query at a time:
    a batch would add the scratch memory of all its searches.
    """
    from benchmarks import ours

    data = mdn()
    index = ours.open_index(Path(path))
    before = 0
    for strategy in ("scan", "walk"):
        before = resident_bytes() if strategy == "walk" else before
        for query in data.queries:
            ours.search(index, query[None], 10, vectors=data.vectors, strategy=strategy, effort=100)
    return {"grown": resident_bytes() - before}


def load_hnswlib(path: str) -> dict[str, Any]:
    """Load hnswlib's file; what it takes beyond the vectors themselves."""
    from benchmarks.baselines import GraphParameters
    from benchmarks.baselines.hnswlib_hnsw import HnswlibHnsw

    before = resident_bytes()
    rival = HnswlibHnsw(384, GraphParameters())
    rival.load(Path(path))
    return {"grown": resident_bytes() - before}


def build_bounded(count: str, memory: str, path: str) -> dict[str, Any]:
    """Build from `count` streamed vectors within `memory` bytes (0: no limit); give the peak."""
    from benchmarks import ours, streams

    stream = streams.Stream(mdn_parts(), int(count))
    before = resident_bytes()
    reset_peak()
    start = time.perf_counter()
    index = streams.build_bounded(stream, int(memory) or None)
    seconds = time.perf_counter() - start
    peak = peak_bytes() - before
    ours.save(index, Path(path))
    return {"seconds": seconds, "peak": peak}


def build_sharded(count: str, assignment: str, shards: str, folder: str) -> dict[str, Any]:
    """Build from `count` streamed vectors in so many shards; save both graphs, give the peak."""
    from benchmarks import our_graphs, ours, streams

    stream = streams.Stream(mdn_parts(), int(count))
    before = resident_bytes()
    reset_peak()
    start = time.perf_counter()
    built = our_graphs.build_sharded(stream, our_graphs.HOMES[assignment](stream, int(shards)))
    seconds = time.perf_counter() - start
    peak = peak_bytes() - before
    for kind, index in built.indexes.items():
        ours.save(index, Path(folder) / f"{assignment}-{kind}")
    return {"seconds": seconds, "peak": peak, "held": built.held}


def index_rfc(embedding: str, seconds: str) -> dict[str, Any]:
    """Index the RFCs in this process: its peak, and what the folder holds.

    `embedding` is "real", or "stand-in" for noise; it ends after `seconds` (0: when all is done).
    """
    from benchmarks import folders, indexes
    from benchmarks.stand_in import StandIn
    from gossamer.embed import load_embedder

    class Enough(Exception):  # noqa: N818 - nothing is wrong
        pass

    chunks = 0

    def watch(progress: Any) -> None:
        nonlocal chunks
        chunks = progress.chunks_embedded
        if int(seconds) and time.perf_counter() - start > int(seconds):
            raise Enough

    corpus = folders.rfc()
    embedder = load_embedder("minilm")
    index = indexes.create_index(
        indexes.scratch_folder("rfc"), StandIn(embedder) if embedding == "stand-in" else embedder
    )
    start = time.perf_counter()
    with suppress(Enough):
        index.add_paths([corpus], progress=watch)
    took = time.perf_counter() - start
    peak = peak_bytes()
    status = index.status()
    return {
        "seconds": took,
        "peak": peak,
        "chunks": chunks,
        "files": status.indexed,
        "total_bytes": status.total_bytes,
        "text_bytes": status.text_bytes,
        "bytes_by_part": dict(status.bytes_by_part),
    }


def ask_first(folder: str) -> dict[str, Any]:
    """Open an index and ask it a question; the model is in memory by then."""
    from benchmarks import indexes
    from benchmarks.made_up import made_up_text
    from gossamer.embed import load_embedder

    embedder = load_embedder("pocket")
    embedder.embed_question("loads what is loaded late")
    question = made_up_text(5)
    before = resident_bytes()
    start = time.perf_counter()
    index = indexes.open_index(Path(folder), embedder)
    hits = index.search(question, mode="semantic")
    seconds = time.perf_counter() - start
    grown = resident_bytes() - before
    return {"seconds": seconds, "grown": grown, "embedded": hits.explanation.chunks_embedded}


def add_many(folder: str, count: str) -> dict[str, Any]:
    """Add made-up texts in one call: what memory grows by beside the caller's list."""
    from benchmarks.made_up import made_up_texts
    from gossamer.index import Index

    index = Index.create(folder, model="pocket")
    index.add_texts([{"id": "warm", "text": "loads the model"}])
    texts = made_up_texts(int(count))
    before = resident_bytes()
    reset_peak()
    start = time.perf_counter()
    index.add_texts(texts)
    return {"seconds": time.perf_counter() - start, "grown": peak_bytes() - before}


def update_long(deletions: str, count: str) -> dict[str, Any]:
    """Memory of a server's index under a long run of updates, and what it says it takes."""
    from benchmarks import ours
    from benchmarks.churn import Churn

    vectors = mdn().vectors[: int(count)]
    before = resident_bytes()
    churn = Churn(vectors, float(deletions))
    churn.index.track()
    looks = []
    for batch in churn.run():
        churn.index.take_delta()
        if batch.number % 10 == 0:
            grown = resident_bytes() - before
            counted = ours.counted_bytes(churn.index)
            looks.append({"batch": batch.number, "grown": grown, "counted": counted})
    return {"looks": looks}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    task.__name__: task
    for task in (
        open_ours,
        search_ours,
        load_hnswlib,
        build_bounded,
        build_sharded,
        index_rfc,
        ask_first,
        add_many,
        update_long,
    )
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
