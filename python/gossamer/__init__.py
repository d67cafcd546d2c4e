"""Gossamer: vector search with an index a fiftieth of the usual size."""

from importlib import import_module
from typing import TYPE_CHECKING

from gossamer.errors import GossamerError

if TYPE_CHECKING:
    from gossamer.vectors.codes import Codebook, train_codebook
    from gossamer.vectors.options import SlimOptions, propose_slim
    from gossamer.vectors.records import Effort, IndexStats, SearchResult, SearchStats
    from gossamer.vectors.session import SearchSession
    from gossamer.vectors.vector_index import VectorIndex

    __version__: str

__all__ = [
    "Codebook",
    "Effort",
    "GossamerError",
    "IndexStats",
    "SearchResult",
    "SearchSession",
    "SearchStats",
    "SlimOptions",
    "VectorIndex",
    "__version__",
    "propose_slim",
    "train_codebook",
]

# Where each name is. They are imported when first used: `gossamer --help` needs none of them.
_MODULES = {
    "Codebook": "gossamer.vectors.codes",
    "Effort": "gossamer.vectors.records",
    "IndexStats": "gossamer.vectors.records",
    "SearchResult": "gossamer.vectors.records",
    "SearchSession": "gossamer.vectors.session",
    "SearchStats": "gossamer.vectors.records",
    "SlimOptions": "gossamer.vectors.options",
    "VectorIndex": "gossamer.vectors.vector_index",
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
