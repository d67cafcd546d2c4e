"""What hits are printed as: text for people, JSON, lines for editors, or paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gossamer.cli.output import Output
from gossamer.cli.words import near_path

if TYPE_CHECKING:
    from gossamer.cli.answers import Answer
    from gossamer.cli.last_search import Place
    from gossamer.records import Hit

__all__ = ["Format", "best_line", "format_options", "line_of", "print_paths", "print_vimgrep"]

# Of a line that a chunk begins within: no editor is asked for a column behind that.
_MOST_BEFORE = 1 << 16
Command = TypeVar("Command", bound=Callable[..., Any])


class Format(NamedTuple):
    """What is printed."""

    name: str  # text, json, vimgrep or paths
    end: str = "\n"  # of each path
    has_weak: bool = True


_OPTIONS = [
    click.option(
        "--format",
        "format_name",
        type=click.Choice(["text", "json", "vimgrep", "paths"]),
        help="How to print hits: text is the usual, json the same as --json, vimgrep a line "
        "PATH:LINE:COLUMN:TEXT each for editors, paths the same as -l. Weak hits are left out of "
        "the last two.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option(
        "-l",
        "--files-with-matches",
        "as_paths",
        is_flag=True,
        help="Print only the path of each file that has a hit, or a copy of one, best first.",
    ),
    click.option(
        "-0", "--null", "ends_with_null", is_flag=True, help="End each path with a NUL; for xargs."
    ),
]


def format_options(command: Command) -> Command:
    """Take --format, --json, -l and -0, and give the command one `format`."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> Any:
        return command(*args, format=_choose(options), **options)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run  # type: ignore[return-value]


def _choose(options: dict[str, Any]) -> Format:
    """Take what was said of the format out of the options."""
    named, ends_with_null = options.pop("format_name"), options.pop("ends_with_null")
    is_json, is_paths = options.pop("as_json"), options.pop("as_paths")
    flags = {"json": is_json, "paths": is_paths}
    wanted = {name for name, is_wanted in flags.items() if is_wanted} | ({named} - {None})
    if len(wanted) > 1:
        raise click.UsageError(f"choose one of the formats {' and '.join(sorted(wanted))}")
    name = wanted.pop() if wanted else "text"
    if ends_with_null and name != "paths":
        raise click.UsageError("-0 ends paths, so it needs -l")
    if options.get("explain") and name in ("vimgrep", "paths"):
        raise click.UsageError(f"--explain prints text, which --format {name} has no place for")
    # What other programs go through holds no weak hits, unless it was said how sure they must be.
    has_weak = name in ("text", "json") or options.get("min_score") is not None
    return Format(name, "\0" if ends_with_null else "\n", has_weak)


def print_paths(output: Output, hits: Iterable[Hit], end: str) -> None:
    """Print the path of each file once, best first; copies behind what they are copies of."""
    for path in dict.fromkeys(place.path for hit in hits for place in hit.places):
        output.path(near_path(path), end=end)


def print_vimgrep(output: Output, answer: Answer, hits: Iterable[Hit]) -> None:
    """Print PATH:LINE:COLUMN:TEXT for each hit, as `rg --vimgrep` does: columns are of bytes.

    What has no lines is cited as line 1, with its page, row or slide before the text.
    """
    for hit in hits:
        output.path(near_path(hit.path), f":{_vimgrep(answer, hit)}")


def _vimgrep(answer: Answer, hit: Hit) -> str:
    start, line = best_line(hit)
    number = line_of(hit)
    if number is None:
        return f"1:1:{hit.location[len(hit.path) :].strip(' ,#:')}: {line.strip()}"
    if not answer.has_own_lines(hit):  # columns of the file are not known
        return f"{number}:1:{line.strip()}"
    first = hit.text.rfind("\n", 0, hit.answer[0]) + 1
    whole = hit.text[first:].partition("\n")[0]
    head = answer.before(hit, _MOST_BEFORE).rpartition("\n")[2] if not first and hit.start else ""
    at = hit.answer[0] - first
    at += len(whole[at:]) - len(whole[at:].lstrip())
    # The first word of the question, where marks before it do not hide where it stands.
    marked = (hit.snippet[a:b] for a, b in hit.highlights if hit.best[0] <= a < start + len(line))
    at = max(at, whole.find(next(marked, ""), at))
    column = len((head + whole[:at]).encode("utf-8", "replace")) + 1
    return f"{number}:{column}:{head}{whole}".rstrip("\r")


def line_of(place: Hit | Place) -> int | None:
    """Give the line of the file that something stands in; None where it is cited by others."""
    is_line = place.unit == "line" or (place.kind == "jsonl" and place.unit == "row")
    return place.line if is_line else None


def best_line(hit: Hit) -> tuple[int, str]:
    """Give the line of the snippet that answers best, and where it begins."""
    start = hit.snippet.rfind("\n", 0, hit.best[0]) + 1
    return start, hit.snippet[start:].partition("\n")[0]
