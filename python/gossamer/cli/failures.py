"""What a command says and which exit code it gives when it fails."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import IO, TYPE_CHECKING, Any

from gossamer import errors
from gossamer.cli.output import Output, printable

if TYPE_CHECKING:
    import click

__all__ = ["ExitCode", "explained", "harmless_usage"]


class ExitCode(IntEnum):
    """The exit codes of all commands."""

    OK = 0
    NO = 1  # the answer is no: nothing found, or the index is damaged
    FAILED = 2  # wrong usage, or anything else that went wrong
    NOT_FOUND = 3  # no index, no such chunk or file in it, no such model
    LOCKED = 4  # another process is changing the index
    UNREACHABLE = 5  # a server does not answer
    UNTRUSTED = 6  # the index was neither made nor accepted on this machine
    INTERRUPTED = 130


_NOT_FOUND = (errors.NoIndex, errors.UnknownId, errors.MissingModel)


@contextmanager
def explained(output: Output) -> Iterator[None]:
    """Turn every failure inside into one line and an exit code.

    With GOSSAMER_DEBUG=1 in the environment errors are raised as they are.
    """
    try:
        yield
    except KeyboardInterrupt:
        output.note("stopped")
        sys.exit(ExitCode.INTERRUPTED)
    except Exception as error:
        if _is_for_click(error) or os.environ.get("GOSSAMER_DEBUG"):
            raise
        output.error(_message_of(error))
        sys.exit(exit_code_of(error))


@contextmanager
def harmless_usage() -> Iterator[None]:
    """Let click say what is wrong with arguments, with nothing that a terminal would obey.

    `gossamer add *` takes names of files that others chose.
    """
    import click

    try:
        yield
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # help, in click 8.2 and later
            raise
        raise _usage_error(printable(error.format_message()), error.ctx) from None


def _usage_error(message: str, ctx: click.Context | None) -> click.UsageError:
    """Give an error that is shown as all others are, below how the command is used."""
    import click

    class Misuse(click.UsageError):
        def show(self, file: IO[Any] | None = None) -> None:
            if self.ctx is not None:
                click.echo(f"{self.ctx.get_usage()}\n{_hint(self.ctx)}", file or sys.stderr)
            Output().error(self.format_message())

    return Misuse(message, ctx)


def _hint(ctx: click.Context) -> str:
    return f"Try '{ctx.command_path} {ctx.help_option_names[-1]}' for help.\n"


def exit_code_of(error: Exception) -> ExitCode:
    """Give the exit code for an error."""
    if isinstance(error, errors.Locked):
        return ExitCode.LOCKED
    if isinstance(error, errors.Unreachable):
        return ExitCode.UNREACHABLE
    if isinstance(error, errors.Untrusted):
        return ExitCode.UNTRUSTED
    return ExitCode.NOT_FOUND if isinstance(error, _NOT_FOUND) else ExitCode.FAILED


def _is_for_click(error: Exception) -> bool:
    """Whether click ends the program for this: wrong usage, its own exits, a closed pipe."""
    import click

    ours = (click.ClickException, click.exceptions.Exit, click.exceptions.Abort)
    return isinstance(error, ours) or (isinstance(error, OSError) and error.errno == errno.EPIPE)


def _message_of(error: Exception) -> str:
    if isinstance(error, errors.GossamerError):
        return str(error)
    if isinstance(error, OSError):
        what = error.strerror or str(error)
        return what if error.filename is None else f"{error.filename}: {what}"
    if isinstance(error, MemoryError):
        return "there is not enough memory; close other programs, or use fewer --threads"
    return (
        f"{type(error).__name__}: {error}. This is a fault of gossamer: please report it, with "
        "what GOSSAMER_DEBUG=1 makes this command say"
    )
