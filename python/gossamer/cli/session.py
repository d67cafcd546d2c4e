"""What the options that all commands share say: which index, how many threads, how much is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from gossamer.cli.output import Output
from gossamer.errors import WrongState
from gossamer.places import is_address

if TYPE_CHECKING:
    from gossamer.index import Index

__all__ = [
    "Session",
    "as_json_option",
    "common_options",
    "model_option",
    "pass_session",
    "reranker_option",
    "site_options",
]

_DEFAULT = "default"
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(slots=True)
class Session:
    """One run of the command line."""

    index: str = _DEFAULT
    others: tuple[str, ...] = ()  # that were named besides, for commands that take several
    is_said: bool = False  # whether they were named on the command line
    threads: int = 0
    trust: bool = False
    output: Output = field(default_factory=Output)

    @property
    def is_named(self) -> bool:
        """Whether the index was named, here or in the environment."""
        return self.index != _DEFAULT

    @property
    def names(self) -> tuple[str, ...]:
        """All indexes that were named."""
        return (self.index, *self.others)

    @property
    def folder(self) -> Path:
        """The folder of the index: a path as it is, a name in the usual place."""
        from gossamer.store import default_folder
        from gossamer.store.manifest import MANIFEST

        self._check_one()
        if is_address(self.index):
            raise WrongState(
                f"{self.index} is an address, and this needs an index on this machine; `search`, "
                "`similar`, `show` and `status` take a file at an address, others what `gossamer "
                "import FILE` makes of it"
            )
        here = Path(self.index).expanduser()
        if self.index.startswith((".", "~")) or set(self.index) & set("/\\:"):
            return here
        named = default_folder(self.index)
        is_here = (here / MANIFEST).is_file() and not (named / MANIFEST).is_file()
        return here if is_here else named

    def open_index(self, model: str = "") -> Index:
        """Open the index, with its model from another place if one is given; NoIndex if none."""
        from gossamer.index import Index

        self._check_one()
        if is_address(self.index):
            return Index.open(self.index, model=model, threads=self.threads, trust=self.trust)
        folder = self.folder
        trust = self.settle_trust(folder)
        return Index.open(folder, model=model, threads=self.threads, trust=trust)

    def _check_one(self) -> None:
        if self.others:
            raise click.UsageError(
                f"this command takes one index, and --index names {len(self.names)}: "
                + ", ".join(self.names)
            )

    def settle_trust(self, folder: Path) -> bool:
        """Accept the index in a folder if --trust says so, or who moved it says so now.

        Say whether it is to be trusted though that cannot be remembered.
        """
        from gossamer.errors import GossamerError, NoIndex, Unwritable
        from gossamer.store.folder import read_manifest
        from gossamer.store.manifest import MANIFEST
        from gossamer.store.trust import accept, find_former_place, is_trusted
        from gossamer.store.writer import sweep_imports

        try:
            manifest = read_manifest(folder)
        except NoIndex:
            sweep_imports(folder)
            return False
        except GossamerError:
            return False  # it cannot be read: whoever opens it says so
        if is_trusted(folder, manifest):
            sweep_imports(folder)
            return False
        former = "" if self.trust else find_former_place(folder, manifest)
        what = "a copy of the one in" if Path(former, MANIFEST).exists() else "the one that was in"
        question = f"This index is {what} {former}, which is yours. Use it from here too?"
        if not (self.trust or (former and self.output.ask(question))):
            return False
        try:
            accept(folder, manifest)
        except Unwritable as error:
            self.output.note((f"trusted for this once: {error}", "warning"))
            return True
        return False


pass_session = click.make_pass_decorator(Session, ensure=True)


def common_options(is_top: bool = False) -> Callable[[Command], Command]:
    """Take --index, --threads, --quiet and --trust, before the name of a command or after it.

    Only the help of the whole command line (`is_top`) tells of them.
    """

    def decorate(command: Command) -> Command:
        for option in reversed(_options(is_top)):
            command = option(command)
        return command

    return decorate


def as_json_option(command: Command) -> Command:
    """Take --json."""
    option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    return option(command)


def model_option(command: Command) -> Command:
    """Take --model, where the index does not say itself where its model is."""
    option = click.option(
        "--model",
        default="",
        metavar="PLACE",
        help="Where the index's model is, if it was moved or the index is somebody else's.",
    )
    return option(command)


def reranker_option(command: Command) -> Command:
    """Take --reranker, for those who have one."""
    option = click.option(
        "--reranker",
        envvar="GOSSAMER_RERANKER",
        metavar="PLACE",
        help="Let a reranking model order the best: a folder with an ONNX cross-encoder, "
        "ORGANISATION/NAME of one that was fetched, or http://HOST:PORT/v1#MODEL.",
    )
    return option(command)


def site_options(command: Command) -> Command:
    """Take --base-url and --url-style: where people read what is indexed."""
    style = click.option(
        "--url-style",
        type=click.Choice(["html", "folder", "file"]),
        default=None,
        help="What that site makes of a.md and a.rst: a.html (html, the usual), a/ (folder), or "
        "the file itself (file).",
    )
    base = click.option(
        "--base-url",
        default="",
        metavar="URL",
        help="Where people read the folder that was indexed, such as /docs/ or "
        "https://example.org/docs/: hits lead there.",
    )
    return base(style(command))


def _options(is_top: bool) -> list[Callable[[Command], Command]]:
    return [
        click.option(
            "-i",
            "--index",
            metavar="NAME|PATH|URL",
            multiple=True,
            type=_IndexName(),
            # Only once, or the environment would win over what stands before the command.
            envvar="GOSSAMER_INDEX" if is_top else None,
            expose_value=False,
            hidden=not is_top,
            callback=_set_index,
            help="Which index: a name, a folder with a slash in its path, or, to search, the "
            "address of an exported file. `search` takes several.",
        ),
        click.option(
            "--threads",
            type=click.IntRange(min=0),
            metavar="N",
            expose_value=False,
            hidden=not is_top,
            callback=_set_threads,
            help="Threads to work with; 0 for one on each core.",
        ),
        click.option(
            "-q",
            "--quiet",
            is_flag=True,
            expose_value=False,
            hidden=not is_top,
            callback=_set_quiet,
            help="Say nothing but answers and errors.",
        ),
        click.option(
            "--trust",
            is_flag=True,
            expose_value=False,
            hidden=not is_top,
            callback=_set_trust,
            help="Accept the index first, as `gossamer trust` does.",
        ),
    ]


class _IndexName(click.types.StringParamType):
    """A name, of which the environment has one, spaces and all."""

    envvar_list_splitter = "\0"


def _set_index(ctx: click.Context, _: click.Parameter, indexes: tuple[str, ...]) -> None:
    """Take what is named, before a command and after it, in the place of the environment's."""
    if named := tuple(filter(None, indexes)):
        session = ctx.ensure_object(Session)
        before = session.names if session.is_said else ()
        session.index, *others = dict.fromkeys((*before, *named))
        session.others = tuple(others)
        session.is_said = ctx.get_parameter_source("index") is ParameterSource.COMMANDLINE


def _set_threads(ctx: click.Context, _: click.Parameter, threads: int | None) -> None:
    if threads is not None:
        ctx.ensure_object(Session).threads = threads


def _set_trust(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        ctx.ensure_object(Session).trust = True


def _set_quiet(ctx: click.Context, _: click.Parameter, is_quiet: bool) -> None:
    if is_quiet:
        ctx.ensure_object(Session).output.is_quiet = True
