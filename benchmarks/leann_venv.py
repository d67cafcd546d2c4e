"""The published `leann` package in an environment of its own, because it brings torch.

`python -m benchmarks.leann_venv` makes it, about 2 GB; cases that would use it go on without.
"""

import subprocess
import venv
from pathlib import Path

from benchmarks.datasets import cache_folder

# torch first, and exactly this one: it is to be had without CUDA.
PACKAGES = ("torch==2.13.0", "leann==0.3.8")
MAKE = "python -m benchmarks.leann_venv"


def python() -> Path | None:
    """Give the environment's Python; None if it was not made, or not to its end."""
    folder = _folder()
    return folder / "bin" / "python" if (folder / "done").exists() else None


def make() -> None:
    """Install it, unless it is there."""
    if python() is not None:
        return
    folder = _folder()
    venv.create(folder, with_pip=True, clear=True)
    for package in PACKAGES:
        python_there = str(folder / "bin" / "python")
        subprocess.run([python_there, "-m", "pip", "install", package], check=True)
    (folder / "done").write_text("\n".join(PACKAGES), encoding="utf-8")


def _folder() -> Path:
    return cache_folder() / "leann-venv"


if __name__ == "__main__":
    make()
