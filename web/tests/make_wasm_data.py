"""Writes what Python answers, for the tests of the Wasm modules: tests/data/wasm/*.json.

Run it as `python web/tests/make_wasm_data.py` when the golden files or the tokens change.
"""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import Codebook, Effort, VectorIndex
from gossamer.text.tokenizer import WordPiece

FOLDER = Path(__file__).parent / "data" / "wasm"
ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "data" / "format" / "v1"
VOCABULARY = ROOT / "python" / "gossamer" / "models" / "data" / "bert-uncased.vocab.zz"
K = 5
PLENTY = Effort(rerank=200, beam=200, ratio=1.0)
STRATEGIES = ("scan", "walk", "two-level", "best-first", "lazy", "exact")

TEXTS = (
    "The lease ends in May; leases that were renewed end later. getHTTPServer2 and x_axis.",
    "Façade, naïve, ÜBER, Straße, İstanbul — and Ελληνικά ΣΊΣΥΦΟΣ, Привет мир, שלום עולם.",
    "東京都の日本語テキスト。中文分词测试，한국어 문장입니다.",
    "ภาษาไทยไม่มีช่องว่าง និង ខ្មែរ, हिन्दी में लिखा, العربية بدون تشكيل",
    "e\u0301te\u0301 a\u0323\u0307 \u1e69 😀👩‍👩‍👧 \ufffd\x00 [MASK] ##ing [unk] 3.14 sha256Hash",
    "",
)


def main() -> None:
    """Write both files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    stored = np.load(GOLDEN / "vectors.npz")
    vectors, queries = (stored[name].astype(np.float32) for name in ("vectors", "queries"))
    names = sorted(path.stem for path in GOLDEN.glob("*.gossamer"))
    golden = {
        "vectors": packed(vectors),
        "queries": packed(queries),
        "answers": {name: answers_of(name, vectors, queries) for name in names},
    }
    write("golden.json", golden)
    write("text.json", {"texts": TEXTS, "tokens": tokens()})


def write(name: str, value: dict[str, Any]) -> None:
    """Write one file, a line for each part."""
    parts = ",\n".join(
        f'"{key}": {json.dumps(part, ensure_ascii=False)}' for key, part in value.items()
    )
    (FOLDER / name).write_text("{\n" + parts + "\n}\n", encoding="utf-8")


def packed(values: np.ndarray) -> str:
    """Give single-precision numbers as JSON can hold them."""
    return base64.b64encode(values.tobytes()).decode()


def answers_of(name: str, vectors: np.ndarray, queries: np.ndarray) -> dict[str, Any]:
    """Ask a golden file with each strategy that it can serve."""
    codebook = None
    if name == "shared-codebook":
        codebook = Codebook.from_bytes((GOLDEN / "shared.codebook").read_bytes())
    index = VectorIndex.open(GOLDEN / f"{name}.gossamer", codebook=codebook)
    scale = 10**10 if name == "coarse" else 1
    answers: dict[str, Any] = {"ids": index.ids.tolist()}
    has_graph = bool(index.stats().graph)
    for strategy in STRATEGIES if has_graph else ("scan", "exact"):
        found = index.search(
            queries,
            K,
            effort=PLENTY,
            strategy=strategy,
            vectors_of=lambda ids: vectors[ids // scale],
        )
        answers[strategy] = [found.ids.tolist(), found.distances.astype(float).round(7).tolist()]
    return answers


def tokens() -> list[dict[str, Any]]:
    """Give the ids and starts of each text's tokens, lowered and not."""
    vocabulary = zlib.decompress(VOCABULARY.read_bytes())
    found = []
    for is_lowercase in (True, False):
        tokenizer = WordPiece(vocabulary, is_lowercase, frame=())
        found.append(
            {
                "isLowercase": is_lowercase,
                "ids": [ids.tolist() for ids in tokenizer.encode(TEXTS)],
                "starts": [tokenizer.token_starts(text.encode()).tolist() for text in TEXTS],
            }
        )
    return found


if __name__ == "__main__":
    main()
