"""Codebooks: how a vector becomes the few bytes that a search looks at first.

Training finds a linear map and, for each piece of the mapped vector, 256 centroids. The map starts
as principal axes, dealt out so that every piece has as much to say, and is then turned until the
pieces fit best (optimized product quantization). For inner product and cosine the axes are first
stretched by how strongly they vary, because what counts is the error of a score, and queries vary
along the same axes as the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer._core import (
    Codebook,
    assign_nearest_two,
    kmeans,
    make_codebook,
    quantize_product,
    train_product,
)
from gossamer.errors import Empty, InvalidArgument
from gossamer.vectors.arrays import check_finite

__all__ = ["Codebook", "default_code_bytes", "train_codebook"]

Floats = NDArray[np.float32]
Progress = Callable[[int, int], Any]

# How far axes are stretched: their variance to this power. Half would be right if queries were
# spread exactly like the data; they are not, and less serves better.
_STRETCH = 0.15
_TURNS = 8
_TURN_SAMPLE = 20_000
_FIRST_ROUNDS = 6
_LAST_ROUNDS = 8
_COARSE_ROUNDS = 10
_COARSE_BYTES = 2
_FEW_ROWS = 1024
_LEAST_MISSED = 0.02
_CORRECTION_BYTES = 1
# How much of what a code misses of a vector, a query that finds it misses too: about half the
# cosine between questions and their answers. Anything from 0.2 to 0.4 does nearly as well.
_CORRELATION = 0.3
_CORRECTION_ROOM = 2.0
_STEPS = _TURNS + 4


@dataclass(frozen=True)
class _Basis:
    """Axes of the data, and how much each is stretched before it is quantized."""

    mean: Floats
    axes: Floats  # dim x dim, one axis a column
    stretch: Floats


def default_code_bytes(dim: int) -> int:
    """Give the length of a code where none is asked for: less for vectors that are short."""
    return min(32, dim + _CORRECTION_BYTES)


def train_codebook(
    vectors: NDArray[Any],
    code_bytes: int = 32,
    metric: str = "ip",
    seed: int = 1,
    threads: int = 0,
    sample: int = 65_536,
    coarse: int = 0,
    progress: Progress | None = None,
) -> Codebook:
    """Train a codebook on at most `sample` of `vectors`, drawn by `seed`.

    A code takes `code_bytes`: one says how much the others miss, and two name a coarse centroid
    if `coarse` (their number) is not 0; those pay from about a million vectors on, and not for
    L2. Few vectors are enough to get a codebook, though not a good one. `progress` is called with
    the steps done and their number.
    """
    _check_arguments(vectors, code_bytes, metric, coarse)
    report = _reporter(progress)
    rows = _draw(vectors, sample, metric, seed)
    stretch = 0.0 if metric == "l2" else _STRETCH
    basis = _find_basis(rows, stretch)
    stretched = (((rows - basis.mean) @ basis.axes) * basis.stretch).astype(np.float32, copy=False)
    report()

    centers, residuals = _take_coarse(stretched, coarse, seed, threads)
    pieces = _piece_count(code_bytes, coarse)
    kept, splits = _deal_axes(residuals, pieces)
    report()

    turned, centroids = _turn(residuals @ kept, splits, seed, threads, report)
    back = kept @ turned
    projected = np.ascontiguousarray(residuals @ back)
    train_product(projected, splits, centroids, _LAST_ROUNDS, seed, threads, is_warm=True)
    report()

    parts: dict[str, Any] = {
        "metric": metric,
        "splits": splits,
        "mean": basis.mean,
        "encode": _rows_of(basis.axes * basis.stretch, back),
        "query": _rows_of(basis.axes / basis.stretch, back) if stretch else None,
        "centroids": centroids,
        "coarse": None if centers is None else np.ascontiguousarray(centers @ back),
    }
    parts |= _measure_errors(rows, projected, parts, threads)
    codebook = make_codebook(**parts, correction=_measure_correction(rows, parts, threads))
    report()
    return codebook


def _check_arguments(vectors: NDArray[Any], code_bytes: int, metric: str, coarse: int) -> None:
    if metric not in ("ip", "cosine", "l2"):
        raise InvalidArgument(f"metric must be 'ip', 'cosine' or 'l2', not {metric!r}")
    if vectors.ndim != 2:
        raise InvalidArgument(
            f"expected a matrix with at least one row, a vector each; got shape {vectors.shape}"
        )
    if not len(vectors):
        raise Empty("a codebook is trained on at least one row; there are none")
    if coarse and metric == "l2":
        raise InvalidArgument(
            "coarse centroids are for inner product and cosine; use coarse=0 for l2"
        )
    if not 0 <= coarse <= 65_536:
        raise InvalidArgument(f"coarse must be between 0 and 65536, not {coarse}")
    pieces = _piece_count(code_bytes, coarse)
    if not 1 <= pieces <= vectors.shape[1] or code_bytes > 64:
        least = code_bytes - pieces + 1
        most = min(64, least - 1 + vectors.shape[1])
        raise InvalidArgument(
            f"code_bytes must be between {least} and {most} here, not {code_bytes}"
        )


def _piece_count(code_bytes: int, coarse: int) -> int:
    return code_bytes - _CORRECTION_BYTES - (_COARSE_BYTES if coarse else 0)


def _reporter(progress: Progress | None) -> Callable[[], None]:
    done = 0

    def report() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, _STEPS)

    return report


def _draw(vectors: NDArray[Any], sample: int, metric: str, seed: int) -> Floats:
    if len(vectors) > sample:
        drawn = np.random.default_rng(seed).choice(len(vectors), sample, replace=False)
        vectors = vectors[np.sort(drawn)]
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    check_finite(rows)
    if metric == "cosine":
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return rows


def _covariance(rows: Floats) -> NDArray[np.float64]:
    """Second moments, drawn towards a ball where there are few rows for so many dimensions."""
    dim = rows.shape[1]
    moments = (rows.T @ rows).astype(np.float64) / len(rows)
    doubt = dim / (dim + 10 * len(rows))
    level = max(np.trace(moments) / dim, 1e-30)
    drawn: NDArray[np.float64] = (1 - doubt) * moments + doubt * level * np.eye(dim)
    return drawn


def _axes_of(rows: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Variances, largest first, and the axes (columns) they belong to."""
    variances, axes = np.linalg.eigh(_covariance(rows))
    variances = np.maximum(variances[::-1], variances[-1] * 1e-9)
    return variances, axes[:, ::-1]


