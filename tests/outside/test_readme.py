"""Every snippet of the package's README, run in a browser from the packed tarball."""

import re
import shutil
from pathlib import Path

import pytest
from browser import Heard
from packed import FIXTURES, install, put_index, unpack
from playwright.sync_api import Page, expect
from static_site import StaticSite
from web_bundle import WEB

README = (WEB / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
MODULES = [text for kind, text in BLOCKS if kind == "js"]
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Snippet</title>
<script type="importmap">
{ "imports": {
  "gossamer-web": "./node_modules/gossamer-web/dist/gossamer.js",
  "gossamer-web/vectors": "./node_modules/gossamer-web/dist/vectors.js"
} }
</script>
<body><script type="module" src="snippet.js"></script></body></html>
"""


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    package = unpack(folder)
    shutil.copytree(package / "dist", folder / "gossamer")
    put_index(folder)
    return folder


def test_no_snippet_is_of_a_kind_that_is_not_run() -> None:
    assert {kind for kind, _ in BLOCKS} <= {"js", "jsx", "html"}
    assert len(MODULES) >= 4


@pytest.mark.parametrize("number", range(len(MODULES)))
def test_a_snippet_runs_as_written(page: Page, heard: Heard, public: Path, number: int) -> None:
    (public / "index.html").write_text(_PAGE, encoding="utf-8")
    done = '\ndocument.title = "done";\n'
    (public / "snippet.js").write_text(MODULES[number] + done, encoding="utf-8")
    lines: list[str] = []
    page.on("console", lambda said: lines.append(said.text))
    with StaticSite(public) as site:
        page.goto(site.url)
        expect(page).to_have_title("done", timeout=30_000)
    assert heard.errors == []
    if number == 0:  # what it prints are places and texts
        assert any("The lease is due" in line for line in lines)


def test_the_page_with_an_import_map_works_as_written(
    page: Page, heard: Heard, public: Path
) -> None:
    (text,) = [text for kind, text in BLOCKS if kind == "html"]
    (public / "index.html").write_text(f"<!doctype html>{text}", encoding="utf-8")
    with StaticSite(public) as site:
        page.goto(site.url)
        expect(page).to_have_title(re.compile("flat|sea"), timeout=30_000)
    assert heard.errors == []


def test_the_component_works_as_written(page: Page, heard: Heard) -> None:
    (text,) = [text for kind, text in BLOCKS if kind == "jsx"]
    project = install("esbuild")
    lines = text.splitlines()
    assert len(lines) <= 20
    mount = """import { createRoot } from "react-dom/client";
    createRoot(document.body).render(<Search />);
    """
    site_folder = project.folder / "readme"
    shutil.rmtree(site_folder, ignore_errors=True)
    (project.folder / "readme.jsx").write_text(text + mount, encoding="utf-8")
    flags = ("--bundle", "--format=esm", "--jsx=automatic", f"--outfile={site_folder}/page.js")
    project.run("npx", "esbuild", "readme.jsx", *flags)
    # The worker stands beside what was made of the package, which esbuild leaves to us.
    package = project.folder / "node_modules" / "gossamer-web" / "dist"
    shutil.copytree(package, site_folder, dirs_exist_ok=True)
    index = (FIXTURES / "esbuild" / "index.html").read_text(encoding="utf-8")
    (site_folder / "index.html").write_text(index, encoding="utf-8")
    put_index(site_folder)
    with StaticSite(site_folder) as site:
        page.goto(site.url)
        page.locator("input").fill("when is the lease due")
        expect(page.locator("li").first).to_contain_text("The lease is due", timeout=30_000)
    assert heard.errors == []
