"""Whole runs, whose numbers count, and small ones that only show that a case works."""

import os

IS_SMALL = os.environ.get("GOSSAMER_BENCH_SMALL") == "1"


def scaled(whole: int, small: int) -> int:
    """Give the number for a whole run, or the one for a small run."""
    return small if IS_SMALL else whole