def _find_basis(rows: Floats, stretch: float) -> _Basis:
    mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    variances, axes = _axes_of(rows - mean)
    # No axis is flattened to less than a thousandth: its values must survive half precision.
    factors = np.maximum(variances / variances[0], 1e-6) ** stretch
    return _Basis(mean, axes.astype(np.float32), factors.astype(np.float32))


def _take_coarse(
    rows: Floats, coarse: int, seed: int, threads: int
) -> tuple[Floats | None, Floats]:
    if not coarse:
        return None, rows
    centers = kmeans(rows, coarse, _COARSE_ROUNDS, seed, threads)
    nearest = assign_nearest_two(rows, centers, threads)[:, 0]
    return centers, rows - centers[nearest]


def _deal_axes(rows: Floats, pieces: int) -> tuple[Floats, list[int]]:
    """Choose the axes worth quantizing and deal them out to pieces of equal information.

    The ideal code spends log(variance / level) / 2 on each axis above a water level and nothing
    below it, so axes below are dropped, and each goes to the piece that has the least so far.
    """
    variances, axes = _axes_of(rows)
    bits = np.log2(variances)
    kept = len(bits)
    while kept > pieces and bits[kept - 1] < (bits[:kept].sum() - 16 * pieces) / kept:
        kept -= 1
    worth = np.maximum(bits - (bits[:kept].sum() - 16 * pieces) / kept, 0)
    hands: list[list[int]] = [[] for _ in range(pieces)]
    totals = [0.0] * pieces
    for axis in range(kept):
        piece = min(range(pieces), key=lambda i: (totals[i], len(hands[i]), i))
        hands[piece].append(axis)
        totals[piece] += worth[axis]
    splits = np.cumsum([0, *map(len, hands)]).tolist()
    return axes[:, np.concatenate(hands)].astype(np.float32), splits


def _turn(
    rows: Floats, splits: list[int], seed: int, threads: int, report: Callable[[], None]
) -> tuple[Floats, Floats]:
    """Turn the axes until codes fit best: quantize, then rotate onto what codes stand for."""
    if len(rows) > _TURN_SAMPLE:
        drawn = np.random.default_rng(seed).choice(len(rows), _TURN_SAMPLE, replace=False)
        rows = rows[np.sort(drawn)]
    rows = np.ascontiguousarray(rows)
    rotation = np.eye(rows.shape[1], dtype=np.float32)
    centroids = np.zeros(256 * rows.shape[1], dtype=np.float32)
    train_product(rows, splits, centroids, _FIRST_ROUNDS, seed, threads, is_warm=False)
    turned = rows
    for _ in range(_TURNS):
        quantized = quantize_product(turned, splits, centroids, threads)
        left, _, right = np.linalg.svd((rows.T @ quantized).astype(np.float64))
        rotation = (left @ right).astype(np.float32)
        turned = np.ascontiguousarray(rows @ rotation)
        train_product(turned, splits, centroids, 1, seed, threads, is_warm=True)
        report()
    return rotation, centroids


def _rows_of(axes: Floats, back: Floats) -> Floats:
    return np.ascontiguousarray((axes @ back).T)


def _measure_errors(
    rows: Floats, projected: Floats, parts: dict[str, Any], threads: int
) -> dict[str, Any]:
    """What codes miss, as variances: what an estimate's error is told from later."""
    quantized = quantize_product(projected, parts["splits"], parts["centroids"], threads)
    missed = projected - quantized
    dim, rank = rows.shape[1], projected.shape[1]
    encode, query = parts["encode"], parts["query"]
    centred = rows - parts["mean"]
    dropped = centred - (centred @ encode.T) @ (encode if query is None else query)
    energy = (missed**2).sum(axis=1) + (dropped**2).sum(axis=1)
    rest = float((dropped**2).sum(axis=1).mean() / (dim - rank)) if dim > rank else 0.0
    # So few rows are learnt by heart: of others, codes miss more.
    share = _LEAST_MISSED if len(rows) < _FEW_ROWS else 0.0
    least = share * projected.var(axis=0)
    return {
        "residual_variance": np.maximum((missed**2).mean(axis=0), least),
        "rest_and_energy_variance": (rest, float(energy.var())),
    }


def _measure_correction(
    rows: Floats, parts: dict[str, Any], threads: int
) -> tuple[float, float, float]:
    """Range of the correction byte, and what it is worth to a query of length one."""
    length = float(np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1).mean()))
    is_l2 = parts["metric"] == "l2"
    correlation = _CORRELATION if is_l2 or length == 0 else _CORRELATION / length
    draft = make_codebook(**parts, correction=(0.0, 0.0, correlation))
    missed = draft.corrections(rows, draft.encode(rows, threads), threads)
    low, high = np.quantile(missed, [0.0005, 0.9995])
    # Of other texts than those it was trained on a codebook misses up to twice as much.
    return float(low), float(high - low) * _CORRECTION_ROOM / 255, correlation
