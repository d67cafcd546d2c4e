"""What an edge would take, before it is made; and what to choose so that it fits a budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gossamer import _core
from gossamer.errors import TooLarge
from gossamer.store.codecs import BLOCK_BYTES, USUAL
from gossamer.store.segments import NO_CODES
from gossamer.sync.records import HOT_ENTRY_BYTES, LEAST_DEGREE, Mode, Plan
from gossamer.sync.replica import slim_options
from gossamer.sync.served import Served

__all__ = ["Estimator"]

# Documents that are compressed to learn how small texts become.
_SAMPLE_DOCUMENTS, _SAMPLE_BYTES = 256, 4_000_000
_TEXT_SHARE = 0.4  # where there is nothing to measure
# What a file takes besides its rows, and a node besides its vector.
_FILE_BYTES = 512
_NODE_BYTES = 1.2


class Estimator:
    """Plans edges of an index; how texts compress is measured once for each version."""

    def __init__(self) -> None:
        self._texts: tuple[tuple[str, int], int] | None = None

    def plan(self, served: Served, mode: Mode, texts: str, budget: int | None) -> Plan:
        """Say what an edge takes; with a budget choose what fits.

        Of a slim edge first the vectors shrink, then the graph; then texts stay away. TooLarge,
        with the least that there is, if nothing fits.
        """
        plans = (
            self._plan(served, one, where)
            for where in dict.fromkeys((texts, "away"))
            for one in _smaller(mode)
        )
        if budget is None:
            return next(plans)
        least: Plan | None = None
        for plan in plans:
            if plan.estimate["total"] <= budget:
                return plan
            if least is None or plan.estimate["total"] < least.estimate["total"]:
                least = plan
        assert least is not None, "there is always a plan"
        raise TooLarge(_too_large(served, least, budget, self._plan(served, Mode("codes"), "away")))

    def _plan(self, served: Served, mode: Mode, texts: str) -> Plan:
        manifest = served.manifest
        count, dim = served.catalogue.chunk_count, manifest.model.dim
        vectors, graph = _bytes_of_rows(served), 0
        if mode.kind == "hot":
            vectors += min(mode.hot_bytes, count * (HOT_ENTRY_BYTES + 2 * dim))
        elif mode.kind == "slim":
            vectors = count * dim * (2 if mode.scalar == "f16" else 1)
            graph = _graph_bytes(count, mode.degree)
        parts = {
            "vectors": vectors + int(count * _NODE_BYTES) + _FILE_BYTES,
            "graph": graph,
            "catalogue": served.snapshot.part_bytes()["catalogue"],
            "texts": self._text_bytes(served) if texts == "kept" else 0,
        }
        return Plan(str(mode), texts, {**parts, "total": sum(parts.values())})

    def _text_bytes(self, served: Served) -> int:
        known, state = self._texts, (served.epoch, served.version)
        if known is None or known[0] != state:
            known = self._texts = (state, _measure_texts(served))
        return known[1]


def _smaller(mode: Mode) -> Iterator[Mode]:
    """Give a mode, then smaller ones of its kind, the best first."""
    yield mode
    if mode.kind != "slim":
        return
    for scalar in dict.fromkeys((mode.scalar, "int8")):
        for degree in range(mode.degree, LEAST_DEGREE - 1, -1):
            yield replace(mode, scalar=scalar, degree=degree)


def _bytes_of_rows(served: Served) -> int:
    count, book = served.catalogue.chunk_count, served.codebook
    if book is None:
        return count * 2 * served.manifest.model.dim
    return count * book.code_bytes + len(served.own_pack)


def _graph_bytes(count: int, degree: int) -> int:
    if not count:
        return 0
    parameters, options = _core.SlimParameters(), slim_options(degree)
    for name in ("hub_share0", "hub_degree0", "low_degree0", "hub_share", "hub_degree"):
        setattr(parameters, name, getattr(options, name))
    parameters.low_degree = options.low_degree
    return _core.estimate_slim_bytes(count, parameters).disk_bytes


def _measure_texts(served: Served) -> int:
    """Give the bytes that all texts take in an edge's store, by a sample of them."""
    catalogue = served.catalogue
    total = int(catalogue.text_lengths.sum())
    if not total:
        return 0
    sample, taken = _core.SegmentDraft(NO_CODES, BLOCK_BYTES, USUAL), 0
    for row in range(
        0, catalogue.document_count, max(1, catalogue.document_count // _SAMPLE_DOCUMENTS)
    ):
        if (text := served.text(row)) is not None and taken < _SAMPLE_BYTES:
            sample.add_text(text)
            taken += len(text)
    packed = sum(map(len, sample.finish().parts()))
    return int(total * (packed / taken if taken else _TEXT_SHARE))


def _too_large(served: Served, least: Plan, budget: int, codes: Plan) -> str:
    said = (
        f"{served.catalogue.chunk_count} chunks do not fit into {budget} bytes: an edge of this "
        f"kind takes about {least.estimate['total']} at least ({least.mode}, texts {least.texts})"
    )
    if codes.estimate["total"] <= budget:
        return f"{said}. Codes do, with {codes.estimate['total']}: choose the mode codes"
    if codes.estimate["total"] < least.estimate["total"]:
        return f"{said}. Codes take {codes.estimate['total']}, with texts away"
    return f"{said}. Give it more room, or index less"
