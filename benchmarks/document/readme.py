"""The tables of the README, filled in from the results."""

from pathlib import Path

from benchmarks.datasets import REPOSITORY

README = REPOSITORY / "README.md"


def write() -> Path:
    """Write the README's tables anew."""
    return README
