"""What a page downloads to search MDN semantically from a static host, nothing cached."""

import gzip
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import folders
from benchmarks.browser.packages import WEB
from benchmarks.browser.product_page import MODEL, MODEL_FILE, ProductPage, write_package
from benchmarks.browser.site import Line, Sent, Site
from benchmarks.browser.tab import Browser, browser
from benchmarks.datasets import Floats, Ids
from benchmarks.indexes import embedder_of, read_chunks
from benchmarks.report import Result, Row
from benchmarks.retrieval import data_folder, records
from benchmarks.scale import scaled
from gossamer.index import Index
from gossamer.single.engine import EngineChoice
from gossamer.single.export import ExportOptions, write_single_file

TITLE = "bytes over the network: MDN searched in a page, from a static host, nothing cached"
FIRST_BAR = 6_000_000
NEXT_BAR = 300_000
CODE_BAR = 180_000
MODES = ("semantic", "hybrid", "lexical")
LONG_TASK_MS = 50.0
QUESTIONS = 21
SEARCHES = scaled(100, 10)
BUILT_FROM = scaled(1000, 50)
K = 10
# Chunks that say the same are as near as each other, up to rounding.
ROUNDING = 1e-5
# The first is what `gossamer export` writes unless told otherwise, and is judged.
CHOICES = {
    "no vectors": EngineChoice(),
    "int8 vectors": EngineChoice("int8"),
    "int8 vectors, slim graph": EngineChoice("int8", "slim"),
}
JUDGED = "no vectors"
SLOW_MEGABITS, SLOW_LATENCY_S = 10.0, 0.05


@dataclass(frozen=True)
class Exact:
    """Every chunk, and how near the questions are to each."""

    ids: Ids
    scores: Floats

    def recall(self, question: int, found: Sequence[int]) -> float:
        """Share of the found that are as near as the true nearest."""
        near = self.scores[question]
        least = np.partition(near, -K)[-K] - ROUNDING
        places = np.searchsorted(self.ids, list(found))
        return float((near[places] >= least).sum() / K)


def run() -> Result:
    """Modules, then pages that load everything anew."""
    rows, details = _module_rows(), {}
    file = records(data_folder() / "mdn" / "queries.jsonl.zst")
    questions = [question["text"] for question, _ in zip(file, range(QUESTIONS), strict=False)]
    with tempfile.TemporaryDirectory() as name, browser() as started:
        folder = Path(name) / "site"
        folder.mkdir()
        write_package(folder)
        exact, exports = _write_indexes(Path(name), folder, questions)
        details["exports"] = exports
        with Site([folder]) as site:
            for choice in CHOICES:
                for mode in MODES:
                    found = _visit(started, site, _file(choice), questions, mode)
                    if mode == "semantic":
                        found["recall"] = _recalls(exact, found)
                    details[f"{choice}, {mode}"] = found
                    is_judged = choice == JUDGED and mode == "semantic"
                    rows += _byte_rows(f"{choice}, {mode}", found, is_judged)
            rows += _task_rows(started, site, questions, details)
            rows += _build_rows(started, site, details)
            site.line = Line(SLOW_MEGABITS, SLOW_LATENCY_S)
            slow = _visit(started, site, _file(JUDGED), questions[:3], "semantic")
            rows.append(Row("10 Mbit/s, 50 ms: to the first answer, s", slow["first_s"]))
            rows.append(Row("10 Mbit/s, 50 ms: the second question, s", slow["next_s"][0]))
            details["10 Mbit/s, 50 ms"] = slow
    return Result(rows, details)


def _module_rows() -> list[Row]:
    sizes = {
        path.name: len(gzip.compress(path.read_bytes(), 9, mtime=0))
        for path in sorted((WEB / "wasm" / "built").glob("*.wasm"))
    }
    return [Row(f"{name}, gzip, B", size) for name, size in sizes.items()]


def _write_indexes(
    aside: Path, folder: Path, questions: Sequence[str]
) -> tuple[Exact, dict[str, Any]]:
    """Index MDN with the small model in Python, and export it in each way."""
    index = Index.create(aside / "index", model=MODEL)
    index.add_paths([folders.mdn()])
    exports = {}
    for choice, engine in CHOICES.items():
        report = write_single_file(*index.now(), folder / _file(choice), ExportOptions(engine))
        exports[choice] = {"bytes": report.total_bytes, "sections": report.bytes_by_section}
    chunks = read_chunks(index)
    embedder = embedder_of(index)
    vectors = np.stack([embedder.embed_question(question) for question in questions])
    return Exact(chunks.ids, vectors @ chunks.vectors.T), exports


