"""`gossamer pull`: follow the index of a server, and bring what follows one up to date."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.cli.output import Column, Output
from gossamer.cli.progress import show_steps
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import counted, duration, near_path, size
from gossamer.errors import GossamerError, InvalidArgument, Locked, Unreachable

if TYPE_CHECKING:
    from gossamer.sync.follow import Edge, PullReport

__all__ = ["command", "show_news", "show_pull", "token_option"]

_EVERY_S = 60.0


def token_option(command: Any) -> Any:
    """Take --token."""
    return click.option(
        "--token",
        default="",
        metavar="TOKEN",
        help="What the server asks for; kept for the next time. Better in GOSSAMER_TOKEN, where "
        "other users do not see it.",
    )(command)


@click.command("pull", short_help="Follow the index of a server, or bring it up to date.")
@click.argument("url", required=False)
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--mode",
    metavar="MODE",
    help="What to keep of each chunk: codes (the usual), hot:BYTES (and some vectors), slim or "
    "slim:int8 (a graph and all vectors).",
)
@click.option(
    "--texts",
    type=click.Choice(["kept", "away"]),
    help="Keep all texts (the usual), or ask the server for them.",
)
@click.option("--budget", metavar="BYTES", help="Choose a slim index that fits, such as 50MB.")
@click.option("--model", metavar="NAME", help="Where the server's model is on this machine.")
@token_option
@click.option("--again", is_flag=True, help="Take all of it anew.")
@click.option("--watch", is_flag=True, help="Go on until Ctrl-C.")
@click.option(
    "--every",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    default=_EVERY_S,
    show_default=True,
    help="How often --watch looks.",
)
@as_json_option
@common_options()
@pass_session
def command(
    session: Session,
    /,
    url: str | None,
    folder: str | None,
    again: bool,
    watch: bool,
    every: float,
    as_json: bool,
    **options: Any,
) -> None:
    """Follow the index of the server at URL in DIR; without URL, bring what follows up to date.

    Only what changed comes over the network. DIR is an index in the usual place, named after
    the server, if it is not given. What was interrupted goes on where it stopped.
    """
    output = session.output
    edge, is_new = _edge_of(session, url, folder, options)
    try:
        report = _pull(output, edge, again)
    except Unreachable as error:
        if not watch or is_new:
            raise
        output.note((f"{error}; it is tried again", "warning"))
    else:
        if as_json:
            output.json({"folder": str(edge.folder), **asdict(report)})
        else:
            show_pull(output, report)
        if is_new:
            output.note("the index is in ", (near_path(str(edge.folder)), "path"))
    if watch:
        _watch(output, edge, every, as_json)


def _edge_of(
    session: Session, url: str | None, folder: str | None, options: dict[str, Any]
) -> tuple[Edge, bool]:
    """Give the edge that is meant, and whether it was not there before."""
    from gossamer.sync.follow import Edge, Wish, follow
    from gossamer.vectors.options import parse_bytes

    chosen = {name: value for name, value in options.items() if value}
    is_folder = url is not None and "://" not in url and Path(url).expanduser().is_dir()
    if url is None or (is_folder and folder is None):
        if unfit := chosen.keys() - {"token"}:
            raise InvalidArgument(
                f"--{min(unfit)} is chosen together with the server: `gossamer pull URL "
                f"--{min(unfit)} ...`"
            )
        place = session.folder if url is None else Path(url).expanduser()
        trust = session.settle_trust(place)
        return Edge.open(place, options["token"], trust=trust), False
    place = Path(folder).expanduser() if folder else _folder_for(session, url)
    is_new = not place.exists()
    session.settle_trust(place)
    if options["budget"]:
        chosen["budget"] = parse_bytes(options["budget"])
    edge = follow(url, place, Wish(**chosen))
    if edge.is_overheard:
        session.output.note(
            ("the token goes over the network as it is; https would hide it", "warning")
        )
    return edge, is_new


def _folder_for(session: Session, url: str) -> Path:
    """Give the folder that --index names, or one in the usual place with the server's name."""
    from urllib.parse import urlsplit

    from gossamer.store import default_folder
    from gossamer.sync.client import clean_url

    if session.is_named:
        return session.folder
    parts = urlsplit(clean_url(url))
    host = (parts.hostname or "").replace(":", "-").strip(".")
    return default_folder(f"{host}-{parts.port}" if parts.port else host)


def _pull(output: Output, edge: Edge, again: bool = False) -> PullReport:
    with show_steps(output) as progress:
        return edge.pull(progress, again=again)


def show_pull(output: Output, report: PullReport) -> None:
    """Say what came, and what it took."""
    if report.kind == "current":
        output.line(f"version {report.version} is the newest")
        return
    output.line(
        f"{report.kind} from version {report.from_version} to {report.version}: "
        f"{size(report.bytes_received)}, {counted(report.documents_changed, 'document')} changed, "
        f"{report.documents_removed:,} removed, in {duration(report.seconds)}"
    )
    rows = [(name, size(count)) for name, count in report.bytes_by_section.items()]
    if rows:
        output.table([Column("section"), Column("received", is_number=True)], rows)
    if report.estimate:
        _show_estimate(output, report.estimate, report.actual)
    show_news(output, report)


def show_news(output: Output, report: PullReport, told: Collection[int] = ()) -> None:
    """Say what nobody should miss: which changes took the place of others, what went awry.

    `told` are numbers of conflicts that the user knows of already.
    """
    if report.fell_back:
        output.note((f"taken anew, because: {report.fell_back}", "warning"))
    for conflict in report.conflicts:
        if conflict.number not in told:
            output.note((f"conflict {conflict.number}: {conflict.note}", "warning"))
    if report.over_budget:
        total = report.actual.get("total", 0)
        budget = total - report.over_budget
        output.note(
            (
                f"the index takes {size(total)} now, and its budget is {size(budget)}: "
                f"`gossamer pull URL --budget {budget}` chooses anew",
                "warning",
            )
        )


def _show_estimate(output: Output, estimate: Mapping[str, int], actual: Mapping[str, int]) -> None:
    columns = [Column("part"), *(Column(name, is_number=True) for name in ("estimate", "actual"))]
    names = [*(name for name in estimate if name != "total"), "total"]
    rows = [(name, size(estimate.get(name, 0)), size(actual.get(name, 0))) for name in names]
    output.table(columns, rows)


def _watch(output: Output, edge: Edge, every_s: float, as_json: bool) -> None:
    output.note(f"looking every {duration(every_s)}; Ctrl-C stops")
    is_told = False
    try:
        while True:
            time.sleep(every_s)
            now = datetime.now().strftime("%H:%M:%S")
            try:
                report = _pull(output, edge)
            except (Unreachable, Locked) as error:
                # Said once: it may take all night until the server is there again.
                if not is_told:
                    output.note((f"{now}  {error}; it is tried again", "warning"))
                is_told = True
                continue
            except GossamerError as error:
                output.note((f"{now}  not updated: {error}; it is tried again", "warning"))
                continue
            is_told = False
            if report.kind == "current":
                continue
            if as_json:
                output.json({"folder": str(edge.folder), **asdict(report)})
            else:
                output.line(f"{now}  ", *_short(report))
                show_news(output, report)
    except KeyboardInterrupt:
        output.note("stopped")


def _short(report: PullReport) -> list[str]:
    changed = counted(report.documents_changed, "document")
    return [
        f"version {report.version}: {size(report.bytes_received)}, {changed} changed, ",
        f"{report.documents_removed:,} removed",
    ]
