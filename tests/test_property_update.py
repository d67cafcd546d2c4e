"""An index that was brought from one state of a folder to another answers like a new one."""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_embedder import use_tiny

from gossamer.index import Index

MODES = ("hybrid", "semantic", "lexical")
QUESTIONS = ("whale", "lease due", "harbour title sea")
WORDS = ("whale", "lease", "due", "sea", "harbour", "seal", "May", "June")
NAMES = (
    *("a.md", "b.md", "c.txt", "d.txt", "page.html", "code.py", "data.csv", "chat.jsonl"),
    *("sub/a.md", "sub/e.rst", "sub/deep/f.txt", "empty.txt", "binary.bin"),
)
EVERYTHING = 10_000  # more hits than there are chunks


@dataclass(frozen=True)
class File:
    """What a file says; `stamp` is the time that it claims to have been changed at."""

    paragraphs: tuple[str, ...]
    stamp: int


paragraphs = st.lists(st.sampled_from(WORDS), min_size=3, max_size=25).map(" ".join)
contents = st.lists(paragraphs, max_size=4).map(tuple)
states = st.dictionaries(st.sampled_from(NAMES), contents, max_size=6)


@st.composite
def changes(draw: st.DrawFn) -> tuple[dict[str, File], dict[str, File]]:
    """Draw two states of a folder that have much in common."""
    before = {name: File(text, 1) for name, text in draw(states).items()}
    after = dict(before)
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=6)):
        step = draw(st.sampled_from(("write", "edit", "touch", "delete", "rename")))
        old = after.get(name)
        if step == "write" or old is None:
            after[name] = File(draw(contents), 2)
        elif step == "edit":
            place = draw(st.integers(0, len(old.paragraphs)))
            rest = (*old.paragraphs[:place], draw(paragraphs), *old.paragraphs[place + 1 :])
            after[name] = File(rest, 2)
        elif step == "touch":
            after[name] = File(old.paragraphs, 2)
        else:
            del after[name]
            if step == "rename":
                after[draw(st.sampled_from(NAMES))] = old
    return before, after


def write(folder: Path, files: dict[str, File]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, file in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(render(name, file.paragraphs))
        # Long ago, so that a file is never read again only because it is so new.
        os.utime(path, (file.stamp * 10**6, file.stamp * 10**6))


def render(name: str, texts: Sequence[str]) -> bytes:
    kind = Path(name).suffix
    if kind == ".md":
        text = "".join(f"# Title {number}\n\n{text}\n\n" for number, text in enumerate(texts))
    elif kind == ".html":
        text = "<html><body>" + "".join(f"<h2>Title</h2><p>{text}</p>" for text in texts)
    elif kind == ".py":
        text = "".join(f'def f{number}():\n    """{t}"""\n' for number, t in enumerate(texts))
    elif kind == ".csv":
        text = "title,text\n" + "".join(f"{number},{text}\n" for number, text in enumerate(texts))
    elif kind == ".jsonl":
        text = "".join(
            f'{{"title": "t{number}", "text": "{t}"}}\n' for number, t in enumerate(texts)
        )
    elif kind == ".bin":
        return b"\x00\x01" + "".join(texts).encode()
    else:
        text = "\n\n".join(texts)
    return text.encode()


def answers(index: Index) -> dict[str, list[tuple[object, ...]]]:
    """Give every hit in every mode; where hits are equally good their order does not count."""
    return {
        f"{mode}: {question}": sorted(
            (hit.distance or 0.0, hit.location, hit.key, hit.text, hit.last)
            for hit in index.search(question, EVERYTHING, mode=mode)
        )
        for mode in MODES
        for question in QUESTIONS
    }


def summary(index: Index) -> dict[str, object]:
    status = index.status()
    return {
        "counts": (status.indexed, status.skipped, status.failed, status.documents, status.chunks),
        "reasons": status.reasons,
        "kinds": status.kinds,
        "text": status.text_bytes,
        "fresh": status.is_fresh,
    }


@pytest.fixture(scope="module", params=[False, True], ids=["vectors", "codes"])
def with_codes(request: pytest.FixtureRequest) -> Iterator[bool]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_tiny(monkeypatch, with_codes=request.param)
        yield request.param


@pytest.mark.parametrize("store_text", [False, True], ids=["by reference", "stored"])
@given(change=changes())
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_an_index_brought_from_a_to_b_answers_as_one_made_of_b(
    tmp_path: Path, with_codes: bool, store_text: bool, change: tuple[dict[str, File], ...]
):
    before, after = change
    files = tmp_path / "files"
    for name in ("changed", "new"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)

    write(files, before)
    changed = make_index(tmp_path / "changed", store_text)
    changed.add_paths([files])
    write(files, after)
    changed.add_paths()
    if not after:
        changed.remove([files])  # an empty folder may be a disk that is not there
    new = make_index(tmp_path / "new", store_text)
    new.add_paths([files])

    assert answers(changed) == answers(new)
    assert summary(changed) == summary(new)
    assert changed.check() == []


def make_index(folder: Path, store_text: bool) -> Index:
    return Index.create(folder, model="tiny", chunk_tokens=32, store_text=store_text)
