"""A smaller encoder, and a question by stage: LEANN's figures 12 and 13."""

from typing import Any

from benchmarks.cases.encoders import LARGE
from benchmarks.document.markdown import Cell, either, percent, table
from benchmarks.document.records import Records

ITEM = "LEANN Fig. 12, 13"
TITLE = "A smaller encoder, and where the time of a question goes"
CASES = ("encoders",)
PICTURES = {"encoders": "a question by stage, with the default encoder and with smaller ones"}
# Section D.1: GTE-small in place of Contriever.
PAPER_SPEEDUP = 2.3
PAPER_LOSS = 0.02
PAPER_EMBEDDING_SHARE = 0.76  # of a batch, section D.2
STAGES = {
    "words": "count words",
    "embed the question": "embed the question",
    "codes": "scan codes",
    "read chunks": "read chunks",
    "split into tokens": "split into tokens",
    "embed chunks": "embed chunks",
    "read hits": "read hits",
}
# The paper's three stages of a batch: codes, text, model.
BATCH = ("codes", "read chunks", "split into tokens", "embed chunks")


def write(records: Records) -> list[str]:
    """Cost, quality and stages of each model."""
    details = records["encoders"].details
    return [
        _how(details),
        table(("", *details["cost"]), _cost_rows(details["cost"])),
        table(("nDCG@10 (answer in the best 3)", *details["quality"]), _quality_rows(details)),
        table(("ms of a question", *details["cost"]), _stage_rows(details["cost"])),
        _against(details),
    ]


def contradictions(records: Records) -> list[str]:
    """Where a smaller encoder loses more than the paper's did."""
    details = records["encoders"].details
    said = []
    for model in _smaller(details):
        loss = _loss(details, model, "semantic")
        if loss > PAPER_LOSS:
            said.append(
                f"The smaller encoder `{model}` loses {loss:.3f} of nDCG@10 on average by meaning "
                f"alone, more than the {PAPER_LOSS} that the paper's lost of its accuracy."
            )
    return said


def draw(records: Records) -> dict[str, Any]:
    """Stages of a question, end to end; again with a scale for the smaller ones."""
    from matplotlib import pyplot as plt

    cost = records["encoders"].details["cost"]
    figure, (all_models, smaller) = plt.subplots(
        2, 1, figsize=(9, 4), layout="constrained", height_ratios=(len(cost), len(cost) - 1)
    )
    _draw_bars(all_models, cost)
    _draw_bars(smaller, {model: one for model, one in cost.items() if model != LARGE})
    smaller.set(xlabel="ms of a warm question, wall clock")
    all_models.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return {"encoders": figure}


def _draw_bars(axes: Any, cost: dict[str, Any]) -> None:
    names = list(cost)
    left = [0.0] * len(names)
    for stage, label in STAGES.items():
        widths = [cost[name]["stages_ms"].get(stage, 0.0) for name in names]
        axes.barh(names, widths, left=left, label=label, height=0.6)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)


def _how(details: dict[str, Any]) -> str:
    missing = details["missing"]
    return (
        "The encoder is what a question waits for, so a smaller one makes it faster. `minilm` is "
        "the default (a transformer of 22 million parameters, 8 bits); `pocket` comes with the "
        "package, `potion` is the table that it was made from: both only look up and add a vector "
        f"for each token. Parts of the sets, with about {details['documents']:,} documents and "
        f"{details['questions']} questions, go through `gossamer.Index` with default settings; "
        f"times are of warm questions to {details['timed_set']}."
        + "".join(
            f" `{model}` has no codebook that ships with it, and such an index keeps its vectors "
            "while it is small: nothing is embedded again."
            for model, one in details["cost"].items()
            if not one["embedded"]
        )
        + either(
            not missing, "", f" Not measured, because not on this machine: {', '.join(missing)}."
        )
    )


def _cost_rows(cost: dict[str, Any]) -> list[list[Cell]]:
    models = cost.values()
    return [
        ["model, MB", *(one["model_bytes"] / 1e6 for one in models)],
        ["numbers in a vector", *(one["dim"] for one in models)],
        ["codes or vectors kept, bytes a chunk", *(one["codes_bytes_a_chunk"] for one in models)],
        ["CPU ms to embed a chunk", *(one["chunk_cpu_ms"] for one in models)],
        ["chunks embedded for a question", *(one["embedded"] for one in models)],
        ["ms of a question", *(one["question_ms"] for one in models)],
        ["CPU ms of a question", *(one["question_cpu_ms"] for one in models)],
    ]


def _quality_rows(details: dict[str, Any]) -> list[list[Cell]]:
    quality = details["quality"]
    return [
        [f"{name}, {mode}", *(_quality_cell(sets[name][mode]) for sets in quality.values())]
        for name, modes in quality[LARGE].items()
        for mode in modes
    ]


def _quality_cell(one: dict[str, Any]) -> str:
    answer = one["answer_in_best"]
    return f"{one['ndcg']:.3f}" + ("" if answer is None else f" ({percent(answer, 0)})")


def _stage_rows(cost: dict[str, Any]) -> list[list[Cell]]:
    return [
        [label, *(round(one["stages_ms"].get(stage, 0.0), 2) for one in cost.values())]
        for stage, label in STAGES.items()
    ]


def _smaller(details: dict[str, Any]) -> list[str]:
    return [model for model in details["cost"] if model != LARGE]


def _loss(details: dict[str, Any], model: str, mode: str) -> float:
    """What a model loses of the default one's nDCG@10, on average over the sets."""
    quality = details["quality"]
    losses = [
        modes[mode]["ndcg"] - quality[model][name][mode]["ndcg"]
        for name, modes in quality[LARGE].items()
    ]
    return float(sum(losses) / len(losses))


def _against(details: dict[str, Any]) -> str:
    cost = details["cost"]
    stages = cost[LARGE]["stages_ms"]
    share = stages["embed chunks"] / sum(stages[stage] for stage in BATCH)
    return (
        "**Against the paper.** There an encoder a third as large made questions "
        f"{PAPER_SPEEDUP} times as fast and cost less than {percent(PAPER_LOSS, 0)} of accuracy. "
        + " ".join(_compared(details, model) for model in _smaller(details))
        + f" Of what a batch takes (codes, reading and tokens, model) the model is "
        f"{percent(PAPER_EMBEDDING_SHARE, 0)} in the paper, on a GPU; here, on the CPU, it is "
        f"{percent(share, 0)} with `{LARGE}`, and the scan of all codes takes "
        f"{stages['codes']:.1f} ms."
    )


def _compared(details: dict[str, Any], model: str) -> str:
    cost = details["cost"]
    faster = cost[LARGE]["question_ms"] / cost[model]["question_ms"]
    losses = {mode: _loss(details, model, mode) for mode in ("semantic", "hybrid")}
    return (
        f"`{model}` is {faster:.0f} times as fast here and loses {losses['semantic']:.3f} of "
        f"nDCG@10 by meaning alone and {losses['hybrid']:.3f} with words: "
        + either(
            losses["hybrid"] <= PAPER_LOSS,
            "with words it stays within the paper's loss.",
            "more than the paper's loss, so it is no replacement but a choice for small devices.",
        )
    )
