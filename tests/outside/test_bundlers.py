"""What `npm install` and three lines give in projects of each bundler, in a real browser."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from browser import Heard
from packed import Project, install, put_index, unpack
from playwright.sync_api import Page, expect
from search_site import POLICY
from static_site import StaticSite

# Those that are installed and built in seconds; BUNDLERS=all for all.
QUICK = ("vite", "esbuild")
SLOW = ("webpack", "parcel", "next")
ALL = os.environ.get("BUNDLERS") == "all"
FOUND = "flat|The lease is due on the first of March.|sea|volcanoes|1|1"


def slow(name: str) -> object:
    return pytest.param(name, marks=pytest.mark.skipif(not ALL, reason="BUNDLERS=all runs it"))


@pytest.mark.parametrize("name", ["vite", slow("webpack"), slow("parcel")])
def test_a_built_page_searches_and_indexes(page: Page, heard: Heard, name: str) -> None:
    site_folder = install(name).site()
    # Parcel writes an import map into the page, which that policy forbids.
    with StaticSite(site_folder, {} if name == "parcel" else POLICY) as site:
        page.goto(site.url)
        expect(page.locator("body")).to_have_text(FOUND, timeout=30_000)
        assert all(address.startswith(site.url) for address in heard.addresses)
    assert heard.errors == []


def test_a_page_of_the_development_server_of_vite_searches_and_indexes(
    page: Page, heard: Heard
) -> None:
    project = install("vite")
    (project.folder / "public").mkdir(exist_ok=True)
    put_index(project.folder / "public")
    with developing(project) as url:
        page.goto(url)
        expect(page.locator("body")).to_have_text(FOUND, timeout=30_000)
    assert heard.errors == []


def test_a_worker_that_was_copied_searches_with_react(page: Page, heard: Heard) -> None:
    site_folder = install("esbuild").site()
    with StaticSite(site_folder, POLICY) as site:
        page.goto(site.url)
        expect(page).to_have_title("flat", timeout=30_000)
        answer = page.locator("output")
        expect(answer).to_have_text("")
        page.locator("input").fill("whales in the sea")
        expect(answer).to_have_text("sea|flat")
        page.locator("input").fill("when is the lease due")
        expect(answer).to_have_text("flat|sea")
        page.locator("input").fill("  ")
        expect(answer).to_have_text("")
        page.locator("input").fill('"')
        expect(answer).to_have_attribute("aria-busy", "false")
    assert heard.errors == []


@pytest.mark.skipif(not ALL, reason="BUNDLERS=all runs it")
def test_a_page_of_next_is_rendered_on_the_server_and_searches(page: Page, heard: Heard) -> None:
    site_folder = install("next").site()
    assert "Found:" in (site_folder / "index.html").read_text(encoding="utf-8")
    with StaticSite(site_folder) as site:
        page.goto(site.url)
        expect(page.locator("p")).to_have_text("Found: flat|volcanoes", timeout=30_000)
    assert heard.errors == []


def test_a_page_with_an_import_map_searches_and_indexes(
    page: Page, heard: Heard, tmp_path: Path
) -> None:
    unpack(tmp_path)
    put_index(tmp_path)
    script = (Path(__file__).parent / "projects" / "search.js").read_text(encoding="utf-8")
    (tmp_path / "index.html").write_text(
        """<!doctype html><html lang="en"><meta charset="utf-8"><title>Import map</title>
        <script type="importmap">
        { "imports": {
          "gossamer-web": "./node_modules/gossamer-web/dist/gossamer.js",
          "gossamer-web/vectors": "./node_modules/gossamer-web/dist/vectors.js"
        } }
        </script>
        <body><script type="module">"""
        + script
        + "</script></body></html>",
        encoding="utf-8",
    )
    with StaticSite(tmp_path) as site:
        page.goto(site.url)
        expect(page.locator("body")).to_have_text(FOUND, timeout=30_000)
    assert heard.errors == []


def test_in_node_starting_fails_with_an_error_of_ours(tmp_path: Path) -> None:
    unpack(tmp_path)
    (tmp_path / "server.mjs").write_text(
        """import { search, start, GossamerError } from "gossamer-web";
        let error;
        try { start(); } catch (caught) { error = caught; }
        const said = await search("https://example.org/x", "whales").catch((caught) => caught);
        console.log(error instanceof GossamerError, error.reason, said.reason, error.message);
        """,
        encoding="utf-8",
    )
    said = Project(tmp_path).run("node", "server.mjs")
    assert said.startswith("true Unavailable Unavailable there are no web workers here: call")


def test_in_node_vectors_are_searched_on_its_thread_and_in_another(tmp_path: Path) -> None:
    unpack(tmp_path)
    (tmp_path / "vectors.mjs").write_text(
        """import { VectorIndex } from "gossamer-web/vectors";
        import { writeFileSync } from "node:fs";
        for (const worker of [false, true]) {
          const made = await VectorIndex.build([[1, 0], [0, 1]], 2, { worker });
          writeFileSync("two.gossamer", new Uint8Array(await (await made.save()).arrayBuffer()));
          const opened = await VectorIndex.open("./two.gossamer", { worker, memoryBudget: 4 });
          console.log((await made.search([0.1, 1], { k: 1 })).ids, (await opened.ids()).length);
          await Promise.all([made.close(), opened.close()]);
        }
        const failed = await VectorIndex.open("a name").catch((caught) => caught);
        console.log(failed.reason);
        """,
        encoding="utf-8",
    )
    said = Project(tmp_path).run("node", "vectors.mjs")
    assert said.split() == ["[", "1", "]", "2", "[", "1", "]", "2", "Unavailable"]


@contextmanager
def developing(project: Project) -> Iterator[str]:
    """Run the development server of Vite; give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    vite = project.folder / "node_modules" / "vite" / "bin" / "vite.js"
    command = ["node", str(vite), "--strictPort", "--host", "127.0.0.1", "--port", str(port)]
    # Not by npm, which would not pass on that it is to end.
    server = subprocess.Popen(command, cwd=project.folder, stdout=subprocess.DEVNULL)
    try:
        for _ in range(300):
            if answers(url):
                break
            time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=30)


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False
