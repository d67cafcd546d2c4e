"""Where a hit leads: its headings, its URL, and the site that this is seen from."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from served import serve
from tiny_embedder import use_tiny

from gossamer import Index, _core, errors
from gossamer.chunking import ANCHORS
from gossamer.cli import cli
from gossamer.single import site as single_site
from gossamer.store.manifest import Manifest, Site

FILES = {
    "guide/start.md": "# Guide\n\nWhales swim.\n\n## Notes\n\nSharks bite.\n\n"
    "## Use it {#using}\n\nOtters dive.\n\n### Notes\n\nKrakens sleep.\n",
    "page.html": "<title>Zoo</title><h1>Zoo</h1><p>Welcome, beasts.</p>\n"
    '<section id="lions"><h2>Big cats</h2><p>Lions roar.</p></section>\n'
    "<h2>Bears</h2><p>Grizzlies well-hidden &amp; warm.</p>\n"
    '<h2><a name="t"></a>Tigers</h2><p>Tigers prowl.</p>\n',
    "api/index.rst": "Birds\n=====\n\nPenguins march.\n\nOwls\n----\n\nOwls hoot.\n",
    "a b/50%.txt": "Marmots whistle.\n",
    "front.md": "---\npermalink: /about/fronts/\n---\n\nOctopuses hide.\n",
}
WHERE = {
    "whales": "guide/start.html#guide",
    "sharks": "guide/start.html#notes",
    "otters": "guide/start.html#using",
    "krakens": "guide/start.html#notes-1",
    "lions": "page.html#lions",
    "tigers": "page.html#t",
    "grizzlies": "page.html#:~:text=Grizzlies%20well%2Dhidden%20%26%20warm.",
    "penguins": "api/#birds",
    "owls": "api/#owls",
    "marmots": "a%20b/50%25.txt#:~:text=Marmots%20whistle.",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index, and the files beside it."""
    use_tiny(monkeypatch, with_codes=True)
    for name, text in FILES.items():
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    Index.create(tmp_path / "index").add_paths([tmp_path / "files"])
    return tmp_path / "index"


def url_of(index: Index, word: str) -> str:
    """Where the best hit for a word leads."""
    return index.search(word, 1, mode="lexical")[0].url


def add(index: Index, **metadata: str) -> None:
    """A text about a narwhal, with metadata."""
    index.add_texts([{"id": "text", "text": "Narwhals sing.", "metadata": metadata}])


def test_a_hit_leads_to_the_nearest_heading_of_its_page_or_to_its_line(folder: Path):
    index = Index.open(folder, base_url="/docs/")

    assert {word: url_of(index, word) for word in WHERE} == {
        word: f"/docs/{where}" for word, where in WHERE.items()
    }


def test_a_hit_names_the_headings_that_its_best_line_stands_under(folder: Path):
    index = Index.open(folder)

    def headings(word: str) -> tuple[str, ...]:
        return index.search(word, 1, mode="lexical")[0].headings

    assert headings("krakens") == ("Guide", "Use it", "Notes")
    assert headings("sharks") == ("Guide", "Notes")
    assert headings("owls") == ("Birds", "Owls")
    assert headings("lions") == ("Zoo", "Big cats")
    assert headings("marmots") == ()


def test_a_chunk_that_begins_below_a_heading_knows_which_later_one_ends_it(tmp_path, monkeypatch):
    use_tiny(monkeypatch, with_codes=True)
    filler = "Plankton drifts in the current without end.\n" * 14
    text = f"# Sea\n\n## Deep\n\n{filler}\n### Floor\n\nCrabs.\n\n## Shore\n\nGulls cry.\n"
    (tmp_path / "sea.md").write_text(text)
    (tmp_path / "sea.rst").write_text(
        f"Sea\n===\n\nDeep\n----\n\n{filler}\nFloor\n~~~~~\n\nCrabs.\n\n"
        "Shore\n-----\n\nGulls cry.\n"
    )
    index = Index.create(tmp_path / "index", chunk_tokens=64)
    index.add_paths([tmp_path])

    hits = index.search("gulls cry", 2, mode="lexical", distinct=False)

    assert sorted(hit.kind for hit in hits) == ["markdown", "rst"]
    assert all(hit.start > text.index("Sea") + 20 for hit in hits)
    assert all(hit.headings[-1] == "Shore" and "Deep" not in hit.headings for hit in hits)


def test_without_a_base_there_is_no_url_but_that_which_a_document_names(folder: Path):
    index = Index.open(folder)
    add(index, url="https://example.org/n")

    assert url_of(index, "whales") == ""
    assert url_of(index, "octopuses").startswith("/about/fronts/#:~:text=Octopuses")
    assert url_of(index, "narwhals") == "https://example.org/n#:~:text=Narwhals%20sing."


