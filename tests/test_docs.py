"""What the documents say is what the package does."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

import gossamer

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")])
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
WITH_CODE = [path for path in DOCUMENTS if "```python\n" in path.read_text(encoding="utf-8")]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("name", gossamer.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    reference = (ROOT / "docs/python.md").read_text(encoding="utf-8")

    assert re.search(rf"`[^`\n]*\b{re.escape(name)}\b", reference), f"docs/python.md lacks {name}"


@pytest.mark.parametrize("path", WITH_CODE, ids=name_of)
def test_python_in_documents_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)

    exec("\n".join(blocks), {"__name__": "document"})


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_examples_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]

    missing = [link for link in local if not (path.parent / link).exists()]
    assert missing == []


def test_every_line_of_the_threat_model_has_its_test() -> None:
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    tests = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    known = set(re.findall(r"def (test_\w+)", tests))
    rows = page.partition("## Who, and what")[2].partition("\n\n`make")[0].splitlines()
    lines = [row for row in rows if row.startswith("|")][2:]

    assert set(re.findall(r"`(test_\w+)`", page)) <= known
    assert [row for row in lines if "`test_" not in row and "edge.md" not in row] == []
    assert len(lines) > 20


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    required = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    required += [name for extra in extras for name in extra]
    reasons = (ROOT / "docs/decisions/0002-dependencies.md").read_text(encoding="utf-8")

    names = {re.split(r"[<>=!~\[ ]", requirement)[0] for requirement in required}
    assert {name for name in names if name not in reasons} == set()


def test_the_version_is_the_one_in_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert gossamer.__version__ == project["project"]["version"]


def test_the_readme_fits_on_a_few_screens() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 150
