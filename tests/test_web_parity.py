"""The same file and the same questions: a page finds what Python finds, wherever vectors are."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from search_site import MODEL, POLICY, call, export_index, imported, start, write_package
from static_site import StaticSite

from gossamer import Index
from gossamer.query.results import record_results
from gossamer.single.engine import EngineChoice

DOCS = Path(__file__).resolve().parent.parent / "docs"
K = 8
TEXTS = (
    {"id": "鯨", "text": "鯨は海に住む哺乳類です。😀😀 シロナガスクジラは最大の動物です。"},
    {
        "id": "whale 🐋",
        "text": "😀 Whales 🐋🐋 are the largest mammals 🎉 of the sea. Whales!",
    },
)
SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("how are vectors compressed", {}),
    ("what happens when two people change the same text", {}),
    ("codebook", {}),
    ("which files does the index folder hold?", {}),
    ("choose a model for another language", {}),
    ("哺乳類 最大の動物", {}),
    ("largest whales 🐋", {}),
    ("recall", {"where": 'type == "markdown" and "decisions" in path'}),
    ("byte ranges of a file", {"where": 'extension == "md"'}),
    ("words without an index", {"where": "size > 2000"}),
    ("graph of neighbors", {"where": 'not (path == "nowhere")'}),
    ("nothing passes this", {"where": 'type == "pdf"'}),
    ("model", {"paths": ["decisions/*.md", "!*browser*"]}),
    ("mammals", {"types": [".TXT", "text"]}),
    ("format of the file", {"after": "2020-01-01", "types": ["markdown"]}),
    ("format of the file", {"before": "2020"}),
    ("zzzyqx", {}),
    ("how are vectors compressed", {"rerank": "none"}),
    ("largest whales 🐋", {"rerank": "none", "recall": 0.99}),
    ("choose a model for another language", {"recall": 0.99}),
    ('"the index folder"', {}),
    ('vectors "model pack" recall', {}),
    ("+codebook how are vectors compressed", {}),
    ("model -onnx -language", {}),
    ('+file -"model pack" of so many bytes', {}),
    ("recall path:decisions type:markdown", {}),
    ("recall -path:decisions", {}),
    ("neighbors title:graph", {}),
    ("the graph of neighbors title:submarine", {}),
    ("mammals -type:markdown", {"where": "size > 0"}),
    ("QuerySession", {}),
    ("what does take_delta do", {}),
    ("E99731", {}),
    ('graph "no such phrase anywhere"', {}),
    ("largest +unheardof", {}),
    ('"the index folder" -path:decisions', {"plain": True}),
    ('動物 "哺乳類です"', {}),
)
MODES = ("hybrid", "semantic", "lexical")
MEASURES = ("distance", "tokens", "words")
ENGINES = {
    "codes": EngineChoice(),
    "int8": EngineChoice("int8", "slim"),
    "f16": EngineChoice("f16", "full"),
}

_SEARCH = """async (gossamer, target, options, searches, k, isPicked) => {
  const from = isPicked ? await (await fetch(target)).blob() : target;
  const index = await gossamer.open(from, options);
  const found = [];
  for (const { question, mode, where, ...rest } of searches) {
    const filter = where === undefined ? {} : { filter: where };
    found.push(await index.search(question, { k, mode, ...filter, ...rest }));
  }
  const status = await index.status();
  await index.close();
  return { found, status };
}"""


@dataclass
class Asked:
    """A question, and what Python found."""

    question: str
    mode: str
    options: dict[str, Any]
    hits: list[dict[str, Any]]
    absent: list[str]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticSite]:
    folder = tmp_path_factory.mktemp("parity")
    index = Index.create(folder / "index", model=MODEL)
    index.add_paths([DOCS])
    index.add_texts(TEXTS)
    public = folder / "public"
    public.mkdir()
    write_package(public)
    for name, engine in ENGINES.items():
        export_index(index, public / f"{name}.gossamer", engine)
    with StaticSite(public, POLICY) as site:
        yield site


@pytest.fixture(scope="module")
def asked(site: StaticSite, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Asked]]:
    folder = tmp_path_factory.mktemp("imported")
    return {
        name: ask(imported(site.folder / f"{name}.gossamer", folder / name)) for name in ENGINES
    }


def ask(index: Index, **given: Any) -> list[Asked]:
    asked = []
    for question, options in SEARCHES:
        for mode in MODES:
            results = index.search(question, K, mode=mode, **options, **given)
            described = record_results(question, results).hits
            hits = [
                {
                    "id": hit.id,
                    "location": one.location,
                    "line": one.line,
                    "first": hit.first,
                    "last": hit.last,
                    "title": hit.title,
                    "text": hit.text,
                    "snippet": one.snippet,
                    "shown": [one.snippet[start:end] for start, end in one.highlights],
                    "ranks": dict(hit.ranks),
                    "score": hit.score,
                    "distance": hit.distance,
                    "tokens": hit.tokens,
                    "words": hit.words,
                }
                for hit, one in zip(results, described, strict=True)
            ]
            asked.append(Asked(question, mode, options, hits, list(results.absent)))
    return asked


@pytest.fixture(scope="module")
def page(browser: Browser, site: StaticSite) -> Page:
    page = browser.new_page()
    start(page, site.url)
    return page


@pytest.mark.parametrize(
    ("file", "vectors"),
    [
        ("codes", "recompute"),
        ("int8", "ranges"),
        ("f16", "ranges"),
    ],
)
def test_a_page_finds_what_python_finds(
    page: Page, asked: dict[str, list[Asked]], file: str, vectors: str
) -> None:
    questions = [{"question": a.question, "mode": a.mode, **a.options} for a in asked[file]]

    answer = call(page, _SEARCH, f"./{file}.gossamer", {"vectors": vectors}, questions, K)

    assert answer["status"]["vectors"] == vectors
    for one, results in zip(asked[file], answer["found"], strict=True):
        compare(one, results)


def test_a_page_that_neither_has_codes_nor_reads_vectors_finds_the_same(
    page: Page, site: StaticSite, tmp_path: Path
) -> None:
    # It has fewer grounds to tell which hits are weak and thus make room for others of a document.
    asked = ask(imported(site.folder / "f16.gossamer", tmp_path / "f16"), per_file=0)
    questions = [{"question": a.question, "mode": a.mode, "perFile": 0, **a.options} for a in asked]

    answer = call(page, _SEARCH, "./f16.gossamer", {"vectors": "recompute"}, questions, K)

    assert answer["status"]["vectors"] == "recompute"
    for one, results in zip(asked, answer["found"], strict=True):
        compare(one, results)


@pytest.mark.parametrize("file", ["codes", "f16"])
@pytest.mark.parametrize("name", [None, "kept"])
def test_a_file_that_was_picked_gives_the_same_hits_also_from_storage(
    page: Page, asked: dict[str, list[Asked]], file: str, name: str | None
) -> None:
    questions = [{"question": a.question, "mode": a.mode, **a.options} for a in asked[file]]
    options = {"model": "./pocket.model.gossamer"} | ({"name": f"{name} {file}"} if name else {})

    answer = call(page, _SEARCH, f"./{file}.gossamer", options, questions, K, True)

    assert answer["status"]["vectors"] == ("recompute" if file == "codes" else "stored")
    for one, results in zip(asked[file], answer["found"], strict=True):
        compare(one, results)


def test_python_finds_the_same_in_the_file_at_its_address(
    site: StaticSite,
    asked: dict[str, list[Asked]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path))
    found = ask(Index.open(f"{site.url}codes.gossamer"))

    for there, here in zip(found, asked["codes"], strict=True):
        said = f"{here.question} ({here.mode}, {here.options})"
        assert [hit["id"] for hit in there.hits] == [hit["id"] for hit in here.hits], said
        assert there.absent == here.absent, said


def compare(asked: Asked, results: dict[str, Any]) -> None:
    said = f"{asked.question} ({asked.mode}, {asked.options})"
    hits = results["hits"]
    assert results["absent"] == asked.absent, said
    assert [hit["id"] for hit in hits] == [hit["id"] for hit in asked.hits], said
    for hit, expected in zip(hits, asked.hits, strict=True):
        assert shown(hit) == expected["shown"], said
        for name in expected.keys() - {"shown", "score", *MEASURES}:
            assert hit[name] == expected[name], f"{said}: {name}"
        # Where the best were ranked again, scores are made of what was measured.
        rounding = 1e-9 if expected["tokens"] is None else 1e-4
        assert hit["score"] == pytest.approx(expected["score"], abs=rounding), said
        for name in MEASURES:
            assert hit[name] == pytest.approx(expected[name], abs=1e-5), f"{said}: {name}"


def shown(hit: dict[str, Any]) -> list[str]:
    """Give the highlighted words; places in JavaScript's texts are in UTF-16."""
    units = hit["snippet"].encode("utf-16-le")
    return [units[2 * start : 2 * end].decode("utf-16-le") for start, end in hit["highlights"]]
