"""Make the codebook that ships with all-MiniLM-L6-v2, and measure what it costs.

    python -m benchmarks.train_codebook embed DATA VECTORS     texts of DATA as vectors, once
    python -m benchmarks.train_codebook pack VECTORS FILE      train on all, calibrate, write
    python -m benchmarks.train_codebook cost VECTORS           what codes of each length cost
    python -m benchmarks.train_codebook dial VECTORS           is the recall asked for what comes

DATA holds a folder for each corpus (see README.md). Equal vectors give equal bytes. What `cost` and
`dial` say of a corpus they measure with a codebook and a table that have not seen it.
"""

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval import records
from gossamer import VectorIndex, train_codebook
from gossamer._core import make_calibration
from gossamer.embed import Embedder, load_embedder
from gossamer.vectors.codes import Codebook
from gossamer.vectors.model_pack import Calibration, pack_codebook

Floats = NDArray[np.float32]
# For each number of hits: recall, the margin of a scan that reaches it, vectors looked at.
Tables = dict[int, list[tuple[float, float, float]]]

# How many chunks of a corpus are learnt from: none may drown the others.
MOST = {
    "mdn": 14_000,
    "hotpotqa": 9_221,
    "cosqa": 6_267,
    "locomo": 5_882,
    "scifact": 5_183,
    "financebench": 11_000,
    "rfc": 14_000,
}
# Long documents, of which a window or two are taken.
WINDOWS = {"financebench": 1, "rfc": 2}
WINDOW_CHARACTERS = 1_000
CODE_BYTES = 24
SEED = 5

RECALLS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.99)
# What the margin rises by for each e-fold of chunks, as subsamples tell (`dial` shows it).
GROWTH = 0.33
# The number of chunks that the table is for.
COUNT = 10_000
# Which of the margins that the corpora need is taken: wider than most need.
SAFE = 0.7


