"""Make the model file `pocket` out of potion-base-8M, and measure what the squeezing costs.

    python -m benchmarks.make_pocket table DATA FILE     squeeze the table of tokens
    python -m benchmarks.make_pocket codes DATA FILE     train and add the codebook of its vectors
    python -m benchmarks.make_pocket quality FILE        answers against those of potion itself
    python -m benchmarks.make_pocket recall DATA FILE    recall on MDN, and vectors looked at

DATA holds a folder for each corpus (see README.md); potion must be here (`gossamer models get
potion`). Tokens are turned and cut into pieces of four values, and each piece is replaced by the
nearest of 256: see docs/decisions/0015-pocket-model.md.
"""

import argparse
import hashlib
import json
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import train_codebook
from benchmarks.datasets import exact_nearest
from benchmarks.retrieval import SETS, ndcg, records, retrieval
from gossamer import VectorIndex, models
from gossamer._core import StaticModel
from gossamer.embed import load_embedder
from gossamer.embed.safetensors import read_tensors
from gossamer.files import map_file
from gossamer.single.container import Container, Section, container_parts
from gossamer.text.tokenizer import WordPiece
from gossamer.vectors.model_pack import pack_codebook, unpack_codebook

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

CODEBOOK, CALIBRATION, MODEL, VOCABULARY, TABLE = 2, 10, 40, 41, 42
ORDER = (MODEL, VOCABULARY, TABLE, CALIBRATION, CODEBOOK)
PIECES = 64
CENTROIDS = 256
ROUNDS = 15
SEED = 5
MAX_TOKENS = 512
CODE_BYTES = 24
LONG_PIECE = 15
MOST_SHARED = 15


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.make_pocket",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", choices=["table", "codes", "quality", "recall"])
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--code-bytes", type=int, default=CODE_BYTES)
    given = parser.parse_args()
    if len(given.paths) != (1 if given.step == "quality" else 2):
        parser.error("quality takes the model file, the others DATA and the model file")
    if given.step == "table":
        write_table(*given.paths)
    elif given.step == "codes":
        add_codebook(*given.paths, given.code_bytes)
    elif given.step == "quality":
        print_quality(*given.paths)
    else:
        print_recall(*given.paths)


def write_table(data: Path, target: Path) -> None:
    """Squeeze potion's table into a model file without a codebook."""
    potion = models.find("potion")
    (table,) = read_tensors(potion.weights.path).values()
    tokenizer = WordPiece(potion.tokenizer.path.read_bytes())
    pieces = potion.tokenizer.path.read_bytes().rstrip(b"\n").split(b"\n")
    counts = count_tokens(data, tokenizer)
    weights, centroids, codes = squeeze(np.array(table, np.float32), counts)
    weights[tokenizer.id_of("[UNK]")] = 0
    order = sorted(range(len(pieces)), key=lambda token: pieces[token])
    vocabulary = front_code([pieces[token] for token in order])
    head = struct.pack("<IIII", len(order), table.shape[1], PIECES, MAX_TOKENS)
    rows = head + weights[order].tobytes() + centroids.tobytes() + codes[order].tobytes()
    description = {
        "name": "pocket",
        "fingerprint": hashlib.sha256(vocabulary + rows).hexdigest(),
        "dim": int(table.shape[1]),
        "max_tokens": MAX_TOKENS,
        "chunk_tokens": MAX_TOKENS,
        "drops_unknown": True,
        "licence": potion.licence,
    }
    sections = {MODEL: json.dumps(description).encode(), VOCABULARY: vocabulary, TABLE: rows}
    write_sections(target, {kind: as_bytes(part) for kind, part in sections.items()})


def count_tokens(data: Path, tokenizer: WordPiece) -> Floats:
    """How often each token stands in the texts that codebooks are trained on."""
    counts = np.zeros(tokenizer.size, np.int64)
    for name in train_codebook.MOST:
        texts = list(train_codebook.texts_of(data / name))
        for ids in tokenizer.encode(texts, special_tokens=False, threads=0):
            counts += np.bincount(ids, minlength=tokenizer.size)
    return counts.astype(np.float32)


def squeeze(table: Floats, counts: Floats) -> tuple[Bytes, NDArray[np.int8], Bytes]:
    """Give a weight for each token, the values of pieces, and the pieces of each token.

    A token counts by its length, and by the square root of how often it is met.
    """
    lengths = np.linalg.norm(table, axis=1)
    shares = np.sqrt(counts + 1) * lengths**2
    shares /= shares.sum()
    turned = turn(table / lengths[:, None], shares)
    width = table.shape[1] // PIECES
    parts = [np.ascontiguousarray(turned[:, at : at + width]) for at in range(0, 256, width)]
    centers = [train_centers(part, shares) for part in parts]
    scale = 127 / max(np.abs(center).max() for center in centers)
    whole = [np.round(center * scale) for center in centers]
    codes = [nearest(part * scale, center) for part, center in zip(parts, whole, strict=True)]
    rows = np.hstack([center[code] for center, code in zip(whole, codes, strict=True)])
    # The weight that brings the token's row nearest to what it was.
    fitted = lengths * (rows * turned).sum(axis=1) / (rows**2).sum(axis=1)
    weights = np.clip(np.round(fitted / fitted.max() * 255), 1, 255).astype(np.uint8)
    centroids = np.concatenate([center.astype(np.int8).ravel() for center in whole])
    return weights, centroids, np.stack(codes, axis=1).astype(np.uint8)


