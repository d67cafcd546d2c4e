"""Every way to find the nearest chunks of a question, behind the same few methods."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ours
from benchmarks.baselines import GraphParameters, GraphRival, graph_rivals, leann_design
from benchmarks.datasets import Floats, Ids
from benchmarks.indexes import scratch_folder
from benchmarks.text_sets import TextSet
from gossamer import Effort

LEANN_DESIGN = "LEANN's design"
GOSSAMER = "Gossamer"
GOSSAMER_TRAINED = f"Gossamer, {leann_design.CODE_BYTES}-byte codes"
GOSSAMER_UNTUNED = "Gossamer, untuned"
K = 3
MOST_EFFORT = 1024
# An effort of the adaptive stop is so many steps of its margin.
MARGIN_STEP = 0.05
MOST_MARGIN_STEPS = 600
UNTUNED_RECALL = 0.90
SHARED_PARTS = ("codebook", "calibration")


Options = dict[str, Any]


@dataclass(frozen=True)
class Found:
    """K ids for each question, and how many chunks one question had embedded on average."""

    ids: Ids
    embedded: float = 0.0


@dataclass(frozen=True)
class Contender:
    """A way to search one set. `efforts` are the least and the most; equal if it has no knob."""

    name: str
    bytes_a_chunk: float
    efforts: tuple[int, int]
    search: Callable[[slice, int], Found]  # of these questions, with this effort
    # What one question has embedded, round by round; None: nothing ever.
    batches: Callable[[int, int], list[Ids]] | None = None
    setting: str = ""  # which of several of one name it is


def contenders(chunks: TextSet) -> Iterator[list[Contender]]:
    """Build one after the other; a list has several settings of one, of which the best counts."""
    yield [_exact(chunks)]
    for rival in graph_rivals(chunks.data.vectors.shape[1], GraphParameters()):
        yield [_graph(chunks, rival)]
    yield from _inverted_lists(chunks)
    yield [_pq(chunks)]
    yield [_words(chunks)]
    yield from _with_trained_codes(chunks)
    yield from _with_shipped_codes(chunks)


def _exact(chunks: TextSet) -> Contender:
    from benchmarks.baselines.exact import Exact

    data = chunks.data
    index = Exact(data.vectors)
    each = index.bytes_held / len(data.vectors)
    return Contender(
        index.name, each, (1, 1), lambda asked, _: Found(index.search(data.queries[asked], K))
    )


def _graph(chunks: TextSet, rival: GraphRival) -> Contender:
    data = chunks.data
    rival.build(data.vectors, threads=2)
    path = _scratch(f"{chunks.name}-{rival.name}")
    rival.save(path)
    return Contender(
        rival.name,
        path.stat().st_size / len(data.vectors),
        (K, min(MOST_EFFORT, len(data.vectors))),
        lambda asked, effort: Found(rival.search(data.queries[asked], K, effort)),
    )


def _inverted_lists(chunks: TextSet) -> Iterator[list[Contender]]:
    from benchmarks.baselines.faiss_ivf import FaissIvf
    from benchmarks.baselines.faiss_ivf_disk import FaissIvfDisk
    from benchmarks.baselines.ivf_recompute import IvfRecompute

    data = chunks.data
    queries, (count, dim) = data.queries, data.vectors.shape
    kept = FaissIvf(data.vectors)
    path = _scratch(f"{chunks.name}-ivf")
    kept.save(path)
    efforts = (1, kept.lists)
    each = path.stat().st_size / count
    yield [
        Contender(kept.name, each, efforts, lambda a, e: Found(kept.search(queries[a], K, e))),
    ]
    disk = FaissIvfDisk(path)
    yield [
        Contender(disk.name, each, efforts, lambda a, e: Found(disk.search(queries[a], K, e))),
    ]
    again = IvfRecompute(kept, count, dim)
    yield [
        Contender(
            again.name,
            again.bytes_held / count,
            efforts,
            lambda asked, effort: Found(*again.search(queries[asked], K, effort)),
            lambda question, effort: [again.wanted(queries[question], effort)],
        ),
    ]


def _pq(chunks: TextSet) -> Contender:
    from benchmarks.baselines.faiss_pq import CODE_BYTES, FaissPq

    data = chunks.data
    index = FaissPq(data.vectors, chunks.name)
    return Contender(
        index.name,
        float(CODE_BYTES),
        (1, 1),
        lambda asked, _: Found(index.search(data.queries[asked], K)),
    )


def _words(chunks: TextSet) -> Contender:
    from benchmarks.baselines.bm25s_words import Bm25s

    index = Bm25s(chunks.texts, stem=False)
    folder = scratch_folder(f"{chunks.name}-words")
    index.save(folder)
    each = sum(file.stat().st_size for file in folder.iterdir()) / len(chunks.texts)

    def search(asked: slice, _: int) -> Found:
        return Found(np.array(index.search(chunks.questions[asked], K), dtype=np.int64))

    return Contender("BM25", each, (1, 1), search)


def _with_trained_codes(chunks: TextSet) -> Iterator[list[Contender]]:
    """LEANN's design, and a plain scan of the very same codes."""
    count = len(chunks.data.vectors)
    settings: list[Contender] = []
    for links in (leann_design.WIDE, leann_design.NARROW):
        index = leann_design.build(chunks.data.vectors, links)
        sections = _section_bytes(index, chunks.name)
        settings += [
            _ours(
                LEANN_DESIGN,
                sum(sections.values()) / count,
                (K, min(MOST_EFFORT, count)),
                partial(_ask, index, chunks),
                partial(_two_level, ratio, batch),
                f"{links.name}, α={ratio}, batches of {batch}",
            )
            for ratio in leann_design.RATIOS
            for batch in leann_design.BATCHES
        ]
    yield settings
    each = (sum(sections.values()) - sections["graph"]) / count
    efforts = (0, MOST_MARGIN_STEPS)
    yield [_ours(GOSSAMER_TRAINED, each, efforts, partial(_ask, index, chunks), _adaptive)]


