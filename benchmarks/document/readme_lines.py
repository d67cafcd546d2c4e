"""A row of the README's tables."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from benchmarks.document.records import Records


@dataclass(frozen=True)
class Line:
    """What was measured by which case, ours, and the rival (with its case, if it is another).

    What stands in brackets becomes the link to the case's result.
    """

    what: str
    case: str
    ours: str
    against: str = ""
    rival: str = ""


@dataclass(frozen=True)
class Table:
    """A table: the heading of its first column, and what gives its rows, one after the other."""

    head: str
    lines: tuple[Callable[[Records], Line], ...]


def joined(values: Iterable[float], digits: str) -> str:
    """Give several numbers, all rounded alike."""
    return " / ".join(format(value, digits) for value in values)
