"""`gossamer eval`: recall against exact search and cost per question, on one's own index."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli.output import Column, Output
from gossamer.cli.progress import show_steps
from gossamer.cli.session import Session, as_json_option, common_options, pass_session

if TYPE_CHECKING:
    from gossamer.evaluate import Evaluation

__all__ = ["command"]

_RECALLS = (0.80, 0.90, 0.95, 0.98)


@click.command("eval")
@click.option(
    "--questions",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Your questions, one on each line; else they are made from the index.",
)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    metavar="N",
    default=100,
    show_default=True,
    help="How many questions at most.",
)
@click.option("-k", default=3, show_default=True, type=click.IntRange(min=1), metavar="N")
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
    default=0,
    help="Compare with exact search over so many chunks only; 0 for all.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also draw recall against cost (needs matplotlib).",
)
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
    as_json: bool,
) -> None:
    """Measure recall against exact search, and what a question costs, on this index.

    Exact search embeds every chunk once, which takes as long as `gossamer add` did.
    """
    from gossamer.evaluate import evaluate, save_plot

    asked = None
    if questions is not None:
        lines = questions.read_text(encoding="utf-8", errors="replace").splitlines()
        asked = [line.strip() for line in lines if line.strip()]
    with show_steps(session.output) as progress:
        evaluation = evaluate(
            session.open_index(),
            questions=asked,
            count=count,
            k=k,
            recalls=recalls,
            chunks=chunks,
            progress=progress,
        )
    if as_json:
        session.output.json(asdict(evaluation))
    else:
        _show(session.output, evaluation)
    if plot is not None:
        save_plot(evaluation, plot)
        session.output.note(f"drawn in {plot}")


def _show(output: Output, evaluation: Evaluation) -> None:
    """Print a row for each recall, with a column for each number that was measured."""
    rows = evaluation.rows
    names = [field.name for field in fields(rows[0])] if rows else []
    columns = [Column(name.replace("_", " "), is_number=True) for name in names]
    output.table(columns, [[_number(getattr(row, name)) for name in names] for row in rows])


def _number(value: object) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else str(value)
