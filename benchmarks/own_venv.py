"""Virtual environments for rivals and harnesses that do not fit into ours."""

import os
import subprocess
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.datasets import cache_folder
from benchmarks.report import Skipped
from benchmarks.scale import FULL, SCALE

SHOWN = 400


def python_of(
    name: str, requirements: Sequence[str], variables: Mapping[str, str] | None = None
) -> Path:
    """Give the Python of an environment in the cache; a full run makes it if it is missing.

    `requirements` are installed one after another, with `variables` in the environment. Skipped,
    with the reason, if it is not there or cannot be made.
    """
    folder = cache_folder() / name
    python = folder / "bin" / "python"
    done = folder / "installed"
    if done.exists() and done.read_text(encoding="utf-8") == "\n".join(requirements):
        return python
    if SCALE != FULL:
        raise Skipped(f"{folder.name} is not in the cache; a full run of this case makes it")
    venv.create(folder, with_pip=True, clear=True)
    for requirement in requirements:
        command = [str(python), "-m", "pip", "install", "--quiet", requirement]
        _run(command, dict(variables or {}))
    done.write_text("\n".join(requirements), encoding="utf-8")
    return python


def our_packages() -> str:
    """Give the folder of our own packages, for `site.addsitedir` in such an environment."""
    return sysconfig.get_path("purelib")


def _run(command: Sequence[str], variables: Mapping[str, str]) -> None:
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )
    if ran.returncode:
        said = (ran.stderr or ran.stdout).strip()[-SHOWN:]
        raise Skipped(f"python {' '.join(command[1:])} failed: {said}")
