"""The rivals from npm, pinned, and the bundles that a page loads."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.datasets import REPOSITORY, cache_folder
from benchmarks.report import Skipped

WEB = REPOSITORY / "web"
VERSIONS = {
    "mememo": "0.1.0",
    "hnswlib-wasm": "0.8.2",
    "voy-search": "0.6.3",
    "client-vector-search": "0.2.0",
}
# An encoder that client-vector-search loads when it embeds, which nobody asks it to.
_LEFT_OUT = ("@xenova/transformers", "onnxruntime-web")


def rivals() -> Path:
    """Give the folder of the rivals' packages, fetched once."""
    folder = cache_folder() / "browser-rivals"
    modules = folder / "node_modules"
    if all(_version(modules / name) == version for name, version in VERSIONS.items()):
        return modules
    if shutil.which("npm") is None:
        raise Skipped("npm is not there, and the rivals come from it")
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": VERSIONS}))
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skipped(f"npm could not fetch the rivals: {done.stderr.strip()[-300:]}")
    return modules


def bundle(entries: Sequence[str], folder: Path, modules: Path | None = None) -> None:
    """Bundle entries (paths within web/) into a folder, as modules for a page or a worker."""
    program = WEB / "node_modules" / ".bin" / "esbuild"
    if not program.exists():
        raise Skipped("web/node_modules is not there: run `npm ci` in web/")
    command = [
        str(program),
        *entries,
        *("--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=error"),
        *(f"--external:{name}" for name in _LEFT_OUT),
        f"--outdir={folder}",
    ]
    environment = {**os.environ, "NODE_PATH": str(modules or "")}
    subprocess.run(command, cwd=WEB, check=True, env=environment)


def _version(package: Path) -> str | None:
    described = package / "package.json"
    return json.loads(described.read_text())["version"] if described.exists() else None
