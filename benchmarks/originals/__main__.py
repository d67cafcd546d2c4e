"""Download originals and write them as the benchmarks read them."""

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks.originals import __doc__ as about
from benchmarks.originals.download import CannotFetch, fetch
from benchmarks.originals.layout import Origin, write_manifest, write_set

NAMES = ("scifact", "hotpotqa", "financebench", "locomo", "cosqa", "rfc", "mdn")


def main(arguments: list[str] | None = None) -> int:
    """Make what was asked for; 1 if something could not be had."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.originals",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="+", choices=NAMES)
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="sets go here")
    parser.add_argument(
        "--downloads",
        type=Path,
        metavar="FOLDER",
        help="originals are kept here, and fetched if they are not (default: TO/originals)",
    )
    asked = parser.parse_args(arguments)
    downloads = asked.downloads or asked.to / "originals"
    failed = 0
    for name in dict.fromkeys(asked.name):
        try:
            make_set(name, asked.to / name, downloads / name)
        except (CannotFetch, OSError, ValueError, KeyError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


def make_set(name: str, folder: Path, downloads: Path) -> None:
    """Fetch the original of one set and write the set with its manifest."""
    original = importlib.import_module(f"benchmarks.originals.{name}")
    files = {source.name: fetch(source, downloads) for source in original.SOURCES}
    write_set(original.make(files, folder), folder)
    write_manifest(Origin(name, original.SOURCES, files), folder)
    print(f"{folder}: made from its original; results measured on it will say so", flush=True)


if __name__ == "__main__":
    sys.exit(main())
