"""Gossamer: vector search with an index a fiftieth of the usual size."""

from importlib.metadata import version

from gossamer.errors import GossamerError
from gossamer.vectors.codes import Codebook, train_codebook
from gossamer.vectors.options import SlimOptions, propose_slim
from gossamer.vectors.records import Effort, IndexStats, SearchResult, SearchStats
from gossamer.vectors.session import SearchSession
from gossamer.vectors.vector_index import VectorIndex

__version__ = version("gossamer")

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
