"""What a command says and which exit code it gives when it fails."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from gossamer import errors
from gossamer.cli.output import Output, printable

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
        raise click.UsageError(printable(error.format_message()), error.ctx) from None


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