def _with_shipped_codes(chunks: TextSet) -> Iterator[list[Contender]]:
    """What `gossamer.Index` does by default; then with the recall that users ask for by default."""
    codebook, calibration = ours.shipped_codebook()
    index = ours.build(chunks.data.vectors, codebook=codebook)
    index.calibration = calibration
    sections = _section_bytes(index, chunks.name)
    each = sum(sections.values()) / len(chunks.data.vectors)
    ask = partial(_ask, index, chunks)
    yield [_ours(GOSSAMER, each, (0, MOST_MARGIN_STEPS), ask, _adaptive)]
    yield [_ours(GOSSAMER_UNTUNED, each, (1, 1), ask, lambda _: {"recall": UNTUNED_RECALL})]


def _two_level(ratio: float, batch: int, beam: int) -> Options:
    return {"strategy": "two-level", "effort": leann_design.effort(beam, ratio, batch)}


def _adaptive(steps: int) -> Options:
    return {"strategy": "scan", "effort": Effort(margin=steps * MARGIN_STEP)}


def _ours(
    name: str,
    bytes_a_chunk: float,
    efforts: tuple[int, int],
    ask: Callable[[slice, Options], tuple[Found, list[Ids]]],
    options: Callable[[int], Options],
    setting: str = "",
) -> Contender:
    return Contender(
        name,
        bytes_a_chunk,
        efforts,
        lambda asked, effort: ask(asked, options(effort))[0],
        lambda question, effort: ask(slice(question, question + 1), options(effort))[1],
        setting,
    )


def _ask(
    index: ours.Index, chunks: TextSet, asked: slice, options: Options
) -> tuple[Found, list[Ids]]:
    """Search, answering from the vectors at hand; give what was asked for, too."""
    batches: list[Ids] = []

    def vectors_of(ids: Ids) -> Floats:
        batches.append(ids)
        return chunks.data.vectors[ids]

    answer = ours.search(index, chunks.data.queries[asked], K, vectors_of=vectors_of, **options)
    return Found(answer.ids, answer.vectors_asked), batches


def _section_bytes(index: ours.Index, name: str) -> dict[str, int]:
    """Bytes of what grows with the chunks: not of the codebook, which is one for all indexes."""
    path = _scratch(f"{name}-ours")
    ours.save(index, path)
    sections = ours.section_bytes(path)
    return {
        name: size for name, size in sections.items() if name not in ("codebook", "calibration")
    }


def _scratch(name: str) -> Path:
    path = scratch_folder(name.replace(" ", "-"))
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    return path
