"""How large a run is: all of it, a part that takes minutes, or just what shows that it works."""

import os
from typing import TypeVar

T = TypeVar("T")
FULL, SMALL, SMOKE = "full", "small", "smoke"
SCALES = (FULL, SMALL, SMOKE)
SCALE = os.environ.get("GOSSAMER_BENCH_SCALE", FULL)
if SCALE not in SCALES:
    raise SystemExit(f"GOSSAMER_BENCH_SCALE must be one of {', '.join(SCALES)}, not {SCALE!r}")


def scaled(full: T, smoke: T, small: T | None = None) -> T:
    """Give the value for this run; a small one takes the full run's where none is given."""
    if SCALE == SMOKE:
        return smoke
    return small if SCALE == SMALL and small is not None else full