def test_the_url_that_a_document_names_wins(folder: Path):
    index = Index.open(folder, base_url="https://example.org/docs/")
    add(index, url="notes/one", permalink="/other/")

    assert url_of(index, "octopuses").startswith("https://example.org/about/fronts/#:~:text=")
    assert url_of(index, "narwhals").startswith("https://example.org/docs/notes/one#:~:text=")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        " java\tscript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example/",
        "\\\\evil.example",
        "/\\evil.example",
    ],
)
def test_a_url_that_is_none_of_the_web_is_never_given(folder: Path, url: str):
    index = Index.open(folder, base_url="/docs/")
    add(index, url=url, permalink=url)

    hit = index.search("narwhals", 1, mode="lexical")[0]

    assert hit.url == ""
    assert hit.metadata["url"] == url


def test_styles_name_pages_as_sites_do(folder: Path):
    def where(style: str) -> tuple[str, str]:
        index = Index.open(folder, base_url="/docs", url_style=style)
        return url_of(index, "whales"), url_of(index, "owls")

    assert where("html") == ("/docs/guide/start.html#guide", "/docs/api/#owls")
    assert where("folder") == ("/docs/guide/start/#guide", "/docs/api/#owls")
    assert where("file") == ("/docs/guide/start.md#guide", "/docs/api/index.rst#owls")


@pytest.mark.parametrize("base", ["javascript:x", "//host/", "ftp://host/", "a b"])
def test_a_base_that_is_none_is_refused(folder: Path, base: str):
    with pytest.raises(errors.InvalidArgument, match="base URL"):
        Index.open(folder, base_url=base)


def test_a_style_without_a_base_or_that_is_none_is_refused(folder: Path):
    with pytest.raises(errors.InvalidArgument, match="needs a base URL"):
        Index.open(folder, url_style="folder")
    with pytest.raises(errors.InvalidArgument, match="one of html, folder, file"):
        Index.open(folder, base_url="/", url_style="pretty")


def test_the_base_stays_when_the_index_changes(folder: Path):
    index = Index.open(folder, base_url="/docs/")
    index.add_texts([{"id": "more", "text": "More words."}])

    assert url_of(index, "owls") == "/docs/api/#owls"


def test_an_export_says_where_its_pages_are_and_so_does_what_is_made_of_it(
    folder: Path, tmp_path: Path
):
    file, again = tmp_path / "one.gossamer", tmp_path / "again.gossamer"
    Index.open(folder).export(file, base_url="https://example.org/d/", url_style="folder")
    imported = Index.import_file(file, tmp_path / "imported")
    imported.add_texts([{"id": "more", "text": "More words."}])
    imported.export(again)
    last = Index.import_file(again, tmp_path / "last")

    assert url_of(imported, "sharks") == "https://example.org/d/guide/start/#notes"
    assert url_of(last, "krakens") == "https://example.org/d/guide/start/#notes-1"
    assert url_of(last, "grizzlies") == f"https://example.org/d/{WHERE['grizzlies']}"


def test_an_export_without_a_base_says_nothing_of_one(folder: Path):
    manifest = Index.open(folder).snapshot.manifest

    assert b'"site"' not in manifest.to_bytes()
    assert Manifest.from_bytes(manifest.to_bytes()).site == Site()


def test_a_hostile_base_leads_nowhere(folder: Path):
    index = Index.open(folder)
    index.snapshot.site_named = Site("javascript:alert(1)//")

    assert url_of(index, "whales") == ""


def test_anchors_are_not_shown_and_are_few_bytes_where_they_follow_from_words(folder: Path):
    index = Index.open(folder)
    written = [document.get(ANCHORS, "") for document in index.snapshot.catalogue.metadata()]

    assert all(ANCHORS not in hit.metadata for hit in index.search("whales lions owls", 9))
    assert "rst docutils" in written
    assert sum(map(len, map(str, written))) < 120


def test_metadata_of_a_text_names_no_anchors(folder: Path):
    index = Index.open(folder, base_url="/docs/")
    text = "# One\n\nSeals bark.\n"
    index.add_texts(
        [
            {
                "id": "text",
                "text": text,
                "markup": "markdown",
                "metadata": {ANCHORS: "markdown github 2#evil", "url": "/seals"},
            }
        ]
    )

    assert url_of(index, "seals") == "/seals#one"


