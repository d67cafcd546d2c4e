"""Everything Gossamer raises on purpose: one class for each reason, the same words as the core."""

__all__ = [
    "Cancelled",
    "CodebookMismatch",
    "Damaged",
    "DuplicateId",
    "Empty",
    "GossamerError",
    "InvalidArgument",
    "LeftOut",
    "Locked",
    "MissingCodebook",
    "MissingModel",
    "ModelMismatch",
    "NoIndex",
    "NotFinite",
    "NotGossamer",
    "TooLarge",
    "Truncated",
    "Unavailable",
    "UnknownId",
    "UnknownVersion",
    "Unreachable",
    "Unreadable",
    "Untrusted",
    "Unwritable",
    "WrongDimension",
    "WrongState",
]


class GossamerError(Exception):
    """What went wrong, what was expected and what to do about it."""


class InvalidArgument(GossamerError, ValueError):
    """A value outside what the call accepts."""


class WrongDimension(GossamerError, ValueError):
    """A vector of another length than the index holds."""


class NotFinite(GossamerError, ValueError):
    """NaN or infinity in a vector."""


class Empty(GossamerError, ValueError):
    """Nothing was given where something is needed."""


class DuplicateId(GossamerError, ValueError):
    """An id that is in use already."""


class UnknownId(GossamerError, LookupError):
    """An id the index does not hold."""


class WrongState(GossamerError, RuntimeError):
    """The call does not fit what happened before it."""


class MissingCodebook(GossamerError):
    """The index needs a shared codebook that was not given."""


class CodebookMismatch(GossamerError):
    """Another codebook than the one the index was built with."""


class NotGossamer(GossamerError):
    """The file is not a Gossamer index at all."""


class UnknownVersion(GossamerError):
    """A format version this release does not read."""


class Truncated(GossamerError):
    """The file has fewer bytes than it says it has."""


class Damaged(GossamerError):
    """A checksum or an invariant of the file does not hold."""


class TooLarge(GossamerError):
    """More than the format or this machine can hold."""


class Cancelled(GossamerError):
    """A long job was asked to stop before it finished."""


class NoIndex(GossamerError, FileNotFoundError):
    """There is no index where one was looked for."""


class Locked(GossamerError):
    """Another process is changing the index."""


class MissingModel(GossamerError):
    """A model whose files are not on this machine."""


class ModelMismatch(GossamerError):
    """Another model than the one the index was built with."""


class Unreachable(GossamerError):
    """A server that does not answer, or not with what was asked for."""


class Unreadable(GossamerError):
    """A file that cannot be read as what it seems to be; it is left out of the index."""


class Unavailable(Unreadable):
    """A file that the disk does not give now: no permission, an error of the disk; tried again."""


class LeftOut(Unreadable):
    """A file with nothing to read: it is left out on purpose, and nothing is wrong with it."""


class Untrusted(GossamerError):
    """An index that was neither made nor accepted on this machine asks for more than reading it."""


class Unwritable(GossamerError, OSError):
    """The index folder takes no change: disk full, read-only, no permission. It is as it was."""
