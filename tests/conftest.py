"""Small data to index, and the truth to compare with."""

import os

# Before numpy is imported: its threads wait by spinning, which costs tenfold on busy machines.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray
from tiny_embedder import TinyEmbedder, use_tiny

import gossamer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext
    from starlette.testclient import TestClient

    from gossamer.index import Index
    from gossamer.sync.offer import Offer

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]

DIM = 24
SAMPLE = Path(__file__).parent / "data/sample/vectors.npz"


def clustered(count: int, seed: int, dim: int = DIM) -> Floats:
    """Unit vectors around twenty centers, with axes of falling variance, as text vectors have."""
    scales = 1 / np.sqrt(1 + np.arange(dim))
    centers = np.random.default_rng(0).normal(size=(20, dim)) * scales
    random = np.random.default_rng(seed)
    rows = centers[random.integers(0, 20, count)] + 0.6 * random.normal(size=(count, dim)) * scales
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def exact_distances(queries: Floats, rows: Floats, metric: str = "ip") -> NDArray[np.float64]:
    """Give what numpy says, a row for each query: -dot, 1 - cosine, or squared L2."""
    queries, rows = queries.astype(np.float64), rows.astype(np.float64)
    if metric == "l2":
        return ((queries[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
    if metric == "cosine":
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return 1 - queries @ rows.T
    return -queries @ rows.T


def nearest_ids(queries: Floats, rows: Floats, k: int, metric: str = "ip") -> Ids:
    """Give the true nearest rows of each query, nearest first."""
    return np.argsort(exact_distances(queries, rows, metric), axis=1, kind="stable")[:, :k]


def recall(found: Ids, truth: Ids) -> float:
    """Give the share of the true nearest that were found."""
    return float((found[:, :, None] == truth[:, None, :]).any(axis=1).mean())


class Library:
    """Vectors by id, as a host has them, which notes what it was asked for."""

    def __init__(self, vectors: Floats) -> None:
        self.vectors = dict(enumerate(vectors))
        self.asked: list[int] = []

    def __call__(self, ids: Ids) -> Floats:
        self.asked += ids.tolist()
        return np.stack([self.vectors[id] for id in ids.tolist()])

    def add(self, ids: Ids, vectors: Floats) -> None:
        self.vectors |= dict(zip(ids.tolist(), vectors, strict=True))

    def remove(self, ids: Ids) -> None:
        for id in np.asarray(ids).tolist():
            del self.vectors[id]


@dataclass(frozen=True)
class Sample:
    """Real text vectors and questions, with the truth and one codebook for all tests."""

    chunks: Floats
    questions: Floats
    truth: Ids
    codebook: gossamer.Codebook


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Path]":
    """Settings of the tests' own, where it is remembered which indexes were made here."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("home")
        patch.setenv("GOSSAMER_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def vectors() -> Floats:
    return clustered(600, seed=1)


@pytest.fixture(scope="session")
def more_vectors() -> Floats:
    return clustered(200, seed=2)


@pytest.fixture(scope="session")
def queries() -> Floats:
    return clustered(40, seed=3)


@pytest.fixture(scope="session")
def codebook(vectors: Floats) -> gossamer.Codebook:
    return gossamer.train_codebook(vectors, 12)


@pytest.fixture
def library(vectors: Floats) -> Library:
    return Library(vectors)


@pytest.fixture
def build(vectors: Floats, codebook: gossamer.Codebook) -> Callable[..., gossamer.VectorIndex]:
    """Build over `vectors` with the shared codebook, without calibration unless asked for."""

    def make(**options: object) -> gossamer.VectorIndex:
        defaults = {"codebook": codebook, "calibrate": False, "threads": 1}
        return gossamer.VectorIndex.build(vectors, **(defaults | options))

    return make


@pytest.fixture(scope="session")
def sample() -> Sample:
    with np.load(SAMPLE, allow_pickle=False) as arrays:
        chunks = arrays["chunks"].astype(np.float32)
        questions = arrays["questions"].astype(np.float32)
    truth = nearest_ids(questions, chunks, 10)
    return Sample(chunks, questions, truth, gossamer.train_codebook(chunks, 32))


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> TinyEmbedder:
    """A model of a few lines in place of every other, with a codebook that ships with it."""
    return use_tiny(monkeypatch, with_codes=True)


@pytest.fixture
def folder(tmp_path: Path, embedder: TinyEmbedder) -> Path:
    """A folder with an index of two files, as `served.make_index` makes it."""
    from served import make_index

    make_index(tmp_path)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> "Iterator[TestClient]":
    """A server over that index, to ask."""
    from served import serve

    with serve(folder) as client:
        yield client


@pytest.fixture
def offers() -> "Iterator[Callable[..., Offer]]":
    """Make offers of an index, closed when the test is over."""
    from gossamer.sync.offer import Offer

    opened: list[Offer] = []

    def make(index: "Index", **options: object) -> Offer:
        opened.append(Offer(index, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield make
    for offer in opened:
        offer.close()


@pytest.fixture
def offer(index: "Index", offers: "Callable[..., Offer]") -> "Offer":
    """An offer of the `index` that the test's file makes."""
    return offers(index)


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A real browser for the test's file.

    Not one for all files: its event loop runs in this thread, where other tests start theirs.
    """
    from browser import start_browser

    with start_browser() as browser:
        yield browser


@pytest.fixture
def context(browser: "Browser") -> "Iterator[BrowserContext]":
    """Storage of its own for each test, shared by its pages."""
    with browser.new_context() as context:
        yield context
