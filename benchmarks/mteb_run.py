"""mteb's own evaluation of Gossamer on text sets that are here, in mteb's environment.

`python -m benchmarks.mteb_run PACKAGES FOLDER QUESTIONS SET...` prints one line of JSON. PACKAGES
is where the packages of our own environment are, FOLDER where the indexes go, QUESTIONS how many
are asked of each set.
"""

import json
import site
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mteb.abstasks import AbsTaskRetrieval

    from benchmarks.retrieval import Retrieval

MODES = ("lexical", "semantic", "hybrid")
MAIN_SCORE = "ndcg_at_10"
DESCRIBED = {
    "description": "A set of texts and questions of Gossamer's benchmarks.",
    "type": "Retrieval",
    "category": "t2t",
    "modalities": ["text"],
    "eval_splits": ["test"],
    "eval_langs": ["eng-Latn"],
    "main_score": MAIN_SCORE,
}


def main() -> None:
    """Evaluate each mode on each set."""
    packages, folder, questions, *names = sys.argv[1:]
    site.addsitedir(packages)  # behind mteb's own packages
    import mteb

    scores = {name: evaluate(name, int(questions), folder) for name in names}
    print(json.dumps({"version": mteb.__version__, "scores": scores}))


def evaluate(name: str, questions: int, folder: str) -> dict[str, float]:
    """Let mteb run and score each mode on one set."""
    import mteb

    from benchmarks.known_vectors import share_known
    from gossamer.integrations.mteb import GossamerSearch

    scores = {}
    for mode in MODES:
        model = GossamerSearch(folder, mode=mode, share=share_known(name))
        task = make_task(first_questions(name, questions))
        found = mteb.evaluate(model, task, cache=None, co2_tracker=False, show_progress_bar=False)
        scores[mode] = float(found.task_results[0].get_score())
    return scores


def first_questions(name: str, count: int) -> "Retrieval":
    """Give all documents of a text set with the first questions alone."""
    from benchmarks.text_sets import documents_of

    data = documents_of(name)
    return replace(
        data,
        questions=data.questions[:count],
        grades=data.grades[:count],
        answers=data.answers[:count],
    )


def make_task(data: "Retrieval") -> "AbsTaskRetrieval":
    """Give a retrieval task of mteb over documents in memory; nothing comes from a hub."""
    from datasets import Dataset
    from mteb.abstasks import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata

    described: dict[str, Any] = {
        **DESCRIBED,
        "name": data.name,
        "dataset": {"path": f"gossamer/{data.name}", "revision": "local"},
    }
    task = type(data.name, (AbsTaskRetrieval,), {"metadata": TaskMetadata(**described)})()
    trios = zip(data.ids, data.titles, data.bodies, strict=True)
    task.dataset = {
        "default": {
            "test": {
                "corpus": Dataset.from_list(
                    [{"id": id, "title": title, "text": body} for id, title, body in trios]
                ),
                "queries": Dataset.from_list(
                    [{"id": f"q{i}", "text": text} for i, text in enumerate(data.questions)]
                ),
                "relevant_docs": {
                    f"q{i}": {data.ids[place]: int(grade) for place, grade in grades.items()}
                    for i, grades in enumerate(data.grades)
                },
                "top_ranked": None,
            }
        }
    }
    task.data_loaded = True
    return task


if __name__ == "__main__":
    main()
