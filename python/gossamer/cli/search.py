"""`gossamer search`: ask a question, get the places where the answer stands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from gossamer.cli.failures import ExitCode
from gossamer.cli.formats import Format, format_options
from gossamer.cli.session import (
    Session,
    common_options,
    model_option,
    pass_session,
    reranker_option,
)

__all__ = ["command", "count_option", "filter_options"]

_MOST_QUESTION = 1 << 16
Command = TypeVar("Command", bound=Callable[..., Any])

_FILTERS = [
    click.option(
        "--where",
        metavar="EXPR",
        help="Only where this holds of the metadata, such as 'year >= 2020 and lang == \"en\"'.",
    ),
    click.option("--path", "paths", metavar="GLOB", multiple=True, help="Only files like this."),
    click.option(
        "--type", "types", metavar="T", multiple=True, help="Only this kind: pdf, markdown, ..."
    ),
]


def filter_options(command: Command) -> Command:
    """Take --where, --path and --type."""
    for option in reversed(_FILTERS):
        command = option(command)
    return command


count_option = click.option(
    "-k",
    default=5,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="How many hits.",
)


@click.command("search", short_help="Find the places that answer a question.")
@click.argument("question", nargs=-1, required=True)
@count_option
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "semantic", "lexical"]),
    default="hybrid",
    show_default=True,
    help="By meaning and words, by meaning alone, or by words alone.",
)
@click.option(
    "--rerank",
    type=click.Choice(["auto", "none"]),
    default="auto",
    show_default=True,
    help="Rank the best of both rankings again by what they say, or add up their places.",
)
@reranker_option
@click.option(
    "--recall",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Share of the truly nearest chunks to find.  [default: 0.90 by meaning alone; "
    "otherwise codes choose what is ranked again]",
)
@filter_options
@click.option(
    "--since",
    "--after",
    "after",
    metavar="WHEN",
    help="Only mails and chats dated, and other files changed, since then: 7d, 12h, yesterday, "
    "monday, '3 weeks', 'last month', 2024-05-31, 2024.",
)
@click.option("--before", metavar="WHEN", help="Only those before then.")
@click.option(
    "--all", "wants_all", is_flag=True, help="Ask all indexes of `gossamer list` together."
)
@click.option("--plain", is_flag=True, help="Take quotes, + and - in the question for text.")
@click.option(
    "--per-file",
    default=2,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="N",
    help="Hits of one document, as long as there are others among the best; 0 for any number.",
)
@click.option(
    "--group",
    type=click.Choice(["file"]),
    help="One hit of each document, with the places of further ones.",
)
@click.option("--copies", is_flag=True, help="Show copies of a passage as hits of their own.")
@click.option("--full", is_flag=True, help="Show whole chunks, not their best lines.")
@click.option(
    "--min-score",
    metavar="P",
    type=click.FloatRange(0, 1),
    help="Only hits that answer with this probability, 0 to 1.",
)
@click.option("--explain", is_flag=True, help="Say what the search did, and why each hit is one.")
@click.option(
    "--update",
    type=click.Choice(["auto", "never", "always"]),
    default="auto",
    show_default=True,
    help="Bring up to 20 changed files up to date first, within 2 seconds; none; or all that was "
    "added, new files too.",
)
@model_option
@format_options
@common_options()
@pass_session
def command(
    session: Session,
    /,
    question: tuple[str, ...],
    group: str | None,
    copies: bool,
    explain: bool,
    format: Format,
    model: str,
    **options: Any,
) -> None:
    """Find the places that answer QUESTION: by meaning and by words. For - it is read from stdin.

    '"exact phrase"', '+word' and '-word' within it say what a hit must hold or must not;
    'path:docs', 'type:pdf' and 'title:lease' where it stands. Quotes keep them from the shell.

    Files that changed since they were added are brought up to date before the answer, if they are
    few and no other process changes the index (`--update`). Several indexes are asked together
    with '-i work -i notes' or --all.

    Each hit is strong, fair or weak. Exit code 1 if nothing close was found: no hit, or only weak
    ones.
    """
    from gossamer.cli.answers import ask
    from gossamer.cli.hits import show_results
    from gossamer.query.results import has_close

    asked = _read_question() if question == ("-",) else " ".join(question)
    if group:
        options["per_file"] = 1
    answer = ask(session, asked, model, is_grouped=bool(group), distinct=not copies, **options)
    show_results(session.output, answer, format, explain)
    if not has_close(answer.found.hits):
        raise SystemExit(ExitCode.NO)


def _read_question() -> str:
    given = sys.stdin.buffer.read(_MOST_QUESTION + 1)
    if len(given) > _MOST_QUESTION:
        raise click.UsageError(f"a question from stdin may have {_MOST_QUESTION:,} bytes at most")
    return given.decode("utf-8", "replace").strip()
