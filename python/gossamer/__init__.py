"""Gossamer: semantic search over your own data with an index a fiftieth of the usual size."""

from importlib import import_module
from typing import TYPE_CHECKING

from gossamer.errors import GossamerError

if TYPE_CHECKING:
    from gossamer.index import Index
    from gossamer.query.results import Explanation, Results
    from gossamer.readers import Limits
    from gossamer.records import ChunkSpan, Document, Hit
    from gossamer.sources.folder import WalkOptions
    from gossamer.status import IndexStatus
    from gossamer.sync.follow import PullReport
    from gossamer.sync.records import Conflict, PushResult
    from gossamer.sync.send import PushReport
    from gossamer.update.prepare import GivenText
    from gossamer.update.report import UpdateProgress, UpdateReport
    from gossamer.vectors.codes import Codebook, train_codebook
    from gossamer.vectors.options import SlimOptions, propose_slim
    from gossamer.vectors.records import Effort, IndexStats, SearchResult, SearchStats
    from gossamer.vectors.session import SearchSession
    from gossamer.vectors.vector_index import VectorIndex

    __version__: str

__all__ = [
    "ChunkSpan",
    "Codebook",
    "Conflict",
    "Document",
    "Effort",
    "Explanation",
    "GivenText",
    "GossamerError",
    "Hit",
    "Index",
    "IndexStats",
    "IndexStatus",
    "Limits",
    "PullReport",
    "PushReport",
    "PushResult",
    "Results",
    "SearchResult",
    "SearchSession",
    "SearchStats",
    "SlimOptions",
    "UpdateProgress",
    "UpdateReport",
    "VectorIndex",
    "WalkOptions",
    "__version__",
    "propose_slim",
    "train_codebook",
]

# Where each name is. They are imported when first used: `gossamer --help` needs none of them.
_MODULES = {
    "ChunkSpan": "gossamer.records",
    "Codebook": "gossamer.vectors.codes",
    "Conflict": "gossamer.sync.records",
    "Document": "gossamer.records",
    "Effort": "gossamer.vectors.records",
    "Explanation": "gossamer.query.results",
    "GivenText": "gossamer.update.prepare",
    "Hit": "gossamer.records",
    "Index": "gossamer.index",
    "IndexStats": "gossamer.vectors.records",
    "IndexStatus": "gossamer.status",
    "Limits": "gossamer.readers",
    "PullReport": "gossamer.sync.follow",
    "PushReport": "gossamer.sync.send",
    "PushResult": "gossamer.sync.records",
    "Results": "gossamer.query.results",
    "SearchResult": "gossamer.vectors.records",
    "SearchSession": "gossamer.vectors.session",
    "SearchStats": "gossamer.vectors.records",
    "SlimOptions": "gossamer.vectors.options",
    "UpdateProgress": "gossamer.update.report",
    "UpdateReport": "gossamer.update.report",
    "VectorIndex": "gossamer.vectors.vector_index",
    "WalkOptions": "gossamer.sources.folder",
    "propose_slim": "gossamer.vectors.options",
    "train_codebook": "gossamer.vectors.codes",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("gossamer")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
