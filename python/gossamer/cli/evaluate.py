"""`gossamer eval`: recall against exact search and cost per question, on one's own index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli.output import Column, Output
from gossamer.cli.progress import show_steps
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import counted, share, size
from gossamer.errors import InvalidArgument

if TYPE_CHECKING:
    from gossamer.evaluate import Evaluation

__all__ = ["command"]

_RECALLS = (0.80, 0.90, 0.95, 0.98)


@click.command("eval", short_help="Measure recall and cost on this index.")
@click.option(
    "--questions",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Your questions, one on each line, or JSON lines with `question` and the `path` of the "
    "file that answers it. Without it sentences of the index are asked.",
)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    metavar="N",
    default=50,
    show_default=True,
    help="How many questions at most.",
)
@click.option(
    "-k",
    "--k",
    default=3,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="How many of the nearest chunks to find.",
)
@click.option(
    "--recall",
    "recalls",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    multiple=True,
    default=_RECALLS,
    show_default=True,
    help="A recall to ask for; may be given several times.",
)
@click.option(
    "--chunks",
    type=click.IntRange(min=0),
    metavar="N",
    default=5000,
    show_default=True,
    help="Measure on a sample of so many chunks, each of which is embedded once; 0 for all.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also draw recall against cost, as a new SVG file.",
)
@click.option("--replace", is_flag=True, help="Let the plot take the place of a file.")
@as_json_option
@common_options()
@pass_session
def command(
    session: Session,
    questions: Path | None,
    count: int,
    k: int,
    recalls: tuple[float, ...],
    chunks: int,
    plot: Path | None,
    replace: bool,
    as_json: bool,
) -> None:
    """Measure recall against exact search, and what a question costs, on this index."""
    from gossamer.evaluate import evaluate, read_questions, save_plot
    from gossamer.targets import check_vacant

    if plot is not None:
        check_vacant(plot, replace)  # now: measuring takes minutes
    elif replace:
        raise InvalidArgument("--replace is for the file of --plot; say which that is")
    asked = None if questions is None else read_questions(questions)
    with show_steps(session.output) as progress:
        evaluation = evaluate(
            session.open_index(),
            questions=asked,
            count=count,
            k=k,
            recalls=recalls,
            max_chunks=chunks,
            progress=progress,
        )
    if as_json:
        session.output.json(evaluation.to_json())
    else:
        _show(session.output, evaluation)
    if plot is not None:
        save_plot(evaluation, plot, replace=replace)
        session.output.note("drawn in ", (str(plot), "path"))


def _show(output: Output, evaluation: Evaluation) -> None:
    origin = " made from its text" if evaluation.is_made_from_text else ""
    output.line(
        f"{counted(evaluation.questions, 'question')}{origin}, the {evaluation.k} nearest of "
        f"{counted(evaluation.compared_chunks, 'chunk')}, model {evaluation.model}"
    )
    output.line(
        f"index: {counted(evaluation.chunks, 'chunk')}, {size(evaluation.index_bytes)} "
        f"({evaluation.bytes_per_chunk:,.0f} bytes a chunk), "
        f"{share(evaluation.index_bytes, evaluation.text_bytes)} of the text"
    )
    output.line()
    _show_recalls(output, evaluation)
    output.line()
    _show_modes(output, evaluation)
    if evaluation.found:
        output.line()
        _show_found(output, evaluation)


def _show_recalls(output: Output, evaluation: Evaluation) -> None:
    names = ("recall", "reached", "95 %", "embedded", "p95", "codes", "rounds")
    rows = [
        (
            f"{row.asked:.2f}",
            f"{row.reached:.3f}",
            f"{row.low:.2f}-{row.high:.2f}",
            f"{row.embedded:.1f}",
            f"{row.embedded_p95:.0f}",
            f"{row.codes_touched:,.0f}",
            f"{row.rounds:.1f}",
        )
        for row in evaluation.rows
    ]
    output.table([Column(name, is_number=True) for name in names], rows)


def _show_modes(output: Output, evaluation: Evaluation) -> None:
    names = ("searches", "ms", "CPU ms", "embedded")
    rows = [
        (
            row.mode,
            f"{row.searches:,}",
            f"{row.ms:,.1f}",
            f"{row.cpu_ms:,.1f}",
            f"{row.embedded:.1f}",
        )
        for row in evaluation.modes
    ]
    columns = [Column("whole search"), *(Column(name, is_number=True) for name in names)]
    output.table(columns, rows)


def _show_found(output: Output, evaluation: Evaluation) -> None:
    names = ("questions", "share", "95 %")
    rows = [
        (row.mode, f"{row.questions:,}", f"{row.share:.3f}", f"{row.low:.2f}-{row.high:.2f}")
        for row in evaluation.found
    ]
    columns = [Column("the file was found"), *(Column(name, is_number=True) for name in names)]
    output.table(columns, rows)
