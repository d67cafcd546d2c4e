"""Writes what Python embeds, for the tests of the embedders in both: tests/data/embed.json."""

import hashlib
import json
from pathlib import Path

from gossamer.embed import load_embedder
from gossamer.embed.texts import cut_into_pieces
from gossamer.models.records import Model, ModelFile

TARGET = Path(__file__).parent / "data" / "embed.json"

# A text, and how often it is repeated.
TEXTS = (
    ("", 1),
    (" \n\t", 1),
    ("How do I centre a box?", 1),
    ("Größe, naïve café — ÉCOLE, İstanbul ıI ẞ", 1),
    ("東京は日本の首都です。中文搜索", 1),
    ("Привет, мир! Как дела?", 1),
    ("مرحبا بالعالم", 1),
    ("שלום עולם", 1),
    ("हिन्दी में एक वाक्य", 1),
    ("안녕하세요 세계", 1),
    ("สวัสดีชาวโลก", 1),
    ("😀 two 👩‍👩‍👧 🎉", 1),
    ("ﬁ ligature ½ ² e\u0301 \u00ad\u200b", 1),
    ("x\u0000y\ufffdz", 1),
    ("[CLS] special [SEP] [UNK] [MASK]", 1),
    ("def f(x):\n    return x**2  # squares", 1),
    ("a", 150),
    ("The protocol of Zürich, 東京 and Москва: ", 2_500),
    ("again ", 70_000),
)
LONG = "Words of ünequal length, 東京 and antidisestablishmentarianism follow each other. " * 9
PROMPTS = ("query: é\u007f😀 ", "")


def main() -> None:
    """Write the file."""
    embedder = load_embedder("pocket")
    rows = [
        {
            "text": text,
            "times": times,
            "tokens": len(embedder.tokenizer.token_starts((text * times).encode())),
            "sha256": sha256(embedder.embed_question(text * times).tobytes()),
        }
        for text, times in TEXTS
    ]
    pieces = cut_into_pieces(LONG, embedder.tokenizer, 16)
    data = {
        "fingerprint": embedder.fingerprint,
        "rows": rows,
        "long": LONG,
        "pieces": pieces,
        "folder": {"weights": "weights", "vocabulary": "vocabulary", "prompts": PROMPTS},
        "folder_fingerprint": folder_model().fingerprint,
    }
    TARGET.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def folder_model() -> Model:
    """Describe a model whose files hold a word each."""
    return Model(
        name="words",
        kind="onnx",
        folder=Path(),
        weights=ModelFile(Path(), sha256(b"weights")),
        tokenizer=ModelFile(Path(), sha256(b"vocabulary")),
        max_length=128,
        pooling="cls",
        question_prompt=PROMPTS[0],
        text_prompt=PROMPTS[1],
    )


def sha256(data: bytes) -> str:
    """Hash some bytes."""
    return hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    main()
