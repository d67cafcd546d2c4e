"""Many texts by a model on a GPU, as fast as it goes: the tokenizer's threads and the GPU at once.

The product embeds what a question or a changed file needs. A million chunks would wait for its
care with each of them (lengths checked, progress told), so they are embedded here.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_TOKENS = 256
TEXTS_AT_ONCE = 1024
READY = 4  # batches that are tokenized ahead

Batch = tuple[NDArray[np.int64], NDArray[np.int64]]  # token ids, and which of them are no padding


def embed_bulk(embedder: Any, texts: Sequence[str]) -> NDArray[np.float16]:
    """Embed by the model of a `sentence-transformers:` embedder, texts of like length together."""
    import torch

    model = embedder._model
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    rows = np.empty((len(texts), embedder.dim), np.float16)
    at = 0
    with torch.inference_mode():
        for ids, mask in _tokenized(model.tokenizer.backend_tokenizer, texts, order):
            given = {
                name: torch.from_numpy(array).to(model.device)
                for name, array in (("input_ids", ids), ("attention_mask", mask))
            }
            found = model(given)["sentence_embedding"]
            rows[order[at : at + len(ids)]] = found.to(torch.float16).cpu().numpy()
            at += len(ids)
    return rows


def _tokenized(tokenizer: Any, texts: Sequence[str], order: Sequence[int]) -> Iterator[Batch]:
    """Tokenize ahead of the model, in another thread."""
    tokenizer.enable_truncation(MOST_TOKENS)
    tokenizer.enable_padding()

    def batch(start: int) -> Batch:
        some = [texts[place] for place in order[start : start + TEXTS_AT_ONCE]]
        encoded = tokenizer.encode_batch(some)
        ids = np.array([one.ids for one in encoded], dtype=np.int64)
        return ids, np.array([one.attention_mask for one in encoded], dtype=np.int64)

    starts = range(0, len(order), TEXTS_AT_ONCE)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(batch, start) for start in starts[:READY]]
        for start in starts[READY:]:
            yield waiting.pop(0).result()
            waiting.append(pool.submit(batch, start))
        yield from (one.result() for one in waiting)
