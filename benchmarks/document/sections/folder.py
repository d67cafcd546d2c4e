"""Folders of files: bytes, recall, answers, words, and what bringing in and asking cost."""

from collections.abc import Mapping
from typing import Any

from benchmarks.cases.query_cost import LEANN_EMBEDDED
from benchmarks.document.markdown import either, percent, row_table, table
from benchmarks.document.records import Record, Records, named_rows

ITEM = ""
TITLE = "A folder of files: bytes, recall, answers, and what asking costs"
CASES = (
    "folder_bytes",
    "text_share",
    "folder_recall",
    "answer_quality",
    "documentation",
    "copies",
    "places",
    "furniture",
    "lexical",
    "strength",
    "query_cost",
    "query_overhead",
    "pipeline_speed",
    "encoder",
    "update_cost",
    "segments",
    "install_size",
)
PICTURES = {
    "folder-questions": "nDCG@10 of the three modes and of rivals; a question's time by stage"
}
NEEDS = {"folder-questions": "answer_quality"}
REST = {
    "text_share": "text that is kept",
    "pipeline_speed": "`add`",
    "encoder": "embedding alone, 230 tokens a chunk",
    "update_cost": "`add` again",
    "segments": "segments",
    "install_size": "default install",
}
MODES = ("semantic", "lexical", "hybrid")
BM25S, FTS5 = "bm25s, stemmed", "FTS5 porter"


def write(records: Records) -> list[str]:
    """What the folder takes and finds, then what it costs."""
    blocks = _bytes(records["folder_bytes"])
    if "folder_recall" in records:
        blocks += _recall(records["folder_recall"])
    if "answer_quality" in records:
        blocks += _answers(records)
    if "documentation" in records:
        blocks += _first_hits(records["documentation"])
    if "copies" in records:
        blocks += _copies(records["copies"])
    if "places" in records:
        blocks += _places(records["places"])
    if "furniture" in records:
        blocks += _furniture(records["furniture"])
    if "strength" in records:
        blocks += _strength(records["strength"])
    if "query_cost" in records:
        blocks += _question(records["query_cost"])
    if "query_overhead" in records:
        blocks += _overhead(records["query_overhead"])
    # The largest dependencies stay in the result's file.
    if rest := [row for row in named_rows(records, REST) if ": MB of " not in row["what"]]:
        blocks += ["**Bringing in, updating, installing.**", row_table(rest)]
    return blocks


def contradictions(records: Records) -> list[str]:
    """Where the default mode is not the best one, and bars that the encoder misses."""
    said = []
    if "answer_quality" in records:
        quality = records["answer_quality"].details["ndcg"]
        worse = {name: max(MODES, key=modes.__getitem__) for name, modes in quality.items()}
        worse = {name: best for name, best in worse.items() if best != "hybrid"}
        if worse:
            sets = ", ".join(
                f"{name} ({best} {quality[name][best]:.3f}, hybrid {quality[name]['hybrid']:.3f})"
                for name, best in worse.items()
            )
            said.append(f"The default, hybrid search, is best on average but not on {sets}.")
    if "encoder" in records:
        said += [
            f"The encoder was to take at most {row['bar']} times the CPU time of a bare session; "
            f"it takes {row['ours'] / row['rival']:.3f} times as much."
            for row in records["encoder"].rows
            if row["verdict"] == "miss" and row["by_ratio"]
        ]
    return said


def draw(records: Records) -> dict[str, Any]:
    """Quality of answers, and where the time of a question goes."""
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(
        1, 2, figsize=(11, 4), layout="constrained", width_ratios=(1.6, 1)
    )
    _draw_quality(panels[0], _quality(records))
    if "query_cost" in records:
        _draw_stages(panels[1], records["query_cost"])
    else:
        panels[1].axis("off")
    return {"folder-questions": figure}


def _bytes(record: Record) -> list[str]:
    sets = {name: record.details[name] for name in ("mdn", "rfc") if name in record.details}
    return [
        "**Bytes.** The whole index folder against the text that was indexed; text stays in the "
        "files. The RFCs were indexed with noise for vectors, on whose values no byte depends.",
        table(
            ("", "text, MB", "files", "chunks", "codes", "catalogue", "folder", "B a chunk"),
            [(name, *_share(folder)) for name, folder in sets.items()],
        ),
    ]


def _share(folder: Mapping[str, Any]) -> list[str | float]:
    text, parts = folder["text_bytes"], folder["bytes_by_part"]
    shares = (parts["vectors"], parts["catalogue"], folder["total_bytes"])
    return [
        f"{text / 1e6:.0f}",
        f"{folder['files']:,}",
        f"{folder['chunks']:,}",
        *(percent(size / text, 2) for size in shares),
        folder["total_bytes"] / folder["chunks"],
    ]


def _recall(record: Record) -> list[str]:
    asked = {what: one for what, one in record.details.items() if isinstance(one, dict)}
    return [
        f"**Recall** of a default search against exact search of all {record.details['chunks']:,} "
        f"chunks of MDN, {record.details['questions']} sentences of its pages as questions; and "
        "once more without the chunks that hold the sentence, which are too easy to find.",
        table(
            ("", "recall", "chunks embedded again", "p95", "rounds"),
            [
                (what, one["recall"], one["embedded"], one["embedded_p95"], one["rounds"])
                for what, one in asked.items()
            ],
        ),
    ]


