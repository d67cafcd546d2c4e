"""What a reader or a language model gets out of the three best chunks: LEANN's figure 4."""

from collections.abc import Mapping
from typing import Any

from benchmarks.document.markdown import either, percent, table
from benchmarks.document.records import Records

ITEM = "LEANN Fig. 4"
TITLE = "Answers from what was found"
CASES = ("downstream",)
PICTURES = {"downstream": "share of questions whose three best chunks hold the answer, by method"}
OURS, HYBRID = "gossamer semantic", "gossamer hybrid"
HNSW, CODES, WORDS = "HNSW", "PQ codes alone", "BM25"
# Section 7.2: the most that LEANN gains over each in exact match, in percent.
PAPER_GAIN = {WORDS: 11.8, CODES: 11.3}
# Questions are few: what is nearer than this is called the same.
SAME = 0.02
# Where the right passages help the model by less, it tells no method from another.
LEAST_GAIN = 0.05
CLOSED, GOLD = "closed book", "gold passages"

Scores = Mapping[str, float]


def write(records: Records) -> list[str]:
    """What retrieval gives on each set, then what a small LLM makes of it."""
    details = records["downstream"].details
    return [
        "Three chunks are found for each question, as many as LEANN's recall@3 counts. "
        "“Answer” is the share of questions one of whose answers stands word for word in them "
        "(of those questions whose answer stands so in a right document at all), “document” the "
        "share with a chunk of a right document. HNSW keeps all vectors and looks as far as "
        "recall@3 = 0.90 needs; PQ compares codes of 24 bytes and ranks by them; BM25 is bm25s "
        "with stemming; Gossamer has its default settings, which aim at a recall of 0.90.",
        _retrieval_table(details["retrieval"]),
        *_generation(details),
        _against(details),
    ]


def contradictions(records: Records) -> list[str]:
    """Where words or codes alone do better than what the paper says they cannot reach."""
    return [
        f"{name}: {rival} finds the answer for {percent(methods[rival]['answer'])} of the "
        f"questions, search by meaning for {percent(methods[OURS]['answer'])}; LEANN has search by "
        "meaning ahead on every set."
        for name, methods in _methods(records["downstream"].details).items()
        for rival in (WORDS, CODES)
        if methods[rival]["answer"] > methods[OURS]["answer"] + SAME
    ]


def draw(records: Records) -> dict[str, Any]:
    """A group of bars for each set."""
    from matplotlib import pyplot as plt

    sets = records["downstream"].details["retrieval"]
    figure, axes = plt.subplots(figsize=(9, 3.8), layout="constrained")
    methods = list(next(iter(sets.values()))["methods"])
    width = 0.8 / len(methods)
    for number, method in enumerate(methods):
        places = [at + (number - (len(methods) - 1) / 2) * width for at in range(len(sets))]
        heights = [100 * one["methods"][method]["answer"] for one in sets.values()]
        bars = axes.bar(places, heights, width, label=method)
        axes.bar_label(bars, fmt="%.0f", fontsize=7)
    axes.set_xticks(range(len(sets)), list(sets))
    axes.set(ylabel="answer in the three best chunks, % of questions", ylim=(0, 100))
    axes.grid(visible=False, axis="x")
    figure.legend(ncols=len(methods), loc="outside upper center")
    return {"downstream": figure}


def _retrieval_table(sets: Mapping[str, Any]) -> str:
    header = ("", "recall@3", "answer", "document", "questions (with such an answer)")
    return table(
        header,
        [
            (
                f"{name}: {method}",
                f"{scores['recall']:.3f}",
                percent(scores["answer"]),
                percent(scores["document"]),
                f"{measured['questions']} ({measured['with_answer']})",
            )
            for name, measured in sets.items()
            for method, scores in measured["methods"].items()
        ],
    )


