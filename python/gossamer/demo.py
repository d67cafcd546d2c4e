"""Index the sample that comes with the package, search it, show what it costs and gives.

Run it as `python -m gossamer.demo`.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import gossamer

SAMPLE = Path(__file__).parent / "_sample"
HITS = 3
RECALL = 0.90
SHOWN = 6


@dataclass(frozen=True)
class Sample:
    """Chunks and questions: vectors, and text to show."""

    chunks: NDArray[np.float32]
    questions: NDArray[np.float32]
    chunk_texts: list[str]
    question_texts: list[str]


def main() -> None:
    """Build, save, open, search, and print a table."""
    sample = load_sample()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.gossamer"
        gossamer.VectorIndex.build(sample.chunks, metric="ip", keep="none", seed=1).save(path)
        index = gossamer.VectorIndex.open(path)
        # Stands for an embedder: here vectors are looked up, elsewhere made again from text.
        result = index.search(
            sample.questions, HITS, recall=RECALL, vectors_of=lambda ids: sample.chunks[ids]
        )
        truth = exact_nearest(sample)

        show_answers(sample, result.ids)
        # One codebook serves every index of a model, so a small index need not carry it.
        shared = index.save(Path(folder) / "shared.gossamer", with_codebook=False)
        show_bytes(sample, index, path.stat().st_size, shared)
        asked = result.stats.vectors_asked / len(sample.questions)
        print(f"\nrecall@{HITS} against exact search   {recall(result.ids, truth):.3f}", end="")
        print(f"   (asked for {RECALL:.2f})")
        print(f"vectors asked for per question   {asked:.1f} of {len(sample.chunks):,}")


def load_sample() -> Sample:
    """Return the sample the package ships."""
    with np.load(SAMPLE / "vectors.npz", allow_pickle=False) as arrays:
        chunks = arrays["chunks"].astype(np.float32)
        questions = arrays["questions"].astype(np.float32)
    texts = json.loads((SAMPLE / "texts.json").read_text(encoding="utf-8"))
    return Sample(chunks, questions, texts["chunks"], texts["questions"])


def exact_nearest(sample: Sample) -> NDArray[np.int64]:
    """Return the true nearest chunks of each question, by comparing all of them."""
    scores = sample.questions @ sample.chunks.T
    return np.argsort(-scores, axis=1, kind="stable")[:, :HITS]


def recall(found: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """Return the share of the true nearest that were found."""
    return float((found[:, :, None] == truth[:, None, :]).any(axis=1).mean())


def show_answers(sample: Sample, ids: NDArray[np.int64]) -> None:
    """Print some of the questions with the chunk found for each."""
    print(f"{len(sample.chunks):,} chunks of MDN Web Docs, {len(sample.questions)} questions\n")
    for question, hits in list(zip(sample.question_texts, ids, strict=True))[:SHOWN]:
        print(f"  ? {clip(question)}")
        print(f"    {clip(sample.chunk_texts[hits[0]])}\n")


def clip(text: str, width: int = 92) -> str:
    """Return `text` on one line of at most `width` characters."""
    return text if len(text) <= width else text[: width - 2].rstrip() + " …"


def show_bytes(sample: Sample, index: gossamer.VectorIndex, file_bytes: int, shared: int) -> None:
    """Print what the index holds, next to what the vectors alone would take."""
    vector_bytes = sample.chunks.nbytes
    rows = [("f32 vectors, kept elsewhere", vector_bytes)]
    stats = index.stats()
    rows += [("index: codes", stats.codes_bytes), ("index: codebook", stats.codebook_bytes)]
    rows.append(("index: whole file", file_bytes))
    rows.append(("the same, codebook shared", shared))
    print(f"  {'':30}{'bytes':>12}{'per chunk':>12}{'of vectors':>12}")
    for name, count in rows:
        per_chunk = count / len(sample.chunks)
        print(f"  {name:30}{count:>12,}{per_chunk:>12.1f}{count / vector_bytes:>12.1%}")


if __name__ == "__main__":
    main()
