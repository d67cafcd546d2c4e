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
# Written at the end, with what was installed.
DONE = "installed"


def python_of(
    name: str, requirements: Sequence[str], variables: Mapping[str, str] | None = None
) -> Path:
    """Give the Python of an environment in the cache; a full run makes it if it is missing.

    Skipped, with the reason, if it is not there or cannot be made.
    """
    if (python := found(name, requirements)) is not None:
        return python
    if SCALE != FULL:
        raise Skipped(f"{name} is not in the cache; a full run of this case makes it")
    return make(name, requirements, variables)


def found(name: str, requirements: Sequence[str]) -> Path | None:
    """Give the environment's Python; None if it was not made, or not to its end."""
    folder = cache_folder() / name
    done = folder / DONE
    if done.exists() and done.read_text(encoding="utf-8") == "\n".join(requirements):
        return folder / "bin" / "python"
    return None


def make(
    name: str, requirements: Sequence[str], variables: Mapping[str, str] | None = None
) -> Path:
    """Install `requirements` one after another, with `variables` in the environment."""
    folder = cache_folder() / name
    python = folder / "bin" / "python"
    venv.create(folder, with_pip=True, clear=True)
    for requirement in requirements:
        command = [str(python), "-m", "pip", "install", "--quiet", requirement]
        _run(command, dict(variables or {}))
    (folder / DONE).write_text("\n".join(requirements), encoding="utf-8")
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
