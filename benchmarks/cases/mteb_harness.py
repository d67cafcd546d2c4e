"""mteb's own evaluation, through `gossamer.integrations.mteb`, against our own measure of it."""

import json
import os
import subprocess

from benchmarks.cases.answer_quality import best_documents
from benchmarks.datasets import REPOSITORY
from benchmarks.indexes import scratch_folder
from benchmarks.known_vectors import known_index
from benchmarks.mteb_run import MODES, first_questions
from benchmarks.own_venv import our_packages, python_of
from benchmarks.report import Result, Row, Skipped
from benchmarks.retrieval import ndcg
from benchmarks.scale import scaled
from benchmarks.text_sets import text_set

TITLE = "nDCG@10 by mteb's own evaluation, and by ours"
SETS = scaled(("scifact", "hotpotqa"), smoke=("scifact",), small=("scifact",))
QUESTIONS = scaled(150, smoke=10, small=40)
REQUIREMENTS = ("torch==2.13.0", "mteb==2.26.24")
DIFFERENCE_BAR = 0.005
# mteb must not look for its data or models on a hub.
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
SHOWN = 1_000

Scores = dict[str, dict[str, float]]


def run() -> Result:
    """Every set and mode by both."""
    theirs, version = _by_mteb()
    ours = {name: {mode: _by_us(name, mode) for mode in MODES} for name in SETS}
    rows = [
        Row(
            f"{name}: {mode}; the bar is the difference",
            theirs[name][mode],
            ours[name][mode],
            "our own measure",
            DIFFERENCE_BAR,
            value=abs(theirs[name][mode] - ours[name][mode]),
        )
        for name in SETS
        for mode in MODES
    ]
    details = {"mteb": theirs, "ours": ours, "sizes": {name: _size(name) for name in SETS}}
    return Result(rows, details, versions={"mteb": version})


def _by_mteb() -> tuple[Scores, str]:
    """Run mteb in its own environment, in a process of its own."""
    for name in SETS:
        text_set(name)  # makes what the child reads
    command = [str(python_of("mteb-venv", REQUIREMENTS)), "-m", "benchmarks.mteb_run"]
    command += [our_packages(), str(scratch_folder("mteb")), str(QUESTIONS), *SETS]
    ran = subprocess.run(
        command,
        cwd=REPOSITORY,
        env={**os.environ, **OFFLINE},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise Skipped(f"mteb did not run: {ran.stderr.strip()[-SHOWN:]}")
    answer = json.loads(ran.stdout.splitlines()[-1])
    return answer["scores"], answer["version"]


def _by_us(name: str, mode: str) -> float:
    """Rank and score as the case `answer_quality` does."""
    data = first_questions(name, QUESTIONS)
    position = {id: place for place, id in enumerate(data.ids)}
    index = known_index(name)
    ranked = [
        [position[id] for id in best_documents(index, mode, question)]
        for question in data.questions
    ]
    return ndcg(ranked, data.grades)


def _size(name: str) -> dict[str, int]:
    data = first_questions(name, QUESTIONS)
    return {"documents": len(data.ids), "questions": len(data.questions)}
