"""`gossamer` alone in a terminal: type and see."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from gossamer.cli.failures import ExitCode, explained
from gossamer.errors import NoIndex

if TYPE_CHECKING:
    from gossamer.cli.finder.finder import Finder
    from gossamer.cli.session import Session

__all__ = ["find"]


def find(session: Session) -> NoReturn:
    """Search as a person types, open what is chosen, and end the program."""
    from gossamer.cli.answers import Asked
    from gossamer.cli.finder.finder import Finder

    try:
        index = session.open_index()
    except NoIndex as error:
        raise NoIndex(f"{error}; `gossamer --help` says what else there is") from None
    finder = Finder(Asked(session.index, index))
    code: int | str | None = ExitCode.OK
    try:
        with explained(session.output):
            _find(session, finder)
    except SystemExit as end:
        code = end.code
    finally:
        has_ended = finder.close()
    if not has_ended:
        # Nobody waits for an answer any more, and Python must not end beside a thread that works.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(code or 0))
    sys.exit(code)


def _find(session: Session, finder: Finder) -> None:
    from gossamer.cli.finder.screen import run
    from gossamer.cli.last_search import place_of, remember
    from gossamer.cli.open_ import open_place

    run(finder)
    if finder.answer is not None:
        remember(finder.answer)
    if finder.copied:
        session.output.path(finder.copied)
    if finder.chosen is not None:
        open_place(session, finder.asked.index, place_of(finder.asked, finder.chosen))