def _quality(records: Records) -> dict[str, dict[str, float]]:
    """nDCG@10 by set and contender, with the mean of all sets last."""
    answers = records["answer_quality"].details
    rivals = records["lexical"].details if "lexical" in records else {}
    quality = {}
    for name, modes in [*answers["ndcg"].items(), ("mean", answers["mean"])]:
        others = rivals.get("mean", {}) if name == "mean" else rivals.get("ndcg", {}).get(name, {})
        words = {rival: others[rival] for rival in (BM25S, FTS5) if rival in others}
        quality[name] = {"exact, by meaning": modes["exact"], **words}
        quality[name] |= {f"ours, {mode}": modes[mode] for mode in MODES}
    return quality


def _answers(records: Records) -> list[str]:
    quality = _quality(records)
    names = list(quality["mean"])
    mean = quality["mean"]
    is_best = mean["ours, hybrid"] >= max(mean.values())
    return [
        "**Answers.** nDCG@10 with the judgements of each set, one text for each document. Exact "
        "search by meaning has all vectors; ours has codes. Hybrid search is "
        + either(is_best, "the best on average.", "not the best on average."),
        table(("", *names), [(name, *one.values()) for name, one in quality.items()]),
    ]


def _first_hits(record: Record) -> list[str]:
    sizes = record.details["chunks"].items()
    chunks = ", ".join(f"{count:,} chunks of {name}" for name, count in sizes)
    return [
        "**The first hit.** The share of questions whose first hit, or one of the first three, "
        "holds a passage that was labelled right before anything was measured: questions to "
        "Python's documentation and to Debian Policy, and exact lookups (definitions, constants, "
        f"phrases) whose places grep gives; {chunks}. The rival is the better of hybrid search "
        "without ranking again and lexical search.",
        row_table(record.rows),
    ]


def _copies(record: Record) -> list[str]:
    return [
        "**Each thing once.** Debian Policy and ten copies of it, in one index: what the first "
        "five hits hold.",
        row_table(record.rows),
    ]


def _places(record: Record) -> list[str]:
    kinds = [(name, one) for name, one in record.details.items() if "asked" in one]
    return [
        "**Places.** Questions of words that stand together in one unit of a file. The best line "
        "of the hit's snippet must stand in the unit that is cited: page, row, slide, chapter, "
        "message, line of the file. What each unit holds is read without Gossamer's readers.",
        table(
            ("", "questions", "right", "wrong"),
            [
                (name, one["asked"], one["asked"] - len(one["wrong"]), len(one["wrong"]))
                for name, one in kinds
            ],
        ),
    ]


def _furniture(record: Record) -> list[str]:
    return [
        "**Menus among hits.** Hits in HTML and PDF documentation that hold menus, footers or "
        "tables of contents, judged by the marks that each generator is known to write.",
        row_table(record.rows),
    ]


def _strength(record: Record) -> list[str]:
    return [
        "**How sure hits are.** Five hits a question, on texts nothing was fitted to: the "
        "share of strong hits that are right by labels, and of questions without an answer "
        "(nonsense, other subjects, other languages) that have a strong hit.",
        row_table(record.rows),
    ]


def _question(record: Record) -> list[str]:
    sizes = {name: one for name, one in record.details.items() if "stages_ms" in one}
    low, high = record.details["leann_cpu_s"]
    return [
        "**A question**, warm, default settings, chunks really embedded again, mean of "
        f"{len(record.details['questions'])}. LEANN 0.3.8 took {low:.0f} to {high:.0f} CPU s on "
        f"7,497 chunks of another text with the same model, {LEANN_EMBEDDED:.0f} of them embedded "
        "(quoted).",
        table(
            ("", "CPU s", "clock, s", "slowest, CPU s", "chunks embedded again"),
            [
                (name, one["cpu_s"], one["wall_s"], one["slowest_cpu_s"], one["embedded"])
                for name, one in sizes.items()
            ],
        ),
    ]


def _overhead(record: Record) -> list[str]:
    return [
        f"**Besides the encoder**, {record.details['chunks']:,} chunks, median of "
        f"{len(record.details['questions'])} questions: a table of vectors stands in for the model "
        "and its time is taken off. A new process reads files that the system has in memory.",
        row_table(record.rows),
    ]


def _draw_quality(axes: Any, quality: Mapping[str, Mapping[str, float]]) -> None:
    names = list(quality["mean"])
    width = 0.8 / len(names)
    for place, contender in enumerate(names):
        at = [group + place * width for group in range(len(quality))]
        axes.bar(at, [one[contender] for one in quality.values()], width, label=contender)
    middle = [group + 0.4 - width / 2 for group in range(len(quality))]
    axes.set_xticks(middle, list(quality))
    axes.set(ylabel="nDCG@10", ylim=(0, 1))
    axes.grid(axis="x", visible=False)
    axes.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.08))


def _draw_stages(axes: Any, record: Record) -> None:
    sizes = [name for name, one in record.details.items() if "stages_ms" in one]
    left = [0.0] * len(sizes)
    for stage in record.details[sizes[0]]["stages_ms"]:
        times = [record.details[name]["stages_ms"][stage] for name in sizes]
        if max(times) >= 1:
            axes.barh(sizes, times, 0.5, left=left, label=stage)
        left = [before + time for before, time in zip(left, times, strict=True)]
    axes.set(xlabel="ms of a question on the clock, by stage")
    axes.grid(axis="y", visible=False)
    axes.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.15))
