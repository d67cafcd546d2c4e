"""Errors of the file system, in words: what, where, and what to do."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from gossamer.errors import GossamerError, Unwritable

__all__ = ["explaining", "reason_of"]

_REASONS = {
    errno.ENOSPC: "the disk is full; make room and try again",
    errno.EDQUOT: "your share of the disk is full; make room and try again",
    errno.EROFS: "the disk is read-only; put the index elsewhere, or make it writable",
    errno.EACCES: "permission denied; mend the folder's permissions, or use another one",
    errno.EPERM: "not permitted; mend the folder's permissions, or use another one",
}


def reason_of(error: OSError) -> str:
    """Say why something cannot be written, and what to do."""
    return _REASONS.get(error.errno or 0, str(error))


@contextlib.contextmanager
def explaining(place: Path, what: str = "change the index in") -> Iterator[None]:
    """Raise Unwritable in place of an OSError that comes from writing to an index folder.

    `what` says what was to be done there, if it is another place.
    """
    try:
        yield
    except GossamerError:
        raise
    except OSError as error:
        explained = Unwritable(f"cannot {what} {place}: {reason_of(error)}. It is as it was")
        explained.errno = error.errno
        raise explained from error