def _generation(details: Mapping[str, Any]) -> list[str]:
    """The LLM's answers, or why there are none."""
    if "generation" not in details:
        why = details.get("generation_skipped", "it was not asked")
        return [f"No language model answered in this run: {why}."]
    said = details["generation"]
    return [
        f"{said['model']} then answered {said['questions']} questions of HotpotQA from the three "
        "chunks, greedily, in at most 24 tokens, scored as SQuAD does; “closed book” reads "
        "nothing, “gold passages” the right documents. One more right answer is "
        f"{100 / said['questions']:.1f} points. " + _worth(said["methods"]),
        table(
            ("what it read", "exact match", "F1"),
            [
                (method, percent(scores["exact_match"]), percent(scores["f1"]))
                for method, scores in said["methods"].items()
            ],
        ),
    ]


def _worth(methods: Mapping[str, Scores]) -> str:
    """Whether the model gains anything by what it reads, and so can tell methods apart."""
    gain = methods[GOLD]["f1"] - methods[CLOSED]["f1"]
    return either(
        _tells_apart(methods),
        "So small a model answers badly whatever it is given; what counts is the difference "
        "between the rows.",
        f"**With the right passages its F1 is only {100 * gain:+.1f} points from what it has "
        "with none: this model cannot tell the methods apart**, and the table is shown for "
        "completeness.",
    )


def _tells_apart(methods: Mapping[str, Scores]) -> bool:
    return methods[GOLD]["f1"] > methods[CLOSED]["f1"] + LEAST_GAIN


def _against(details: Mapping[str, Any]) -> str:
    sets = _methods(details)
    gap = max(abs(one[OURS]["answer"] - one[HNSW]["answer"]) for one in sets.values())
    blocks = [
        "**Against the paper.** "
        + either(
            gap <= SAME,
            "That a search which recomputes its vectors answers as well as an HNSW that keeps them "
            f"holds here: they differ by {percent(gap)} of the questions at most.",
            f"An HNSW with all vectors and ours differ by up to {percent(gap)} of the questions, "
            "more than the paper's equal scores would have it.",
        )
    ]
    blocks += [_gain(sets, rival) for rival in (CODES, WORDS)]
    blocks.append(_hybrid(sets))
    if "generation" in details:
        blocks.append(_generated(details["generation"]["methods"]))
    return " ".join(blocks)


def _methods(details: Mapping[str, Any]) -> dict[str, Mapping[str, Scores]]:
    return {name: one["methods"] for name, one in details["retrieval"].items()}


def _gain(sets: Mapping[str, Mapping[str, Scores]], rival: str) -> str:
    gains = {name: one[OURS]["answer"] - one[rival]["answer"] for name, one in sets.items()}
    listed = ", ".join(f"{100 * gain:+.1f} points on {name}" for name, gain in gains.items())
    verdict = either(
        all(gain > SAME for gain in gains.values()),
        "ahead everywhere, as in the paper",
        either(
            any(gain > SAME for gain in gains.values()),
            "ahead on some sets only",
            "ahead on none, other than in the paper",
        ),
    )
    return (
        f"Against {rival}, search by meaning is {verdict}: {listed} (the paper has up to "
        f"{PAPER_GAIN[rival]} % of exact match on other data, with a larger model)."
    )


def _hybrid(sets: Mapping[str, Mapping[str, Scores]]) -> str:
    lead = all(
        one[HYBRID]["answer"] >= max(one[OURS]["answer"], one[WORDS]["answer"]) - SAME
        for one in sets.values()
    )
    return either(
        lead,
        "Hybrid search, our default and not in the paper, is at least as good as the better of "
        "meaning and words on every set, within 2 points.",
        "Hybrid search, our default and not in the paper, is not always as good as the better of "
        "meaning and words.",
    )


def _generated(methods: Mapping[str, Scores]) -> str:
    if not _tells_apart(methods):
        return "What the small model answers neither supports nor contradicts the paper."
    ours, hnsw = methods[OURS]["f1"], methods[HNSW]["f1"]
    return (
        f"From our chunks the small model reaches an F1 of {percent(ours)}, from those of the HNSW "
        f"{percent(hnsw)}."
    )