def test_an_index_whose_documents_say_nothing_of_anchors_leads_to_lines(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gossamer.update.prepare.with_anchors", lambda *_: {})
    index = Index.create(folder.parent / "old")
    index.add_paths([folder.parent / "files"])
    index = Index.open(folder.parent / "old", base_url="/docs/")

    assert url_of(index, "sharks") == "/docs/guide/start.html#:~:text=Sharks%20bite."
    assert index.search("sharks", 1, mode="lexical")[0].headings == ("Guide", "Notes")


def test_the_next_add_brings_anchors_into_an_index_of_before_and_embeds_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in FILES:  # a file that changed just now is looked at again in any case
        os.utime(folder.parent / "files" / name, (1_700_000_000, 1_700_000_000))
    with monkeypatch.context() as before:
        before.setattr("gossamer.update.prepare.with_anchors", lambda *_: {})
        before.setattr("gossamer.update.prepare.READER_VERSION", 2)
        Index.create(folder.parent / "old").add_paths([folder.parent / "files"])
    index = Index.open(folder.parent / "old", base_url="/docs/")

    report = index.add_paths()

    assert (report.updated, report.chunks_embedded) == (len(FILES), 0)
    assert url_of(index, "sharks") == "/docs/guide/start.html#notes"


def test_chunks_that_a_program_cuts_have_lines_and_no_anchors(folder: Path):
    from gossamer.records import ChunkSpan

    index = Index.open(folder, base_url="/docs/")
    index.add_texts(
        [
            {
                "id": "t",
                "text": "# One\n\nSeals bark.\n",
                "markup": "markdown",
                "metadata": {"url": "/s"},
            }
        ],
        chunker=lambda document, _: [ChunkSpan(7, len(document.text), ((2, 3),))],
    )

    assert url_of(index, "seals") == "/s#:~:text=Seals%20bark."


def test_copies_and_further_places_lead_somewhere_too(folder: Path):
    (folder.parent / "files" / "copy.txt").write_text("Marmots whistle.\n")
    index = Index.open(folder, base_url="/docs/")
    index.add_paths([folder.parent / "files"])

    hit = index.search("marmots", 3, mode="lexical")[0]

    assert {place.url for place in hit.places} == {
        f"/docs/{WHERE['marmots']}",
        "/docs/copy.txt#:~:text=Marmots%20whistle.",
    }


def test_a_server_says_where_hits_lead(folder: Path):
    with serve(folder.parent, base_url="/docs/", url_style="file") as client:
        answer = client.post("/v1/search", json={"question": "krakens", "k": 1}).json()
        chunk = client.get(f"/v1/chunks/{answer['hits'][0]['id']}").json()

    (hit,) = answer["hits"]
    assert hit["url"] == "/docs/guide/start.md#notes-1"
    assert hit["headings"] == ["Guide", "Use it", "Notes"]
    assert chunk["url"].startswith("/docs/guide/start.md#")


def test_the_command_line_exports_a_site_with_its_base(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<!doctype html>")
    monkeypatch.setattr(single_site, "page_folder", lambda: page)
    options = ["--site", str(tmp_path / "public"), "--base-url", "/docs/", "--url-style", "folder"]

    made = CliRunner().invoke(cli, ["export", str(folder), *options])

    assert made.exit_code == 0, made.output
    file = tmp_path / "public" / "index.gossamer"
    imported = Index.import_file(file, tmp_path / "imported")
    found = CliRunner().invoke(
        cli, ["--index", str(imported.folder), "search", "krakens", "-k", "1", "--json"]
    )
    assert json.loads(found.stdout)["hits"][0]["url"] == "/docs/guide/start/#notes-1"


def test_the_command_line_refuses_a_base_that_is_none(folder: Path, tmp_path: Path):
    made = CliRunner().invoke(
        cli, ["export", str(folder), str(tmp_path / "x.gossamer"), "--base-url", "javascript:x"]
    )

    assert made.exit_code != 0
    assert "base URL" in made.output
    assert not (tmp_path / "x.gossamer").exists()


def test_any_anchors_of_a_strangers_index_are_read_without_a_crash(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    said = iter(['markdown github 2#x"><script>', "rst", "\x00", "markdown github 99999999999#a"])
    monkeypatch.setattr(
        "gossamer.update.prepare.with_anchors",
        lambda *_: {ANCHORS: next(said, "markdown")},
    )
    index = Index.create(folder.parent / "strange")
    index.add_paths([folder.parent / "files"])
    index = Index.open(folder.parent / "strange", base_url="/docs/")

    urls = [url_of(index, word) for word in WHERE]

    assert all(url.startswith("/docs/") and not set(url) & set('"<>') for url in urls)
    assert _core.is_safe_url(b"/docs/")
    assert not _core.is_safe_url(b"javascript:x")
