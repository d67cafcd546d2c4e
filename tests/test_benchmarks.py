"""What the documents say was measured is what the results say, and the benchmarks' own parts."""

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import run, scale
from benchmarks.cases import CASES, IN_SMALL
from benchmarks.document import DOCUMENTS, readme
from benchmarks.document.page import is_shown, page, pictures_of
from benchmarks.document.records import load_records
from benchmarks.document.sections import CHAPTERS
from benchmarks.gpu import device
from benchmarks.metrics import Point, cost_at
from benchmarks.report import RESULTS, Row
from benchmarks.scale import FULL, SMALL

ROOT = Path(__file__).parent.parent
FOLDERS = {FULL: RESULTS, SMALL: RESULTS / SMALL}
MEASURED = [name for name, folder in FOLDERS.items() if list(folder.glob("*.json"))]
SAVED = [
    path
    for folder in FOLDERS.values()
    for case in CASES
    if (path := folder / f"{case}.json").exists()
]
SECTIONS = [name for names in CHAPTERS.values() for name in names]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# What the extra `bench` installs, and tests do without.
EXTRA = ("bm25s", "chromadb", "faiss", "hnswlib", "lancedb", "matplotlib", "mteb", "usearch")


def name_of(path: Path) -> str:
    return str(path.relative_to(RESULTS))


def section(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.document.sections.{name}")


@pytest.mark.parametrize("size", MEASURED)
def test_a_document_is_what_the_results_give(size: str) -> None:
    written = (ROOT / DOCUMENTS[size]).read_text(encoding="utf-8")

    assert written == page(load_records(size), size), "python -m benchmarks.document writes it anew"


def test_the_tables_of_the_readme_are_what_the_results_give() -> None:
    assert readme.filled(README, load_records(FULL)) == README


def test_every_row_of_the_readme_leads_to_its_result() -> None:
    for table in re.findall(r"<!-- measured: \w+ -->\n.*\n.*\n((?:\|.*\n)+)", README):
        for row in table.splitlines():
            assert re.search(r"\(benchmarks/results/\w+\.json\)", row), row


def test_the_readme_has_no_table_of_numbers_without_a_marker() -> None:
    tables = re.findall(r"^\|.*Gossamer \| against \|$", README, re.MULTILINE)

    assert len(tables) == len(readme.TABLES) == README.count("<!-- measured: ")


def test_numbers_in_the_prose_of_the_readme_are_those_of_the_results() -> None:
    records = load_records(FULL)
    mdn = records["folder_bytes"].details["mdn"]
    embedded = records["query_cost"].details[f"{mdn['chunks']} chunks"]["embedded"]
    vectors = re.search(r"count=(\d+)", records["graph_bytes"].details["index_stats"])
    encoder = records["encoder"]

    assert f'"these {embedded:.0f}, please"' in README
    assert f"some {embedded:.0f} chunks" in README
    assert f"{mdn['bytes_by_part']['vectors'] / mdn['chunks']:.0f} bytes a chunk" in README
    assert abs(mdn["total_bytes"] / mdn["text_bytes"] - 1 / 20) < 0.005, "about a twentieth"
    assert vectors is not None
    assert f"{int(vectors[1]):,} chunks of MDN" in README
    assert abs(encoder.ours("CPU ms a chunk", "bare session") - 25) < 2.5, "about 25 ms"
    assert abs(encoder.details["tokens"] - 230) < 5, "a chunk of 230 tokens"
    assert abs(mdn["total_bytes"] / mdn["chunks"] - 35) < 2, "about 35 bytes a chunk"


def test_the_machine_that_the_readme_names_made_its_results() -> None:
    records = load_records(FULL)
    machines = {
        (records[case].machine["cpu"], records[case].machine["cores"])
        for case in readme.shown_cases(README)
        if "gpu" not in records[case].machine
    }

    assert machines == {("AMD EPYC", 2)}
    assert "Two cores of an AMD EPYC" in README


@pytest.mark.parametrize("case", CASES)
def test_every_case_has_a_title_and_a_run(case: str) -> None:
    source = (ROOT / f"benchmarks/cases/{case}.py").read_text(encoding="utf-8")

    parts = ast.parse(source).body
    names = {part.name for part in parts if isinstance(part, ast.FunctionDef)}
    names |= {
        name.id
        for part in parts
        if isinstance(part, ast.Assign)
        for target in part.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    assert {"TITLE", "run"} <= names


def test_every_file_of_a_case_is_listed() -> None:
    files = {path.stem for path in (ROOT / "benchmarks/cases").glob("*.py")}

    assert files - {"__init__"} == set(CASES)


def test_every_case_is_explained() -> None:
    text = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)[-len(CASES) :] == list(CASES)


def test_every_case_is_shown_in_a_section_of_its_own() -> None:
    shown = {case for name in SECTIONS if name != "bars" for case in section(name).CASES}

    assert set(CASES) - shown == set()


def test_the_small_run_is_made_of_cases() -> None:
    assert set(CASES) >= IN_SMALL


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_names_cases_and_plots_that_exist(name: str) -> None:
    here = section(name)
    pictures, needs = getattr(here, "PICTURES", {}), getattr(here, "NEEDS", {})

    assert set(here.CASES) <= set(CASES)
    assert bool(pictures) == hasattr(here, "draw")
    assert set(needs) <= set(pictures)
    assert set(needs.values()) <= set(here.CASES)


@pytest.mark.parametrize("size", MEASURED)
def test_every_plot_of_the_document_was_drawn(size: str) -> None:
    records = load_records(size)
    shown = [section(name) for name in SECTIONS if is_shown(section(name), records)]
    names = [picture for one in shown for picture in pictures_of(one, records)]

    missing = [name for name in names if not (FOLDERS[size] / f"{name}.svg").exists()]
    assert missing == []
    assert len(set(names)) == len(names)


def test_the_document_needs_nothing_of_the_extra() -> None:
    program = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({EXTRA!r}))\n"
        "from benchmarks.document.page import page\n"
        "from benchmarks.document.records import load_records\n"
        "page(load_records('full'), 'full')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", SAVED, ids=name_of)
