"""`gossamer push`: send texts and files to the server that an index follows."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli.failures import ExitCode
from gossamer.cli.output import Column, Output
from gossamer.cli.progress import show_steps
from gossamer.cli.pull import show_news, token_option
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.errors import InvalidArgument

if TYPE_CHECKING:
    from gossamer.sync.records import PushResult
    from gossamer.sync.send import PushReport

__all__ = ["command"]

_MOST_TEXT_BYTES = 16 << 20


@click.command("push", short_help="Send texts and files to the server that is followed.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--text", "text_id", metavar="ID", help="Put the text from standard input there.")
@click.option("--title", metavar="TITLE", default="", help="Of that text.")
@click.option(
    "--remove",
    "removed",
    metavar="ID",
    multiple=True,
    help="Take out a text by its id, or a file that was pushed by its name.",
)
@token_option
@as_json_option
@common_options()
@pass_session
def command(
    session: Session,
    /,
    paths: tuple[Path, ...],
    text_id: str | None,
    title: str,
    removed: tuple[str, ...],
    token: str,
    as_json: bool,
) -> None:
    """Send changes to the server that the index follows, and pull what became of them.

    They are written down first: if the server does not answer (exit code 5) they wait, and the
    next `gossamer push`, also one without anything new, sends them. If someone else changed the
    same text or file meanwhile, the last to arrive wins, and `gossamer conflicts` shows what it
    replaced. Exit code 1 if the server refused something.
    """
    from gossamer.sync.follow import Edge
    from gossamer.sync.send import Outgoing, push

    texts = [] if text_id is None else [_text_from_input(text_id, title)]
    trust = session.settle_trust(session.folder)
    edge = Edge.open(session.folder, token, trust=trust)
    with show_steps(session.output) as progress:
        report = push(edge, Outgoing(texts, removed, paths), progress)
    if as_json:
        session.output.json(asdict(report))
    else:
        _show(session.output, report)
    if any(result.outcome == "refused" for result in report.results):
        raise SystemExit(ExitCode.NO)


def _text_from_input(id: str, title: str) -> dict[str, object]:
    content = sys.stdin.buffer.read(_MOST_TEXT_BYTES + 1)
    if len(content) > _MOST_TEXT_BYTES:
        raise InvalidArgument(
            f"a text has {_MOST_TEXT_BYTES:,} bytes at most; push it as a file instead"
        )
    try:
        return {"id": id, "text": content.decode("utf-8-sig"), "title": title}
    except UnicodeDecodeError:
        raise InvalidArgument(
            "what came on standard input is no UTF-8 text; push it as a file instead"
        ) from None


def _show(output: Output, report: PushReport) -> None:
    if not report.results:
        output.line("nothing waited to be sent")
    else:
        columns = [Column(""), Column("id", may_fold=True), Column("note", may_fold=True)]
        output.table(columns, [_row(result) for result in report.results])
    if report.problem:
        output.note((f"sent, but not pulled: {report.problem}", "warning"))
    if report.pulled is not None:
        told = {result.conflict for result in report.results}
        show_news(output, report.pulled, told)


def _row(result: PushResult) -> tuple[str, str, str]:
    return result.outcome, result.id, result.note
