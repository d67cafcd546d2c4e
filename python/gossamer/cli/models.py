"""`gossamer models`: which models there are, getting one, choosing the default."""

from __future__ import annotations

from dataclasses import asdict

import click

from gossamer.cli.output import Column
from gossamer.cli.progress import show_steps
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import size

__all__ = ["command"]


@click.group("models")
def command() -> None:
    """List models, get one, choose the one of new indexes."""


@command.command("list")
@as_json_option
@common_options()
@pass_session
def list_command(session: Session, as_json: bool) -> None:
    """List the models that are known by name, and those that were fetched.

    A folder of model files, http://HOST:PORT/v1#MODEL and sentence-transformers:NAME are models,
    too.
    """
    from gossamer.models import list_models

    models = list_models()
    if as_json:
        session.output.json({"models": [asdict(model) for model in models]})
        return
    rows = [
        (
            "*" if model.is_default else "",
            model.name,
            "here" if model.is_here else "to get",
            str(model.dim or "?"),
            size(model.bytes),
            model.licence,
            model.about,
        )
        for model in models
    ]
    session.output.table(_COLUMNS, rows)
    session.output.note(("* the model of new indexes", "quiet"))


_COLUMNS = [
    Column(""),
    Column("name", style="title"),
    Column("files"),
    Column("dim", is_number=True),
    Column("bytes", is_number=True),
    Column("licence", may_fold=True),
    Column("about", may_fold=True),
]


@command.command("get")
@click.argument("name")
@common_options()
@pass_session
def get_command(session: Session, name: str) -> None:
    """Fetch the model NAME, or ORGANISATION/NAME from the model hub, if it is not here."""
    from gossamer.models import get_model

    with show_steps(session.output) as progress:
        model = get_model(name, progress)
    session.output.note(f"{model.name} is in {model.folder}")


@command.command("use")
@click.argument("name")
@common_options()
@pass_session
def use_command(session: Session, name: str) -> None:
    """Make NAME the model of new indexes; those that exist keep theirs."""
    from gossamer.models import use_model

    use_model(name)
    session.output.note(f"new indexes are made with {name}")
