"""What it costs to embed one chunk again, measured here and now by the default model."""

from functools import cache

import numpy as np

from benchmarks.embedding_cost import embed_batches
from benchmarks.scale import scaled
from benchmarks.text_sets import text_set
from gossamer.embed import load_embedder

CHUNKS = scaled(128, smoke=16, small=64)
WARM_UP = 4


@cache
def chunk_cpu_ms() -> float:
    """CPU milliseconds a chunk of MDN; the model is loaded and warm before."""
    texts = text_set("mdn").texts
    embedder = load_embedder("minilm")
    some = np.linspace(0, len(texts) - 1, CHUNKS).astype(np.int64)
    embed_batches(embedder, texts, [some[:WARM_UP]], WARM_UP)
    return 1000 * embed_batches(embedder, texts, [some], CHUNKS).cpu_s_of(1)
