"""Tables of numbers as columns, which the core gives.

A row of a table may own rows of another one: a source has documents, a document chunks, a name
letters. The column of that name says how many, and the child's rows stand in the parent's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ints", "Table", "starts_of"]

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Table:
    """Columns of one length, and child tables; of a table of letters its content alone."""

    columns: dict[str, Ints] = field(default_factory=dict)
    children: dict[str, Table] = field(default_factory=dict)
    content: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    # Where each row's texts begin, by child; found when first asked for.
    _starts: dict[str, Ints] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, given: Any) -> Table:
        """Make a table of what the core gives: letters, or columns and children."""
        if not isinstance(given, tuple):
            return cls(content=given)
        columns, children = given
        return cls(columns, {name: cls.of(child) for name, child in children.items()})

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else len(self.content)

    def __getitem__(self, name: str) -> Ints:
        return self.columns[name]

    def texts(self, name: str, rows: Sequence[int] | None = None) -> list[bytes]:
        """Give the texts that these rows, or all of them, own in a child of letters."""
        lengths, content = self.columns[name], self.children[name].content
        if name not in self._starts:
            self._starts[name] = starts_of(lengths)
        starts = self._starts[name]
        if rows is None:
            whole = content.tobytes()
            ends = (starts + lengths).tolist()
            return [whole[a:b] for a, b in zip(starts.tolist(), ends, strict=True)]
        return [content[starts[row] : starts[row] + lengths[row]].tobytes() for row in rows]


def starts_of(counts: Ints) -> Ints:
    """Give where the children of each row begin, the rows' counts being these."""
    starts = np.cumsum(counts)
    starts -= counts
    return starts
