"""Run the benchmarks: `python -m benchmarks.run [CASE ...]` (all of this scale without a name).

A case that has a result of this commit is not run again, so a run that was broken off goes on where
it stopped. What was measured is written to `results/`, and from there to `docs/`.
"""

import argparse
import importlib
import os
import subprocess
import sys
import time
import traceback

from benchmarks.cases import CASES, IN_SMALL
from benchmarks.datasets import REPOSITORY
from benchmarks.gpu import device
from benchmarks.report import Result, Skipped, cpu_model, current_commit, load, print_table, save
from benchmarks.scale import SCALE, SMALL, SMOKE


def main() -> int:
    """Run what was asked for. The exit status is 1 if a case failed to run (not if it missed)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("case", nargs="*", help=f"one of {', '.join(CASES)}")
    parser.add_argument(
        "--since",
        metavar="COMMIT",
        default="HEAD",
        help="results of this commit and later ones count as done (default: HEAD)",
    )
    parser.add_argument("--again", action="store_true", help="run also what has a result")
    asked = parser.parse_args()
    for unknown in set(asked.case) - set(CASES):
        parser.error(f"there is no case {unknown!r}; there are {', '.join(CASES)}")
    cases = asked.case or [case for case in CASES if SCALE != SMALL or case in IN_SMALL]

    print(f"{cpu_model()}, {os.cpu_count()} cores, commit {current_commit()}, a {SCALE} run")
    start = time.perf_counter()
    results = {
        case: run_case(case)
        for case in cases
        if asked.again or SCALE == SMOKE or not is_done(case, asked.since)
    }
    done = [result for result in results.values() if result is not None]
    verdicts = [row.verdict for result in done for row in result.rows]
    print(f"\n{verdicts.count('pass')} bars passed, {verdicts.count('miss')} missed", end="")
    print(f", {len(results) - len(done)} cases failed to run", end="")
    if left := len(cases) - len(results):
        print(f", {left} had been run before", end="")
    print(f"; {(time.perf_counter() - start) / 60:.1f} minutes")
    if SCALE != SMOKE:
        write_documents()
    return 0 if len(done) == len(results) else 1


def is_done(case: str, since: str) -> bool:
    """Whether a case has a result of this scale, of a clean tree, no older than a commit.

    One of a GPU counts where there is none, whatever its commit: the case does less without.
    """
    record = load(case, SCALE)
    if record is None:
        return False
    gpu = record["machine"].get("gpu")
    if gpu and not device.is_here():
        print(f"{case}: measured {record['date']} with {gpu}, which is not here; not run again")
        return True
    command = ["git", "merge-base", "--is-ancestor", since, record["commit"]]
    found = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False)
    if is_new := found.returncode == 0:
        print(f"{case}: measured {record['date']} at {record['commit']}; not run again")
    return is_new


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
    seconds = time.perf_counter() - start
    print_table(case.TITLE, result.rows)
    where = "not saved" if SCALE == SMOKE else save(name, case.TITLE, result, seconds).name
    print(f"  ({seconds:.0f} s, {where})", flush=True)
    return result


def write_documents() -> None:
    """Write tables and plots from the saved results; without matplotlib, tables alone."""
    from benchmarks import document

    for path in document.write_all():
        print(f"written: {path.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    sys.exit(main())
