"""An evaluation, top to bottom: truth, searches for each recall, whole searches for each mode."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InvalidArgument, WrongState
from gossamer.evaluate.questions import Question, make_questions
from gossamer.evaluate.records import Evaluation, FoundRow, ModeRow, RecallRow
from gossamer.evaluate.truth import Truth, VectorTable
from gossamer.index import Index
from gossamer.model import IndexModel
from gossamer.progress import ProgressCallback, silent
from gossamer.query.passages import Passages
from gossamer.query.results import Results
from gossamer.query.run import MODES, Query, run_query
from gossamer.store import Snapshot
from gossamer.sync.remote_chunks import remote_chunks_of

__all__ = ["evaluate"]

Floats = NDArray[np.float32]

RECALLS = (0.80, 0.90, 0.95, 0.98)
# Whole searches for each mode, where no question says which file answers it.
_TIMED = 10
_USUAL_RECALL = 0.90


def evaluate(
    index: Index,
    *,
    questions: Sequence[str | Question] | None = None,
    count: int = 50,
    k: int = 3,
    recalls: Sequence[float] = RECALLS,
    max_chunks: int = 5000,
    seed: int = 1,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Measure recall against exact search and the cost of a question, for each recall asked.

    Exact search needs every chunk embedded once; an index of more than `max_chunks` (0: no
    limit) is measured on a random sample of so many. Of the `questions` the first `count` are
    asked; without any, sentences of the index are, and the chunk that one comes from counts
    neither as near nor as found. Nothing is written.
    """
    _check(k, count, max_chunks)
    report = progress or silent
    snapshot, model = index.now()
    if snapshot.vectors is None:
        raise InvalidArgument("the index is empty: add files or texts before evaluating it")
    if snapshot.collection.has_away_texts:
        raise WrongState(
            "texts of this index are kept by its server alone, and all would have to be embedded; "
            "evaluate it there, or an index that was pulled with `--texts kept`"
        )
    embedder = model.embedder
    random = np.random.default_rng(seed)
    table = VectorTable.read(snapshot, embedder, max_chunks, random, report)
    if not len(table.ids):
        raise InvalidArgument("no text of the index can be read any more: add its files again")
    if questions is None:
        asked = make_questions(Passages(snapshot), table.ids, count, random)
    else:
        asked = [Question(one) if isinstance(one, str) else one for one in questions][:count]
    if not asked:
        raise InvalidArgument("there are no questions, nor sentences to make some from")
    truth = Truth(table, asked, np.stack([embedder.embed_question(one.text) for one in asked]), k)
    searches = _Searches(snapshot, table, truth)
    rows = []
    for number, recall in enumerate(recalls):
        report("searching", number, len(recalls))
        rows.append(searches.run(recall))
    modes, found = _search_whole(snapshot, model, asked, k, report)
    status = index.status()
    return Evaluation(
        model=status.model,
        k=k,
        questions=len(asked),
        is_made_from_text=questions is None,
        chunks=snapshot.catalogue.chunk_count,
        compared_chunks=len(table.ids),
        index_bytes=status.total_bytes,
        text_bytes=status.text_bytes,
        rows=tuple(rows),
        modes=modes,
        found=found,
    )


def _check(k: int, count: int, max_chunks: int) -> None:
    if k < 1 or count < 1 or max_chunks < 0:
        raise InvalidArgument(
            "k and count must be at least 1 and max_chunks not negative, "
            f"got {k}, {count} and {max_chunks}"
        )


@dataclass(frozen=True, slots=True)
class _Searches:
    """Searches of the engine, supplied from the table: nothing is embedded again."""

    snapshot: Snapshot
    table: VectorTable
    truth: Truth

    def run(self, recall: float) -> RecallRow:
        """Ask every question for this recall."""
        assert self.snapshot.vectors is not None
        shares, costs = [], []
        for number in range(len(self.truth.questions)):
            session = self.snapshot.vectors.session(
                self.truth.vectors[number],
                self.truth.k,
                recall=recall,
                allow=self.truth.allowed(number, self.snapshot.catalogue.chunk_count),
            )
            session.run(self.table.vectors_of)
            found = session.nearest()
            shares.append(self.truth.share_found(number, found.ids))
            stats = found.stats
            costs.append((stats.vectors_fetched, stats.codes_touched, stats.rounds))
        reached = float(np.mean(shares))
        low, high = _interval(reached, len(shares))
        embedded, codes, rounds = np.array(costs, float).T
        return RecallRow(
            asked=recall,
            reached=reached,
            low=low,
            high=high,
            embedded=float(embedded.mean()),
            embedded_p95=float(np.percentile(embedded, 95)),
            codes_touched=float(codes.mean()),
            rounds=float(rounds.mean()),
        )


def _search_whole(
    snapshot: Snapshot,
    model: IndexModel,
    asked: Sequence[Question],
    k: int,
    report: ProgressCallback,
) -> tuple[tuple[ModeRow, ...], tuple[FoundRow, ...]]:
    """Ask in every mode as a user does, but for what was kept from earlier questions."""
    labelled = [question for question in asked if question.path]
    some = labelled or list(asked[:_TIMED])
    modes, found = [], []
    for place, mode in enumerate(MODES):
        runs: list[tuple[Results, float]] = []
        for number, question in enumerate(some):
            report("asking", place * len(some) + number, len(MODES) * len(some))
            started = time.process_time()
            query = Query(question.text, k, mode, _USUAL_RECALL, is_plain=True)
            remote = remote_chunks_of(snapshot)
            results = run_query(snapshot, model, query, remote, uses_hot=False)
            runs.append((results, (time.process_time() - started) * 1e3))
        modes.append(_mode_row(mode, runs))
        if labelled:
            hits = [_has_file(*pair) for pair in zip(some, runs, strict=True)]
            share = sum(hits) / len(hits)
            found.append(FoundRow(mode, len(hits), share, *_interval(share, len(hits))))
    return tuple(modes), tuple(found)


def _mode_row(mode: str, runs: Sequence[tuple[Results, float]]) -> ModeRow:
    count = len(runs)
    stages: dict[str, float] = {}
    for results, _ in runs:
        for name, ms in results.explanation.stages.items():
            stages[name] = stages.get(name, 0.0) + ms / count
    return ModeRow(
        mode=mode,
        searches=count,
        ms=sum(results.took_ms for results, _ in runs) / count,
        cpu_ms=sum(cpu_ms for _, cpu_ms in runs) / count,
        embedded=sum(results.explanation.chunks_embedded for results, _ in runs) / count,
        stages=stages,
    )


def _has_file(question: Question, run: tuple[Results, float]) -> bool:
    wanted = question.path.replace("\\", "/").removeprefix("./")
    return any(hit.source == wanted or hit.source.endswith(f"/{wanted}") for hit in run[0])


def _interval(share: float, count: int) -> tuple[float, float]:
    """Give Wilson's interval: between its ends the true share lies with 95 % confidence.

    For shares of several hits a question it is wider than it need be, never narrower.
    """
    z = 1.96
    middle = share + z * z / (2 * count)
    spread = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)
