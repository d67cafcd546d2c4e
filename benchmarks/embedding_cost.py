"""What it costs to embed chunks again: of any chunk, and of those that a search asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from benchmarks.datasets import Ids
from benchmarks.metrics import timed
from benchmarks.scale import scaled
from benchmarks.text_sets import text_set
from gossamer.embed import Embedder, load_embedder

# More than this is not handed to the model at once.
AT_ONCE = 64
CHUNKS = scaled(128, smoke=16, small=64)
WARM_UP = 4


@dataclass(frozen=True)
class EmbeddingCost:
    """What was embedded, and how long it took."""

    chunks: int
    wall_s: float
    cpu_s: float
    is_whole: bool  # whether all of it was embedded, not a first part

    def wall_s_of(self, chunks: float) -> float:
        """Give the seconds of so many chunks."""
        return chunks * self.wall_s / self.chunks if self.chunks else 0.0

    def cpu_s_of(self, chunks: float) -> float:
        """Give the CPU seconds of so many chunks."""
        return chunks * self.cpu_s / self.chunks if self.chunks else 0.0


@cache
def chunk_cpu_ms() -> float:
    """CPU milliseconds a chunk of MDN; the model is loaded and warm before."""
    texts = text_set("mdn").texts
    embedder = load_embedder("minilm")
    some = np.linspace(0, len(texts) - 1, CHUNKS).astype(np.int64)
    embed_batches(embedder, texts, [some[:WARM_UP]], WARM_UP)
    return 1000 * embed_batches(embedder, texts, [some], CHUNKS).cpu_s_of(1)


def embed_batches(
    embedder: Embedder, texts: Sequence[str], batches: Iterable[Ids], most: int
) -> EmbeddingCost:
    """Embed the chunks of each batch as a search would; stop once `most` chunks are done."""
    pieces = [
        batch[start : start + AT_ONCE]
        for batch in batches
        for start in range(0, len(batch), AT_ONCE)
    ]
    chunks, wall_s, cpu_s = 0, 0.0, 0.0
    for done, piece in enumerate(pieces):
        if chunks >= most:
            return EmbeddingCost(chunks, wall_s, cpu_s, is_whole=done == len(pieces))
        said = [_fitting(embedder, texts[id]) for id in piece.tolist()]
        seconds = timed(partial(embedder.embed, said))
        chunks += len(said)
        wall_s += seconds.wall
        cpu_s += seconds.cpu
    return EmbeddingCost(chunks, wall_s, cpu_s, is_whole=True)


def _fitting(embedder: Embedder, text: str) -> str:
    """Cut a text to what the model takes: not all sets were made by the product's chunker."""
    while (tokens := len(embedder.tokenizer.encode([text])[0])) > embedder.max_tokens:
        text = text[: int(len(text) * embedder.max_tokens / tokens)]
    return text
