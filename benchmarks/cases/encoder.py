"""The default encoder: what a chunk costs, against its bare session and its package's graph."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.metrics import Seconds, best_times
from benchmarks.report import Result, Row
from gossamer.embed import load_embedder
from gossamer.embed.sessions import open_session
from gossamer.embed.workers import usable_cpus
from gossamer.models import find

TITLE = "embedding chunks of 230 tokens, all-MiniLM-L6-v2 on the CPU"
CHUNKS = 48
TOKENS = 230
REPETITIONS = 3
# The pipeline is to reach 90 % of the bare encoder; the embedder itself must leave it room.
BAR = 1.05
COLD_BAR_S = 0.5
COLD = """
import time
from gossamer.embed import load_embedder
start = time.process_time()
load_embedder("minilm").embed_question("when is the lease due")
print(time.process_time() - start)
"""


def run() -> Result:
    """CPU seconds, which other work on the machine does not change; chunks/s for information."""
    model = find("minilm")
    embedder = load_embedder("minilm")
    chunks = make_chunks()
    ids = [one[None] for one in embedder.tokenizer.encode(chunks)]
    assert model.graph is not None
    bare = open_session(model, model.graph.path.read_bytes())
    package = open_session(model, str(model.weights.path))

    def run_bare() -> None:
        with ThreadPoolExecutor(usable_cpus()) as pool:
            list(pool.map(lambda one: bare.run(None, {"input_ids": one}), ids))

    def run_package() -> None:
        for one in ids:
            feed = {"input_ids": one, "attention_mask": one**0, "token_type_ids": one * 0}
            package.run(None, feed)

    works: list[Callable[[], object]] = [lambda: embedder.embed(chunks), run_bare, run_package]
    ours, theirs, float_graph = best_times(works, REPETITIONS)
    rows = [
        Row("CPU ms a chunk", cost(ours), cost(theirs), "bare session", BAR, by_ratio=True),
        Row("CPU ms a chunk", cost(ours), cost(float_graph), "the package's graph"),
        Row(f"chunks/s, {usable_cpus()} cores", CHUNKS / ours.wall),
        Row("CPU s to the first question's vector", cold_seconds(), bar=COLD_BAR_S),
    ]
    lengths = [one.size for one in ids]
    return Result(rows, {"tokens": float(np.mean(lengths)), "chunks": CHUNKS})


def cost(seconds: Seconds) -> float:
    """CPU milliseconds for one chunk."""
    return 1000 * seconds.cpu / CHUNKS


def make_chunks() -> list[str]:
    """Texts of about 230 tokens: words that are one token each, in any order."""
    words = ["the", "river", "ran", "past", "old", "houses", "and", "nobody", "knew", "who", "had"]
    random = np.random.default_rng(0)
    return [" ".join(random.choice(words, TOKENS)) for _ in range(CHUNKS)]


def cold_seconds() -> float:
    """Time a new process until it has a vector, imports of this package not counted."""
    command = [sys.executable, "-c", COLD]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(3)]
    return min(float(run.stdout) for run in runs)
