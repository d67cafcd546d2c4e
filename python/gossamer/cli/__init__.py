"""The `gossamer` command. One file for each command; `output` is the only module that prints."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module

import click

from gossamer.cli.failures import ExitCode, explained, harmless_usage
from gossamer.cli.session import Session, common_options

__all__ = ["cli", "main"]

# The module of each command, in the order of --help. None imports anything heavy before it runs.
_COMMANDS = {
    "add": "add",
    "search": "search",
    "status": "status",
    "open": "open_",
    "show": "show",
    "similar": "similar",
    "remove": "remove",
    "watch": "watch",
    "serve": "serve",
    "pull": "pull",
    "push": "push",
    "conflicts": "conflicts",
    "export": "export_",
    "import": "import_",
    "adopt": "adopt",
    "compact": "compact",
    "check": "check",
    "trust": "trust",
    "eval": "evaluate",
    "list": "indexes",
    "models": "models",
}


class _Commands(click.Group):
    """Commands that are imported when they are asked for, and fail with one clear line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(f"gossamer.cli.{_COMMANDS[cmd_name]}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], _COMMANDS, n=1)
            meant = f"; did you mean {near[0]}?" if near else ", see `gossamer --help`"
            ctx.fail(f"there is no command {args[0]}{meant}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with harmless_usage():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with explained(ctx.ensure_object(Session).output), harmless_usage():
            return super().invoke(ctx)


def _print_version(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        ctx.ensure_object(Session).output.line(f"gossamer {version('gossamer')}")
        ctx.exit()


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@common_options(is_top=True)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Search your own files by meaning and by words, with almost nothing on disk.

    \b
      gossamer add ~/notes ~/papers              # make or update the index
      gossamer search "when is the lease due"    # path:line and the words that answer
      gossamer status                            # what is indexed, and what it takes
      gossamer                                   # type and see, in a terminal

    The options below may also stand after the name of a command.
    """
    if ctx.invoked_subcommand is not None:
        return
    session = ctx.ensure_object(Session)
    if not session.output.is_interactive:
        session.output.line(ctx.get_help())
        ctx.exit(ExitCode.FAILED)
    from gossamer.cli.finder import find

    find(session)


def main() -> None:
    """Run the command line; an entry point of the package."""
    for stream in (sys.stdout, sys.stderr):
        # A console that cannot show a character shows another one; it is no reason to stop.
        with contextlib.suppress(AttributeError, ValueError):
            reconfigure: Callable[..., None] = stream.reconfigure  # type: ignore[union-attr]
            reconfigure(errors="replace")
    cli(prog_name="gossamer")
