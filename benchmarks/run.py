"""Run the benchmarks: `python -m benchmarks.run [CASE ...]` (all of them without a name)."""

import argparse
import importlib
import os
import sys
import time
import traceback

from benchmarks.report import Result, Skipped, cpu_model, current_commit, print_table, save
from benchmarks.scale import IS_SMALL

# The order of the table. Plots come last, from what the others saved.
CASES = (
    "codes",
    "adaptive",
    "dial",
    "hub_graph",
    "two_level",
    "stored_qps",
    "graph_bytes",
    "build_time",
    "prune_time",
    "scan_speed",
    "insert",
    "open_1m",
    "bounded_build",
    "lexical",
    "folder_bytes",
    "folder_recall",
    "answer_quality",
    "encoder",
    "pipeline_speed",
    "query_cost",
    "update_cost",
    "install_size",
    "slim_rivals",
    "delta",
    "long_run",
    "server_load",
    "browser_speed",
    "browser_bytes",
)


def main() -> int:
    """Run what was asked for. The exit status is 1 if a case failed to run (not if it missed)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("case", nargs="*", help=f"one of {', '.join(CASES)}")
    cases = parser.parse_args().case or list(CASES)
    for unknown in set(cases) - set(CASES):
        parser.error(f"there is no case {unknown!r}; there are {', '.join(CASES)}")

    print(f"{cpu_model()}, {os.cpu_count()} cores, commit {current_commit()}")
    results = {case: run_case(case) for case in cases}
    done = [result for result in results.values() if result is not None]
    verdicts = [row.verdict for result in done for row in result.rows]
    print(f"\n{verdicts.count('pass')} bars passed, {verdicts.count('miss')} missed", end="")
    print(f", {len(results) - len(done)} cases failed to run")
    if not IS_SMALL:
        draw_plots()
    return 0 if len(done) == len(results) else 1


def run_case(name: str) -> Result | None:
    """Run, print and save one case; None if it raised (the others still run)."""
    case = importlib.import_module(f"benchmarks.cases.{name}")
    start = time.perf_counter()
    try:
        result: Result = case.run()
    except Skipped as reason:
        print(f"\n{case.TITLE}\n  skipped: {reason}")
        return Result([])
    except Exception:
        print(f"\n{case.TITLE}\n  could not run:", file=sys.stderr)
        traceback.print_exc()
        return None
    print_table(case.TITLE, result.rows)
    where = "a small run: not saved" if IS_SMALL else save(name, case.TITLE, result).name
    print(f"  ({time.perf_counter() - start:.0f} s, {where})")
    return result


def draw_plots() -> None:
    """Draw from the newest results; without matplotlib say so."""
    try:
        from benchmarks import plots
    except ModuleNotFoundError as missing:
        print(f"no plots: {missing}; install the extra with pip install -e '.[bench]'")
        return
    for path in plots.draw_all():
        print(f"drawn: {path.name}")


if __name__ == "__main__":
    sys.exit(main())