def turn(rows: Floats, shares: Floats) -> Floats:
    """Turn rows so that their pieces are independent and hold equally much."""
    axes, strengths, _ = np.linalg.svd(rows.T @ (rows * shares[:, None]))
    members: list[list[int]] = [[] for _ in range(PIECES)]
    held = np.zeros(PIECES)
    for axis, strength in enumerate(strengths):
        free = [piece for piece in range(PIECES) if len(members[piece]) < len(strengths) // PIECES]
        piece = min(free, key=lambda piece: held[piece])
        members[piece].append(axis)
        held[piece] += np.log(strength / strengths[-1])
    turned: Floats = rows @ axes[:, [axis for piece in members for axis in piece]]
    return turned


def train_centers(rows: Floats, shares: Floats) -> Floats:
    """Find CENTROIDS points that stand for rows which count by their shares (k-means)."""
    draw = np.random.default_rng(SEED)
    centers = rows[draw.choice(len(rows), CENTROIDS, replace=False, p=shares / shares.sum())]
    for _ in range(ROUNDS):
        chosen = nearest(rows, centers)
        total = np.bincount(chosen, shares, minlength=CENTROIDS)
        sums = [np.bincount(chosen, shares * column, minlength=CENTROIDS) for column in rows.T]
        is_used = total > 0
        centers[is_used] = (np.stack(sums, axis=1)[is_used] / total[is_used, None]).astype(
            np.float32
        )
    return centers


def nearest(rows: Floats, centers: Floats) -> NDArray[np.int64]:
    """Give the nearest center of each row."""
    likeness = rows @ centers.T - (centers**2).sum(axis=1) / 2
    chosen: NDArray[np.int64] = np.argmax(likeness, axis=1)
    return chosen


def front_code(pieces: list[bytes]) -> bytes:
    """Write sorted pieces, each by what it does not share with the one before."""
    out = bytearray(struct.pack("<I", len(pieces)))
    before = b""
    for piece in pieces:
        shared = 0
        most = min(len(piece), len(before), MOST_SHARED)
        while shared < most and piece[shared] == before[shared]:
            shared += 1
        rest = piece[shared:]
        out.append(shared << 4 | min(len(rest), LONG_PIECE))
        if len(rest) >= LONG_PIECE:
            out.append(len(rest))
        out += rest
        before = piece
    return bytes(out)


def add_codebook(data: Path, target: Path, code_bytes: int) -> None:
    """Train a codebook for the model's vectors, and calibrate it by corpora that were left out."""
    corpora = embed_corpora(data, StaticModel(target.read_bytes()))
    needs = train_codebook.needs_of(corpora, code_bytes)
    calibration = train_codebook.to_calibration(train_codebook.choose_margins(needs))
    pack = pack_codebook(train_codebook.train(corpora, code_bytes), calibration)
    model, codes = Container(map_file(target)), Container(as_bytes(pack))
    sections = {kind: model.section(kind).copy() for kind in (MODEL, VOCABULARY, TABLE)}
    sections |= {kind: codes.section(kind) for kind in (CALIBRATION, CODEBOOK)}
    write_sections(target, sections)


def embed_corpora(data: Path, model: StaticModel) -> list[train_codebook.Corpus]:
    """Embed the texts and the questions of every corpus."""
    corpora = []
    for name in train_codebook.MOST:
        texts = [text.encode() for text in train_codebook.texts_of(data / name)]
        path = data / name / "queries.jsonl.zst"
        asked = [one["text"].encode() for one in records(path)] if path.exists() else []
        rows, _ = model.embed(texts, 0)
        questions, _ = model.embed(asked, 0)
        corpora.append(train_codebook.Corpus(name, rows, questions))
    return corpora


def print_quality(target: Path) -> None:
    """Print nDCG@10 of exact search on the judged sets, with potion and with the file."""
    potion = load_embedder("potion")
    model = StaticModel(target.read_bytes())
    for name in SETS:
        given = retrieval(name)
        scores = []
        for embed in (
            lambda texts: np.stack([potion.embed_question(text) for text in texts]),
            lambda texts: model.embed([text.encode() for text in texts], 0)[0],
        ):
            found = exact_nearest(embed(given.texts), embed(given.questions), 10, "ip")
            scores.append(ndcg(found.tolist(), given.grades))
        print(f"{name}: potion {scores[0]:.4f}, {target.name} {scores[1]:.4f}")


def print_recall(data: Path, target: Path) -> None:
    """Print what searches by the file's codes reach on all chunks of MDN, and what they ask for."""
    codebook, calibration = unpack_codebook(target.read_bytes())
    (corpus,) = (
        one for one in embed_corpora(data, StaticModel(target.read_bytes())) if one.name == "mdn"
    )
    index = VectorIndex.build(corpus.chunks, keep="all", codebook=codebook, calibrate=False)
    index.calibration = calibration
    for k in (3, 10):
        truth = index.search(corpus.questions, k, strategy="exact", threads=0)
        for recall in (0.9, 0.95):
            found = index.search(corpus.questions, k, recall=recall, strategy="scan", threads=0)
            reached = (found.distances <= truth.distances[:, -1:]).mean()
            looked_at = found.stats.distances / len(corpus.questions)
            print(f"k={k}, {recall} asked for: {reached:.3f} with {looked_at:.1f} vectors")


def write_sections(target: Path, sections: dict[int, Bytes]) -> None:
    """Write a model file."""
    parts = [Section(kind, sections[kind]) for kind in ORDER if kind in sections]
    target.write_bytes(b"".join(bytes(part) for part in container_parts(parts)))
    print(f"{target}: {target.stat().st_size:,} bytes")


def as_bytes(data: bytes) -> Bytes:
    """Look at bytes as numbers."""
    return np.frombuffer(data, np.uint8)


if __name__ == "__main__":
    main()