@dataclass(frozen=True)
class Corpus:
    """Vectors of chunks, and of real questions about them if there are some."""

    name: str
    chunks: Floats
    questions: Floats


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.train_codebook",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", choices=["embed", "pack", "cost", "dial"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("target", type=Path, nargs="?")
    parser.add_argument("--code-bytes", type=int, default=CODE_BYTES)
    given = parser.parse_args()
    if (given.target is None) == (given.step in ("embed", "pack")):
        parser.error("embed and pack take two paths, cost and dial one")
    if given.step == "embed":
        embed(given.folder, given.target)
    elif given.step == "pack":
        write_pack(read_corpora(given.folder), given.code_bytes, given.target)
    elif given.step == "cost":
        print_costs(read_corpora(given.folder))
    else:
        print_dial(read_corpora(given.folder), given.code_bytes)


def embed(data: Path, target: Path) -> None:
    """Write the vectors of every corpus, and of its questions, as 16-bit floats."""
    target.mkdir(parents=True, exist_ok=True)
    embedder = load_embedder("minilm")
    for name in MOST:
        texts = list(texts_of(data / name))
        np.save(target / f"{name}.npy", embedder.embed(_cut(texts, embedder)).astype(np.float16))
        path = data / name / "queries.jsonl.zst"
        questions = [record["text"] for record in records(path)] if path.exists() else []
        vectors = [embedder.embed_question(question) for question in questions]
        rows = np.array(vectors, dtype=np.float16).reshape(-1, embedder.dim)
        np.save(target / f"{name}-questions.npy", rows)
        print(f"{name}: {len(texts)} chunks, {len(questions)} questions")


def texts_of(folder: Path) -> Iterator[str]:
    """What is embedded of a corpus: its chunks, its documents, or windows of long ones."""
    chunks = folder / "chunks.jsonl.zst"
    draw = random.Random(SEED)
    for record in records(chunks if chunks.exists() else folder / "corpus.jsonl.zst"):
        if folder.name in WINDOWS:
            for _ in range(WINDOWS[folder.name]):
                yield _window(record["text"], draw)
        else:
            yield ". ".join(filter(None, [record.get("title", ""), record["text"]]))


def read_corpora(folder: Path) -> list[Corpus]:
    """Read what `embed` wrote."""
    return [
        Corpus(
            name,
            np.load(folder / f"{name}.npy").astype(np.float32),
            np.load(folder / f"{name}-questions.npy").astype(np.float32),
        )
        for name in MOST
    ]


def write_pack(corpora: list[Corpus], code_bytes: int, target: Path) -> None:
    """Train on everything, calibrate by corpora that were left out, and write the file."""
    calibration = to_calibration(choose_margins(needs_of(corpora, code_bytes)))
    pack = pack_codebook(train(corpora, code_bytes), calibration)
    target.write_bytes(pack)
    print(f"{target}: {len(pack):,} bytes")


def print_costs(corpora: list[Corpus]) -> None:
    """Print the vectors looked at by codes of each length, trained on others and on its own."""
    asked = ((3, 0.9), (3, 0.95), (10, 0.9))
    print(f"corpus, chunks, bytes, trained on: vectors looked at for k and recall of {asked}")
    for corpus in with_questions(corpora):
        for code_bytes in (16, 20, 24, 28, 32):
            own = train_codebook(corpus.chunks, code_bytes, seed=SEED)
            others = train(corpora, code_bytes, without=corpus.name)
            for trained_on, codebook in (("others", others), ("its own", own)):
                needs = measure(corpus, codebook)
                costs = [
                    cost_at(needs[k], recall) for k, recall in ((3, 0.9), (3, 0.95), (10, 0.9))
                ]
                print(corpus.name, len(corpus.chunks), code_bytes, trained_on, np.round(costs, 1))


def print_dial(corpora: list[Corpus], code_bytes: int) -> None:
    """Print the recall that is reached, and the vectors looked at, by what other corpora need."""
    needs = needs_of(corpora, code_bytes)
    print("corpus, chunks, k, asked: reached, vectors looked at")
    for corpus in with_questions(corpora):
        others = {name: value for name, value in needs.items() if name != corpus.name}
        calibration = to_calibration(choose_margins(others))
        codebook = train(corpora, code_bytes, without=corpus.name)
        for part in subsamples(corpus):
            index = VectorIndex.build(part.chunks, keep="all", codebook=codebook, calibrate=False)
            index.calibration = calibration
            for k in (1, 3, 5, 10, 20, 50):
                truth = index.search(part.questions, k, strategy="exact", threads=0)
                for recall in (0.85, 0.9, 0.95, 0.98):
                    found = index.search(
                        part.questions, k, recall=recall, strategy="scan", threads=0
                    )
                    reached = (found.distances <= truth.distances[:, -1:]).mean()
                    looked_at = found.stats.distances / len(part.questions)
                    print(
                        f"{part.name} {len(part.chunks)} {k} {recall}: "
                        f"{reached:.3f} {looked_at:.1f}"
                    )


def with_questions(corpora: list[Corpus]) -> list[Corpus]:
    """Leave out corpora that nobody asked anything."""
    return [corpus for corpus in corpora if len(corpus.questions)]


def subsamples(corpus: Corpus) -> list[Corpus]:
    """A corpus, and a small part of it where it is large."""
    parts = [corpus]
    if len(corpus.chunks) > 2 * COUNT:
        draw = np.random.default_rng(SEED).permutation(len(corpus.chunks))
        parts += [
            Corpus(corpus.name, corpus.chunks[np.sort(draw[:count])], corpus.questions)
            for count in (20_000, 7_500, 2_000)
        ]
    return parts


def train(corpora: list[Corpus], code_bytes: int, without: str = "") -> Codebook:
    """Train on all corpora but one."""
    draw = np.random.default_rng(SEED)
    parts = []
    for corpus in corpora:
        chosen = np.sort(draw.permutation(len(corpus.chunks))[: MOST[corpus.name]])
        if corpus.name != without:
            parts.append(corpus.chunks[chosen])
    return train_codebook(np.concatenate(parts), code_bytes, seed=SEED)


def needs_of(corpora: list[Corpus], code_bytes: int) -> dict[str, tuple[int, Tables]]:
    """The number of chunks and what its questions need, for each corpus, left out of training."""
    return {
        corpus.name: (
            len(corpus.chunks),
            measure(corpus, train(corpora, code_bytes, without=corpus.name)),
        )
        for corpus in with_questions(corpora)
    }


def measure(corpus: Corpus, codebook: Codebook) -> Tables:
    """What each recall costs the questions of a corpus."""
    index = VectorIndex.build(
        corpus.chunks, keep="all", codebook=codebook, calibration_queries=corpus.questions
    )
    assert index.calibration is not None
    return dict(index.calibration.scan_tables())


def choose_margins(needs: dict[str, tuple[int, Tables]]) -> Tables:
    """Choose margins that nearly every corpus is served by, as if all had COUNT chunks."""
    chosen: Tables = {}
    for k in next(iter(needs.values()))[1]:
        rows: list[tuple[float, float, float]] = []
        for recall in RECALLS:
            margins = [margin_at(table[k], recall) - growth(n) for n, table in needs.values()]
            margin = max(float(np.quantile(margins, SAFE)), rows[-1][1] if rows else -1.0)
            costs = [cost_of(table[k], margin + growth(n)) for n, table in needs.values()]
            rows.append((recall, margin, float(np.mean(costs))))
        chosen[k] = rows
    return chosen


def growth(count: int) -> float:
    """How much wider a margin is needed among `count` chunks than among COUNT."""
    return GROWTH * float(np.log(count / COUNT))


def to_calibration(tables: Tables) -> Calibration:
    """Put tables into what an index takes."""
    return make_calibration(list(tables.items()), COUNT, GROWTH)


def margin_at(rows: list[tuple[float, float, float]], recall: float) -> float:
    """Give the margin that reaches a recall."""
    return _interpolate(rows, recall, 0, 1)


def cost_at(rows: list[tuple[float, float, float]], recall: float) -> float:
    """Give the vectors looked at to reach a recall."""
    return _interpolate(rows, recall, 0, 2)


def cost_of(rows: list[tuple[float, float, float]], margin: float) -> float:
    """Give the vectors looked at with a margin."""
    return _interpolate(rows, margin, 1, 2)


def _interpolate(
    rows: list[tuple[float, float, float]], at: float, known: int, wanted: int
) -> float:
    columns = np.array(rows)
    return float(np.interp(at, columns[:, known], columns[:, wanted]))


def _window(text: str, draw: random.Random) -> str:
    start = draw.randrange(max(1, len(text) - WINDOW_CHARACTERS))
    return text[text.rfind("\n", 0, start) + 1 :][:WINDOW_CHARACTERS]


def _cut(texts: list[str], embedder: Embedder) -> list[str]:
    """Cut off what a model could not take: for training a codebook the rest does not matter."""
    return [_cut_one(text, embedder) for text in texts]


def _cut_one(text: str, embedder: Embedder) -> str:
    data = text.encode()
    starts = embedder.tokenizer.token_starts(data)
    if len(starts) <= embedder.max_tokens:
        return text
    # Cutting a word changes its tokens, rarely to more of them; a few are left free for that.
    return data[: starts[embedder.max_tokens - 8]].decode(errors="ignore")


if __name__ == "__main__":
    main()
