"""`gossamer` alone in a terminal: type and see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import NoIndex

if TYPE_CHECKING:
    from gossamer.cli.session import Session

__all__ = ["find"]


def find(session: Session) -> None:
    """Search as a person types, and open what is chosen."""
    from gossamer.cli.answers import Asked
    from gossamer.cli.finder.finder import Finder
    from gossamer.cli.finder.screen import run
    from gossamer.cli.last_search import place_of, remember
    from gossamer.cli.open_ import open_place

    try:
        index = session.open_index()
    except NoIndex as error:
        raise NoIndex(f"{error}; `gossamer --help` says what else there is") from None
    finder = Finder(Asked(session.index, index))
    try:
        run(finder)
    finally:
        finder.close()
    if finder.answer is not None:
        remember(finder.answer)
    if finder.copied:
        session.output.path(finder.copied)
    if finder.chosen is not None:
        open_place(session, index, place_of(finder.asked, finder.chosen))
