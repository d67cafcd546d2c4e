"""What vectors that are kept save: asked for and milliseconds, against how many are kept."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import ours
from benchmarks.datasets import Dataset, mdn
from benchmarks.embedding_cost import chunk_cpu_ms
from benchmarks.metrics import recall, smallest_effort
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer import Codebook, Effort

TITLE = 'keep "hot": vectors asked for at recall@3 0.90, against the share of vectors kept'
K = 3
TARGET = 0.90
CHUNKS = scaled(10**9, smoke=2_000, small=10_000)
SHARES = scaled(
    (0.0, 0.01, 0.02, 0.05, 0.10, 0.20, 0.50), smoke=(0.0, 0.10), small=(0.0, 0.02, 0.10, 0.50)
)
ROW_SHARE = 0.10
# The first half of the queries is asked before, the second half is measured.
ASKED_BEFORE = scaled(500, smoke=50, small=250)
MEASURED = scaled(500, smoke=50, small=250)
RATIO = 0.15
MOST_EFFORT = 600


@dataclass(frozen=True)
class Design:
    """A way to search, and how much work it does."""

    name: str
    graph: str | None
    strategy: str
    effort_of: Callable[[int], int | Effort]


DESIGNS = (
    Design("scan of codes", None, "scan", int),
    Design("LEANN's design", "hub", "two-level", lambda beam: Effort(beam=beam, ratio=RATIO)),
)


@dataclass(frozen=True)
class Cost:
    """What a query asks for and takes on average, and the share of vectors that were kept."""

    kept: int
    asked: float
    hits: float
    recall: float
    search_ms: float
    total_ms: float


def run() -> Result:
    """As built, and after other queries have been asked."""
    data = mdn().first(CHUNKS)
    codebook = ours.train_on(data.vectors)
    designs = {design.name: _measure(design, data, codebook) for design in DESIGNS}
    details = {
        "chunks": len(data.vectors),
        "vector_bytes": 2 * data.vectors.shape[1],
        "code_bytes": codebook.code_bytes,
        "asked_before": ASKED_BEFORE,
        "measured": MEASURED,
        "embedding_cpu_ms": chunk_cpu_ms(),
        "designs": designs,
    }
    rows = [row for name, measured in designs.items() for row in _rows(name, measured["budgets"])]
    return Result(rows, details)


def _rows(name: str, budgets: list[dict[str, Any]]) -> list[Row]:
    kept = next(budget for budget in budgets if budget["share"] == ROW_SHARE)
    before = budgets[0]["as_built"]["asked"]
    what = f"{name}, {ROW_SHARE:.0%} of the vectors kept"
    return [
        Row(f"{what}: asked for, {when}", kept[key]["asked"], before, "none kept")
        for key, when in (("as_built", "as built"), ("after", "after other queries"))
    ]


def _measure(design: Design, data: Dataset, codebook: Codebook) -> dict[str, Any]:
    """The effort is what the recall takes if nothing is kept, and the same for all budgets."""
    budgets = []
    effort = 0
    for share in SHARES:
        index = _build(design, data, codebook, share)
        effort = effort or _effort_for(design, index, data)
        as_built = _look(design, index, data, effort)
        ours.search(
            index,
            data.queries[:ASKED_BEFORE],
            K,
            vectors=data.vectors,
            strategy=design.strategy,
            effort=design.effort_of(effort),
        )
        after = _look(design, index, data, effort)
        budgets.append(
            {
                "share": share,
                "chunk_bytes": share * 2 * data.vectors.shape[1],
                "as_built": asdict(as_built),
                "after": asdict(after),
            }
        )
    return {"effort": effort, "budgets": budgets}


def _build(design: Design, data: Dataset, codebook: Codebook, share: float) -> ours.Index:
    most = int(share * len(data.vectors)) * 2 * data.vectors.shape[1]
    return ours.build(
        data.vectors,
        graph=design.graph,
        codebook=codebook,
        keep=f"hot:{most}" if share else "none",
        refine_order=False,
    )


def _effort_for(design: Design, index: ours.Index, data: Dataset) -> int:
    def recall_at(effort: int) -> float:
        return _look(design, index, data, effort).recall

    effort = smallest_effort(recall_at, TARGET, K, MOST_EFFORT)
    return MOST_EFFORT if effort is None else effort


def _look(design: Design, index: ours.Index, data: Dataset, effort: int) -> Cost:
    measured = slice(ASKED_BEFORE, ASKED_BEFORE + MEASURED)
    looked = ours.look(
        index,
        data.queries[measured],
        K,
        data.vectors,
        strategy=design.strategy,
        effort=design.effort_of(effort),
    )
    return Cost(
        kept=index.stats().kept,
        asked=looked.asked,
        hits=1 - looked.asked / looked.looked_at,
        recall=recall(looked.ids, data.truth[measured], K),
        search_ms=looked.cpu_ms,
        total_ms=looked.cpu_ms + looked.asked * chunk_cpu_ms(),
    )
