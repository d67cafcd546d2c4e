from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray

def kernels() -> str:
    """Name of the instruction set that distances are computed with."""

class Codebook:
    @staticmethod
    def from_bytes(data: bytes) -> Codebook: ...
    def to_bytes(self) -> bytes: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def code_bytes(self) -> int: ...
    @property
    def coarse_count(self) -> int: ...
    @property
    def metric(self) -> str: ...
    def encode(
        self,
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        threads: int = 0,
    ) -> NDArray[numpy.uint8]: ...
    def decode(
        self,
        codes: Annotated[
            NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> NDArray[numpy.float32]: ...
    def corrections(
        self,
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        codes: Annotated[
            NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        threads: int = 0,
    ) -> NDArray[numpy.float32]: ...
    def estimate(
        self,
        query: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        codes: Annotated[
            NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> tuple[NDArray[numpy.float32], float]: ...
    def scan(
        self,
        queries: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        codes: Annotated[
            NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        best: int,
        allowed: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
    ) -> tuple[NDArray[numpy.uint32], NDArray[numpy.float32]]: ...

def make_codebook(
    metric: str,
    splits: Sequence[int],
    mean: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    encode: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    query: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None,
    centroids: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    coarse: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None,
    residual_variance: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    rest_and_energy_variance: tuple[float, float],
    correction: tuple[float, float, float],
) -> Codebook: ...
def train_product(
    vectors: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    splits: Sequence[int],
    centroids: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    iterations: int,
    seed: int,
    threads: int,
    is_warm: bool,
) -> None: ...
def quantize_product(
    vectors: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    splits: Sequence[int],
    centroids: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    threads: int,
) -> NDArray[numpy.float32]: ...
def kmeans(
    vectors: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    k: int,
    iterations: int = 10,
    seed: int = 1,
    threads: int = 0,
) -> NDArray[numpy.float32]: ...
def assign_nearest_two(
    vectors: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    centroids: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    threads: int = 0,
) -> NDArray[numpy.uint32]: ...

class Metric(enum.Enum):
    ip = 0

    cosine = 1

    l2 = 2

class Scalar(enum.Enum):
    f32 = 0

    f16 = 1

    i8 = 2

class Keep(enum.Enum):
    none = 0

    hot = 1

    all = 2

class GraphKind(enum.Enum):
    none = 0

    full = 1

    hub = 2

    slim = 3

class Strategy(enum.Enum):
    auto = 0

    scan = 1

    walk = 2

    two_level = 3

    best_first = 4

    lazy = 5

    exact = 6

class Effort:
    def __init__(self) -> None: ...
    @property
    def rerank(self) -> int: ...
    @rerank.setter
    def rerank(self, arg: int, /) -> None: ...
    @property
    def margin(self) -> float: ...
    @margin.setter
    def margin(self, arg: float, /) -> None: ...
    @property
    def beam(self) -> int: ...
    @beam.setter
    def beam(self, arg: int, /) -> None: ...
    @property
    def ratio(self) -> float: ...
    @ratio.setter
    def ratio(self, arg: float, /) -> None: ...
    @property
    def batch(self) -> int: ...
    @batch.setter
    def batch(self, arg: int, /) -> None: ...

class BuildOptions:
    def __init__(self) -> None: ...
    @property
    def max_degree(self) -> int: ...
    @max_degree.setter
    def max_degree(self, arg: int, /) -> None: ...
    @property
    def effort(self) -> int: ...
    @effort.setter
    def effort(self, arg: int, /) -> None: ...
    @property
    def level_probability(self) -> float: ...
    @level_probability.setter
    def level_probability(self, arg: float, /) -> None: ...
    @property
    def simple_shrink(self) -> bool: ...
    @simple_shrink.setter
    def simple_shrink(self, arg: bool, /) -> None: ...
    @property
    def seed(self) -> int: ...
    @seed.setter
    def seed(self, arg: int, /) -> None: ...
    @property
    def threads(self) -> int: ...
    @threads.setter
    def threads(self, arg: int, /) -> None: ...

class HubOptions:
    def __init__(self) -> None: ...
    @property
    def max_degree(self) -> int: ...
    @max_degree.setter
    def max_degree(self, arg: int, /) -> None: ...
    @property
    def low_degree(self) -> int: ...
    @low_degree.setter
    def low_degree(self, arg: int, /) -> None: ...
    @property
    def hub_share(self) -> float: ...
    @hub_share.setter
    def hub_share(self, arg: float, /) -> None: ...
    @property
    def effort(self) -> int: ...
    @effort.setter
    def effort(self, arg: int, /) -> None: ...
    @property
    def threads(self) -> int: ...
    @threads.setter
    def threads(self, arg: int, /) -> None: ...

class SlimParameters:
    def __init__(self) -> None: ...
    @property
    def hub_share0(self) -> float: ...
    @hub_share0.setter
    def hub_share0(self, arg: float, /) -> None: ...
    @property
    def hub_degree0(self) -> int: ...
    @hub_degree0.setter
    def hub_degree0(self, arg: int, /) -> None: ...
    @property
    def low_degree0(self) -> int: ...
    @low_degree0.setter
    def low_degree0(self, arg: int, /) -> None: ...
    @property
    def hub_share(self) -> float: ...
    @hub_share.setter
    def hub_share(self, arg: float, /) -> None: ...
    @property
    def hub_degree(self) -> int: ...
    @hub_degree.setter
    def hub_degree(self, arg: int, /) -> None: ...
    @property
    def low_degree(self) -> int: ...
    @low_degree.setter
    def low_degree(self, arg: int, /) -> None: ...
    @property
    def tradeoff_layer(self) -> int: ...
    @tradeoff_layer.setter
    def tradeoff_layer(self, arg: int, /) -> None: ...
    @property
    def level_probability(self) -> float: ...
    @level_probability.setter
    def level_probability(self, arg: float, /) -> None: ...

class IndexOptions:
    def __init__(self) -> None: ...
    @property
    def dim(self) -> int: ...
    @dim.setter
    def dim(self, arg: int, /) -> None: ...
    @property
    def metric(self) -> Metric: ...
    @metric.setter
    def metric(self, arg: Metric, /) -> None: ...
    @property
    def keep(self) -> Keep: ...
    @keep.setter
    def keep(self, arg: Keep, /) -> None: ...
    @property
    def hot_budget(self) -> int: ...
    @hot_budget.setter
    def hot_budget(self, arg: int, /) -> None: ...
    @property
    def scalar(self) -> Scalar: ...
    @scalar.setter
    def scalar(self, arg: Scalar, /) -> None: ...
    @property
    def graph(self) -> GraphKind: ...
    @graph.setter
    def graph(self, arg: GraphKind, /) -> None: ...
    @property
    def build(self) -> BuildOptions: ...
    @build.setter
    def build(self, arg: BuildOptions, /) -> None: ...
    @property
    def hub(self) -> HubOptions: ...
    @hub.setter
    def hub(self, arg: HubOptions, /) -> None: ...
    @property
    def slim(self) -> SlimParameters: ...
    @slim.setter
    def slim(self, arg: SlimParameters, /) -> None: ...
    @property
    def slim_by_in_degree(self) -> bool: ...
    @slim_by_in_degree.setter
    def slim_by_in_degree(self, arg: bool, /) -> None: ...
    @property
    def keep_source(self) -> bool: ...
    @keep_source.setter
    def keep_source(self, arg: bool, /) -> None: ...

class Progress:
    """How far a long job is; the host polls it."""

    def __init__(self) -> None: ...
    @property
    def phase(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...
    def cancel(self) -> None:
        """Asks the job to stop."""

class SlimSize:
    @property
    def base_degree(self) -> float: ...
    @property
    def edge_count(self) -> int: ...
    @property
    def chal_bytes(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def disk_bytes(self) -> int: ...

def estimate_slim_bytes(node_count: int, parameters: SlimParameters) -> SlimSize: ...
def propose_slim(node_count: int, byte_budget: int) -> SlimParameters: ...

class Calibration:
    def __init__(self) -> None: ...
    @staticmethod
    def from_bytes(data: bytes) -> Calibration: ...
    def to_bytes(self) -> bytes: ...
    def scan_tables(self) -> list[tuple[int, list[tuple[float, float, float]]]]: ...
    @property
    def is_empty(self) -> bool: ...
    def effort_for(
        self, strategy: Strategy, k: int, recall: float, count: int
    ) -> Effort | None: ...

def make_calibration(
    tables: Sequence[tuple[int, Sequence[tuple[float, float, float]]]], count: int, growth: float
) -> Calibration: ...
def pack_codebook(codebook: Codebook, calibration: Calibration) -> bytes: ...
def unpack_codebook(data: bytes) -> tuple[Codebook, Calibration]: ...

class Graph:
    @property
    def node_count(self) -> int: ...
    def edge_count(self, layer: int) -> int: ...
    def memory_bytes(self) -> int: ...

def renumber(
    graph: Graph,
    position_to_old: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Graph: ...
def prune_random(graph: Graph, keep_share: float, seed: int) -> Graph: ...

class Shard:
    def __init__(
        self,
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        metric: Metric,
        threads: int,
        seed: int,
    ) -> None: ...
    def order(self) -> NDArray[numpy.uint32]: ...
    def build(self, options: BuildOptions, progress: Progress | None) -> Graph: ...
    def prune_slim(
        self, full: Graph, parameters: SlimParameters, max_degree: int, threads: int
    ) -> Graph: ...
    def prune(self, full: Graph, options: HubOptions, progress: Progress | None) -> Graph: ...

class GraphMerger:
    def __init__(self, node_count: int, max_degree: int, seed: int) -> None: ...
    def add(
        self,
        shard: Graph,
        local_to_global: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def finish(self) -> Graph: ...

class StreamCalibration:
    def observe(
        self,
        nodes: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> None: ...

def start_calibration(
    codebook: Codebook,
    codes: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    queries: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None,
    sample: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    sampled: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    count: int,
    seed: int,
    threads: int,
) -> StreamCalibration: ...
def assemble(
    options: IndexOptions,
    codebook: Codebook,
    codes: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    graph: Graph | None,
    ids: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    calibration: StreamCalibration | None,
) -> Index: ...

class IndexStats:
    @property
    def count(self) -> int: ...
    @property
    def deleted(self) -> int: ...
    @property
    def kept(self) -> int: ...
    @property
    def mean_degree(self) -> float: ...
    @property
    def levels(self) -> int: ...
    @property
    def codes_bytes(self) -> int: ...
    @property
    def codebook_bytes(self) -> int: ...
    @property
    def vectors_bytes(self) -> int: ...
    @property
    def graph_bytes(self) -> int: ...
    @property
    def source_graph_bytes(self) -> int: ...
    @property
    def ids_bytes(self) -> int: ...
    @property
    def rebuild_hint(self) -> bool: ...
    @property
    def prune_s(self) -> float: ...

class SavedFile:
    def __len__(self) -> int: ...
    def part(self, index: int) -> Annotated[NDArray[numpy.uint8], dict(writable=False)]: ...

class InsertBatch:
    def wanted(self) -> NDArray[numpy.uint64]: ...
    def supply(
        self,
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> None: ...
    def finish(self) -> None: ...

class Index:
    @staticmethod
    def build(
        options: IndexOptions,
        codebook: Codebook | None,
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        ids: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        queries: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ]
        | None,
        threads: int,
        seed: int,
        calibration_queries: int,
        refine_order: bool,
        progress: Progress | None,
    ) -> Index: ...
    @staticmethod
    def create(codebook: Codebook, calibration: Calibration) -> Index: ...
    @staticmethod
    def open(
        file: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        codebook: Codebook | None,
    ) -> Index: ...
    def add(
        self,
        ids: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        progress: Progress | None,
    ) -> None: ...
    def add_codes(
        self,
        ids: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        codes: Annotated[
            NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def begin_add(
        self,
        ids: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> InsertBatch: ...
    def remove(
        self,
        ids: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def compact(self, threads: int) -> None: ...
    def remember(
        self,
        ids: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> None: ...
    def recalibrate(
        self,
        queries: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ]
        | None,
        threads: int,
        seed: int,
        calibration_queries: int,
        progress: Progress | None,
    ) -> None: ...
    def track(self) -> None: ...
    def take_delta(self) -> bytes: ...
    def apply_delta(self, delta: bytes) -> None: ...
    def save(self, codebook: bool, calibration: bool, source: bool) -> SavedFile: ...
    def verify(self) -> None: ...
    def stats(self) -> IndexStats: ...
    @property
    def options(self) -> IndexOptions: ...
    @property
    def codebook(self) -> Codebook: ...
    @property
    def calibration(self) -> Calibration: ...
    @calibration.setter
    def calibration(self, arg: Calibration, /) -> None: ...
    @property
    def count(self) -> int: ...
    def contains(self, id: int) -> bool: ...
    def ids(self) -> NDArray[numpy.uint64]: ...
    def vectors_of(
        self,
        ids: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> NDArray[numpy.float32]: ...
    def codes_of(
        self,
        ids: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> NDArray[numpy.uint8]: ...
    def effort_for(self, strategy: Strategy, k: int, recall: float) -> Effort | None: ...

class DeltaBytes:
    @property
    def graph(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def codes(self) -> int: ...
    @property
    def vectors(self) -> int: ...

def join_deltas(deltas: Sequence[bytes]) -> bytes: ...
def measure_delta(delta: bytes) -> DeltaBytes: ...
def sections(
    file: Annotated[
        NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> list[tuple[int, int, int]]: ...

class SearchCounters:
    @property
    def rounds(self) -> int: ...
    @property
    def vectors_asked(self) -> int: ...
    @property
    def vectors_fetched(self) -> int: ...
    @property
    def distances(self) -> int: ...
    @property
    def codes_touched(self) -> int: ...
    @property
    def hops(self) -> int: ...
    @property
    def find_s(self) -> float: ...
    @property
    def rank_s(self) -> float: ...

class IndexSearch:
    def wanted(self) -> NDArray[numpy.uint64]: ...
    def supply(
        self,
        vectors: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        missing: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
    ) -> None: ...
    def nearest(self) -> tuple[NDArray[numpy.uint64], NDArray[numpy.float32]]: ...
    def counters(self) -> SearchCounters: ...
    @property
    def strategy(self) -> Strategy: ...
    @property
    def effort(self) -> Effort: ...

def estimate(
    index: Index,
    query: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    best: int,
    allow_ids: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    allow_mask: Annotated[
        NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.float32]]: ...
def search(
    index: Index,
    queries: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    k: int,
    strategy: Strategy,
    recall: float,
    effort: Effort | None,
    allow_ids: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    allow_mask: Annotated[
        NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    threads: int,
) -> IndexSearch: ...
def question_terms(question: bytes) -> list[str]:
    """What a question asks for: its terms, each once."""

def find_terms(text: bytes, question: bytes) -> list[tuple[int, int]]:
    """Where terms of a question stand in a text, in bytes."""

def spaced_terms(text: bytes) -> str:
    """The terms of a text, with spaces between them."""

class LexicalPass:
    def __init__(
        self,
        question: bytes,
        allowed: Annotated[
            NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
    ) -> None: ...
    def add_files(
        self,
        paths: list[bytes],
        bounds: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        starts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        ends: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        numbers: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        threads: int,
        progress: Progress | None,
    ) -> NDArray[numpy.uint32]: ...
    def add_buffer(
        self,
        text: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        starts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        ends: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        numbers: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def top(self, best: int) -> tuple[NDArray[numpy.uint32], NDArray[numpy.float32], list[int]]: ...
    @property
    def terms(self) -> list[str]: ...
    @property
    def chunks(self) -> int: ...
    @property
    def chunks_unreadable(self) -> int: ...
    @property
    def bytes_read(self) -> int: ...
    @property
    def files_opened(self) -> int: ...

class WordPiece:
    def __init__(self, vocabulary: bytes, lowercase: bool, specials: Sequence[str]) -> None: ...
    @property
    def size(self) -> int: ...
    def id_of(self, piece: str) -> int | None: ...
    def token_starts(
        self, texts: Sequence[bytes], threads: int = 1
    ) -> list[NDArray[numpy.uint32]]: ...
    def encode(
        self, texts: Sequence[bytes], before: Sequence[int], after: Sequence[int], threads: int = 1
    ) -> list[NDArray[numpy.int64]]: ...
