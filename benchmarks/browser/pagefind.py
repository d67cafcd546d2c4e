"""Pagefind, the search for static sites that many documentations have, over the same pages."""

import json
import shutil
import subprocess
from pathlib import Path

from benchmarks.datasets import cache_folder
from benchmarks.report import Skipped

VERSION = "1.6.0"
SHOWN = 4  # results whose texts are fetched, as its own interface does at first
_PAGE = f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Search</title>
<script type="module">
const pagefind = await import("./pagefind/pagefind.js");
await pagefind.init();
window.ask = async (question) => {{
  const {{ results }} = await pagefind.search(question);
  const shown = await Promise.all(results.slice(0, {SHOWN}).map((result) => result.data()));
  return shown.map(({{ url }}) => url);
}};
</script></html>
"""


def write_pagefind(pages: Path, folder: Path) -> None:
    """Index the pages of a folder, and write what its page needs."""
    program = _installed() / "node_modules" / ".bin" / "pagefind"
    command = [str(program), "--site", str(pages), "--output-path", str(folder / "pagefind")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skipped(f"pagefind could not index: {done.stderr.strip()[-300:]}")
    (folder / "index.html").write_text(_PAGE)


def _installed() -> Path:
    folder = cache_folder() / "pagefind"
    package = folder / "node_modules" / "pagefind" / "package.json"
    if package.exists() and json.loads(package.read_text())["version"] == VERSION:
        return folder
    if shutil.which("npm") is None:
        raise Skipped("npm is not there, and pagefind comes from it")
    folder.mkdir(exist_ok=True)
    wanted = {"private": True, "dependencies": {"pagefind": VERSION}}
    (folder / "package.json").write_text(json.dumps(wanted))
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skipped(f"npm could not fetch pagefind: {done.stderr.strip()[-300:]}")
    return folder
