"""The published `leann` package in an environment of its own, because it brings torch.

`python -m benchmarks.leann_venv` makes it, about 2 GB; cases that would use it go on without.
"""

from pathlib import Path

from benchmarks import own_venv

NAME = "leann-venv"
# torch first, and exactly this one: it is to be had without CUDA.
PACKAGES = ("torch==2.13.0", "leann==0.3.8")
MAKE = "python -m benchmarks.leann_venv"


def python() -> Path | None:
    """Give the environment's Python; None if it was not made, or not to its end."""
    return own_venv.found(NAME, PACKAGES)


def make() -> None:
    """Install it, unless it is there."""
    if python() is None:
        own_venv.make(NAME, PACKAGES)


if __name__ == "__main__":
    make()