def test_a_result_says_where_it_comes_from(path: Path) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))

    assert record["case"] == path.stem
    assert record["scale"] == (SMALL if path.parent.name == SMALL else FULL)
    assert re.fullmatch(r"[0-9a-f]{7,}(-dirty)?", record["commit"])
    assert record["machine"]["cpu"]
    assert record["machine"]["cores"]
    assert record["versions"]["gossamer"]
    assert "index" in record["seeds"]
    assert record["rows"]


@pytest.mark.parametrize("path", [path for path in SAVED if path.parent == RESULTS], ids=name_of)
def test_a_published_result_comes_from_a_clean_tree(path: Path) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))

    assert not record["commit"].endswith("-dirty")


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Row("no bar", 3.0), ""),
        (Row("below", 3.0, bar=3.0), "pass"),
        (Row("above", 3.1, bar=3.0), "miss"),
        (Row("at least", 3.1, bar=3.0, at_least=True), "pass"),
        (Row("ratio", 3.0, 6.0, bar=0.5, by_ratio=True), "pass"),
        (Row("ratio", 3.0, 5.0, bar=0.5, by_ratio=True), "miss"),
        (Row("a rival that never gets there", 3.0, None, bar=0.5, by_ratio=True), "pass"),
        (Row("ours never gets there", None, 3.0, bar=0.5, by_ratio=True), "miss"),
        (Row("another value", 3.0, 4.0, bar=0.1, value=0.2), "miss"),
    ],
)
def test_a_row_is_judged_by_its_bar(row: Row, verdict: str) -> None:
    assert row.verdict == verdict


def test_the_cost_of_a_recall_lies_between_its_neighbors() -> None:
    curve = [Point(1, 0.8, 10.0), Point(2, 0.9, 20.0), Point(3, 0.95, 40.0)]

    between = cost_at(curve, 0.85)
    assert between is not None
    assert 10.0 < between < 20.0
    assert cost_at(curve, 0.9) == pytest.approx(20.0)
    assert cost_at(curve, 0.7) == 10.0
    assert cost_at(curve, 0.99) is None


@pytest.mark.parametrize(("size", "value"), [("full", 9), ("small", 3), ("smoke", 1)])
def test_a_run_takes_the_value_of_its_scale(
    size: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "SCALE", size)

    assert scale.scaled(9, smoke=1, small=3) == value


def test_a_small_run_takes_the_full_value_where_it_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scale, "SCALE", SMALL)

    assert scale.scaled(9, smoke=1) == 9


@pytest.mark.parametrize(("commit", "done"), [(None, False), ("HEAD", True), ("HEAD-dirty", False)])
def test_only_a_result_of_this_commit_is_done(
    commit: str | None, done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = None if commit is None else {"commit": commit, "date": "today", "machine": {}}
    monkeypatch.setattr(run, "load", lambda *_: record)

    assert run.is_done("codes", "HEAD") is done


@pytest.mark.parametrize("is_here", [True, False])
def test_a_result_of_a_gpu_is_kept_where_there_is_none(
    is_here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = {"commit": "HEAD-dirty", "date": "today", "machine": {"gpu": "some GPU"}}
    monkeypatch.setattr(run, "load", lambda *_: record)
    monkeypatch.setattr(device, "is_here", lambda: is_here)

    assert run.is_done("growth", "HEAD") is not is_here
