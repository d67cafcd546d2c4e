"""What reading, cutting, encoding and committing cost beside the model's own work."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks import folders
from benchmarks.indexes import create_index, read_chunks, scratch_folder
from benchmarks.metrics import best_times
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer.embed import load_embedder
from gossamer.embed.sessions import open_session
from gossamer.embed.workers import run_each, usable_cpus
from gossamer.index import Index
from gossamer.models import find

TITLE = "`add` against the bare encoder on the same chunks, in turns"
BAR = 0.90
# About 600 chunks of 120 files.
EVERY = scaled(120, smoke=6)
REPETITIONS = scaled(3, smoke=2, small=2)


def run() -> Result:
    """Chunks a second by the clock, and by CPU time, which other work does not change.

    The encoder takes the same texts, all at once. The bare session takes their tokens, and gives
    what is not pooled yet: nothing is left out of it but what no program can save.
    """
    embedder = load_embedder("minilm")
    folder = folders.mdn(EVERY)
    numbers = itertools.count()

    def add() -> Index:
        index = create_index(scratch_folder(f"pipeline-{next(numbers)}"), embedder)
        index.add_paths([folder])
        return index

    texts = read_chunks(add()).texts
    works = [add, lambda: embedder.embed(texts), _bare_work(embedder.tokenizer.encode(texts))]
    ours, *rivals = best_times(works, REPETITIONS)
    count = len(texts)
    rows = [
        Row("chunks/s of `add`", count / ours.wall),
        Row("CPU ms a chunk", 1e3 * ours.cpu / count),
    ]
    for name, rival in zip(("encoder", "bare session"), rivals, strict=True):
        speeds = [(count / ours.wall, count / rival.wall), (count / ours.cpu, count / rival.cpu)]
        for of, (own, theirs) in zip(("s", "CPU s"), speeds, strict=True):
            rows.append(Row(f"chunks a {of}", own, theirs, name, BAR, True, by_ratio=True))
    return Result(rows, {"chunks": count, "cores": usable_cpus(), "repetitions": REPETITIONS})


def _bare_work(ids: Sequence[NDArray[np.int64]]) -> Callable[[], None]:
    """Give what runs tokens through onnxruntime and does nothing else, on all cores."""
    model = find("minilm")
    assert model.graph is not None
    session = open_session(model, model.graph.path.read_bytes())
    longest_first = sorted(range(len(ids)), key=lambda place: -len(ids[place]))

    def work() -> None:
        run_each(
            lambda place: session.run(None, {"input_ids": ids[place][None]}),
            longest_first,
            usable_cpus(),
        )

    return work
