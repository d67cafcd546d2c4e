"""TypeScript of the browser's package, made into what a real browser runs.

bundle(["tests/browser/storage.ts"], folder)  # folder/storage.js
write_page(folder)                            # folder/index.html, an empty page
with StaticSite(folder) as site: ...
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from browser import give_up

WEB = Path(__file__).resolve().parent.parent / "web"
_MISSING = "web/node_modules is not there: run `npm ci` in web/, with node 20 or later"
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Test</title><body></body></html>
"""


def require_bundler() -> None:
    """Skip the test where node or the packages that bundling takes are not there."""
    if shutil.which("node") is None or not _esbuild().is_file():
        give_up(_MISSING)


def bundle(entries: Sequence[str], folder: Path) -> None:
    """Bundle each entry (a path within web/) to `folder`/NAME.js, as a module.

    NAME is that of the file, or what stands before it as in "name=src/file.ts". The test is skipped
    where there is no bundler.
    """
    require_bundler()
    command = [
        str(_esbuild()),
        *entries,
        *("--bundle", "--format=esm", "--target=es2022", "--log-level=error"),
        *("--external:onnxruntime-web", f"--outdir={folder}"),
    ]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"bundling failed:\n{done.stderr}")


def build_package(folder: Path) -> None:
    """Put page and package into a folder, which loses what it held, as `make web` builds them."""
    require_bundler()
    command = ["node", str(WEB / "build.mjs"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"building failed:\n{done.stderr}")


def copy_wasm(folder: Path) -> None:
    """Put the compiled modules into a folder."""
    for path in (WEB / "wasm" / "built").glob("*.wasm"):
        shutil.copyfile(path, folder / path.name)


def write_page(folder: Path, name: str = "index.html") -> None:
    """Write an empty page: what a test evaluates there has the origin of the site."""
    (folder / name).write_text(_PAGE, encoding="utf-8")


def _esbuild() -> Path:
    return WEB / "node_modules" / ".bin" / "esbuild"