def _visit(
    started: Browser, site: Site, file: str, questions: Sequence[str], mode: str
) -> dict[str, Any]:
    """Load a page, ask the first question, then the others."""
    site.take_sent()
    options = {"k": K, "mode": mode}
    page = ProductPage(started, site.url)
    first = page("first", file, questions[0], options, {})
    fetched = page("status")["bytesFetched"]
    parts = _by_path(site.take_sent())
    nexts, next_s, ids = [], [], [first["ids"]]
    for question in questions[1:]:
        answer = page("ask", question, options)
        nexts.append(sum(_by_path(site.take_sent()).values()))
        next_s.append(round(answer["ms"] / 1000, 3))
        ids.append(answer["ids"])
    page.close()
    return {
        "first": sum(parts.values()),
        "JavaScript": _of_kind(parts, ".js"),
        "Wasm": _of_kind(parts, ".wasm"),
        "index and model, as the package counts": fetched,
        "parts": parts,
        "first_s": round(first["ms"] / 1000, 3),
        "next": nexts,
        "next_s": next_s,
        "ids": ids,
        "explanation": first["explanation"],
        "notes": first["notes"],
    }


def _byte_rows(name: str, found: dict[str, Any], is_judged: bool) -> list[Row]:
    first, following = (FIRST_BAR, NEXT_BAR) if is_judged else (None, None)
    rows = [
        Row(f"{name}: first question, B", found["first"], bar=first),
        Row(f"{name}: JavaScript for the first, gzip, B", found["JavaScript"]),
        Row(f"{name}: Wasm for the first, gzip, B", found["Wasm"]),
        Row(f"{name}: both, gzip, B", found["JavaScript"] + found["Wasm"], bar=CODE_BAR),
        Row(f"{name}: second question, B", found["next"][0], bar=following),
        Row(f"{name}: mean of 20 others, B", float(np.mean(found["next"])), bar=following),
        Row(f"{name}: most of 20 others, B", max(found["next"])),
        Row(f"{name}: load to first answer on this machine, s", found["first_s"]),
    ]
    if "recall" in found:
        rows.append(Row(f"{name}: recall@10 against exact", float(np.mean(found["recall"]))))
    return rows


def _task_rows(
    started: Browser, site: Site, questions: Sequence[str], details: dict[str, Any]
) -> list[Row]:
    """Tasks of the page's own thread, from its first script on."""
    page = ProductPage(started, site.url)
    page("first", _file(JUDGED), questions[0], {"k": K}, {})
    for number in range(SEARCHES):
        page("ask", questions[number % len(questions)], {"k": K})
    tasks = page("takeLongTasks")
    page.close()
    details["long tasks, ms"] = tasks
    return [
        Row(
            "longest task of the page, ms (0: none over 50)",
            max(tasks, default=0.0),
            bar=LONG_TASK_MS,
        )
    ]


def _build_rows(started: Browser, site: Site, details: dict[str, Any]) -> list[Row]:
    """Pages of MDN put into an index in the page."""
    files = folders.text_files(folders.mdn())[:BUILT_FROM]
    texts = [{"id": path.name, "text": path.read_text(), "markup": "markdown"} for path in files]
    for number, text in enumerate(texts):
        text["id"] = f"{number} {text['id']}"
    page = ProductPage(started, site.url)
    built = page("build", texts, f"{site.url}{MODEL_FILE}")
    tasks = page("takeLongTasks")
    page.close()
    details["built in the page"] = {**built, "long tasks, ms": tasks}
    return [Row("texts put in by the page: chunks a second", built["chunks"] / built["seconds"])]


def _recalls(exact: Exact, found: dict[str, Any]) -> list[float]:
    return [exact.recall(number, ids) for number, ids in enumerate(found["ids"])]


def _by_path(sent: Sequence[Sent]) -> dict[str, int]:
    sizes: Counter[str] = Counter()
    for one in sent:
        sizes[one.path] += one.body
    return dict(sizes)


def _of_kind(parts: dict[str, int], ending: str) -> int:
    return sum(size for path, size in parts.items() if path.endswith(ending))


def _file(choice: str) -> str:
    return f"./{choice.replace(', ', '-').replace(' ', '-')}.gossamer"
