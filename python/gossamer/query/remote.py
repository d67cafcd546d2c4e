"""The seam to the server that an index follows: what is not here is asked for there."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gossamer.records import RemoteChunk

__all__ = ["RemoteChunks"]

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]


class RemoteChunks(Protocol):
    """A server during one search. A call is one request; a failed one adds a note, and no error.

    `vectors` is called in a thread of its own, while `embedded_here` may be called in another.
    """

    @property
    def is_away(self) -> bool:
        """Whether a request of this search was not answered."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the person who asked should know: "the server at URL did not answer: ..."."""
        ...

    def vectors(self, ids: Ids) -> tuple[Mask, Floats]:
        """Say which of the chunks' vectors could be had, and give those, a row each.

        All False, and no rows, if the server does not answer.
        """
        ...

    def chunks(self, ids: Ids) -> list[RemoteChunk | None]:
        """Give the text of each chunk; None for one that the server has not, or not as it was.

        All None if the server does not answer.
        """
        ...

    def context(self, id: int, margin: int) -> tuple[str, str] | None:
        """Give up to `margin` bytes of text before and after a chunk; None if it has none."""
        ...

    def share(self, count: int) -> int:
        """Say how many of `count` chunks that could be embedded here are better asked for."""
        ...

    def embedded_here(self, count: int, seconds: float) -> None:
        """Learn how fast this machine embeds."""
        ...

    def gave_up(self, count: int, seconds: float) -> None:
        """Learn that a request for so many vectors was not waited for any longer."""
        ...
