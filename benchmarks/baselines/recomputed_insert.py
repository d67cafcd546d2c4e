"""LEANN's insertion (its Algorithm 4) into a graph without vectors, counting those it asks for.

It runs on the base layer of a faiss HNSW, whose lists can be read; the layers above lead to it and
stay as they are. It is there to count: its own time means nothing.
"""

import heapq
from dataclasses import dataclass
from itertools import pairwise

import faiss
import numpy as np
from numpy.typing import NDArray

from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Floats, Ids

Nodes = NDArray[np.int32]
EMPTY = -1


@dataclass(frozen=True)
class Inserted:
    """What one insertion asked for; the new vector itself is at hand and not counted."""

    found: int  # vectors asked for by the walk, each once
    selected: int  # asked for to choose links, if every distance asks for its two vectors anew
    linked_back: int  # the same, to shorten the lists of those linked to
    distinct: Nodes  # the nodes whose vectors were needed


class RecomputedGraph:
    """An HNSW graph over all of `vectors` but the rows `later`, which may be inserted."""

    def __init__(self, vectors: Floats, later: Ids, threads: int) -> None:
        parameters = GraphParameters()
        self._vectors = vectors
        self._most_picked = parameters.max_degree
        self._effort = parameters.build_effort
        self._first = np.setdiff1d(np.arange(len(vectors)), later)
        faiss.omp_set_num_threads(threads)
        index = faiss.IndexHNSWFlat(
            vectors.shape[1], parameters.max_degree, faiss.METRIC_INNER_PRODUCT
        )
        index.hnsw.efConstruction = parameters.build_effort
        index.add(vectors[self._first])
        self._read_lists(index.hnsw)

    def insert(self, node: int, is_simple: bool, random: np.random.Generator) -> Inserted:
        """Insert a row. `is_simple` chooses links by chance, as LEANN's last step does."""
        found, needed = self._walk(self._vectors[node], self._effort)
        candidates = np.array([other for _, other in found], np.int32)
        if is_simple:
            picked, comparisons = self._choose(candidates, self._most_picked, random), 0
        else:
            picked, comparisons = self._select(node, candidates, self._most_picked)
        self._links[node, : len(picked)] = picked
        asked = [self._link_back(int(other), node, is_simple, random) for other in picked]
        distinct = np.unique(np.concatenate([needed, *(nodes for _, nodes in asked)]))
        return Inserted(
            found=len(needed),
            selected=2 * comparisons,
            linked_back=sum(count for count, _ in asked),
            distinct=distinct[distinct != node],
        )

    def search(self, queries: Floats, k: int, effort: int) -> Ids:
        """Find k nearest by exact distances, best first."""
        found = [self._walk(query, effort)[0][:k] for query in queries]
        return np.array([[node for _, node in nearest] for nearest in found], np.int64)

    def _link_back(
        self, node: int, new: int, is_simple: bool, random: np.random.Generator
    ) -> tuple[int, Nodes]:
        """Add `new` to a list; an overfull one is shortened. Gives what that asked for."""
        links = np.append(self._links[node][self._links[node] != EMPTY], np.int32(new))
        none = np.empty(0, np.int32)
        asked, needed = 0, none
        if len(links) > self._links.shape[1]:
            if is_simple:
                links = self._choose(links, self._links.shape[1], random)
            else:
                needed = np.append(links, np.int32(node))
                distances = self._distances(self._vectors[node], links)
                asked = 2 * len(links)
                ranked = links[np.argsort(distances, kind="stable")]
                links, comparisons = self._select(node, ranked, self._links.shape[1])
                asked += 2 * comparisons
        self._links[node] = EMPTY
        self._links[node, : len(links)] = links
        return asked, needed

    def _select(self, node: int, ranked: Nodes, limit: int) -> tuple[Nodes, int]:
        """Keep those to which none kept before is nearer than `node`; and count comparisons."""
        distances = self._distances(self._vectors[node], ranked)
        among = -(self._vectors[ranked] @ self._vectors[ranked].T)
        kept: list[int] = []
        comparisons = 0
        for place in range(len(ranked)):
            shadows = np.flatnonzero(among[place, kept] < distances[place])
            comparisons += int(shadows[0]) + 1 if shadows.size else len(kept)
            if not shadows.size:
                kept.append(place)
            if len(kept) == limit:
                break
        return ranked[kept], comparisons

    @staticmethod
    def _choose(nodes: Nodes, limit: int, random: np.random.Generator) -> Nodes:
        return random.permutation(nodes)[:limit]

    def _walk(self, query: Floats, effort: int) -> tuple[list[tuple[float, int]], Nodes]:
        """The nearest by a best-first walk, and every node whose vector it needed."""
        start, needed = self._descend(query)
        seen = np.zeros(len(self._vectors), bool)
        seen[start[1]] = True
        waiting, nearest = [start], [(-start[0], start[1])]
        while waiting:
            distance, node = heapq.heappop(waiting)
            if len(nearest) == effort and distance > -nearest[0][0]:
                break
            links = self._links[node]
            fresh = links[links != EMPTY]
            fresh = fresh[~seen[fresh]]
            seen[fresh] = True
            distances = self._distances(query, fresh)
            for one in zip(distances.tolist(), fresh.tolist(), strict=True):
                if len(nearest) < effort or one[0] < -nearest[0][0]:
                    heapq.heappush(waiting, one)
                    push = heapq.heappush if len(nearest) < effort else heapq.heappushpop
                    push(nearest, (-one[0], one[1]))
        seen[needed] = True
        return sorted((-far, node) for far, node in nearest), np.flatnonzero(seen).astype(np.int32)

    def _descend(self, query: Floats) -> tuple[tuple[float, int], Nodes]:
        """Greedy steps on the layers above the base; gives where they end, and what they needed."""
        needed = [np.array([self._entry], np.int32)]
        nearest = (float(self._distances(query, needed[0])[0]), self._entry)
        for lists in self._upper:
            while True:
                links = lists[nearest[1]]
                needed.append(links)
                distances = self._distances(query, links)
                best = int(np.argmin(distances)) if links.size else 0
                if not links.size or distances[best] >= nearest[0]:
                    break
                nearest = (float(distances[best]), int(links[best]))
        return nearest, np.concatenate(needed)

    def _distances(self, query: Floats, nodes: Nodes) -> Floats:
        return -(self._vectors[nodes] @ query)

    def _read_lists(self, hnsw: faiss.HNSW) -> None:
        """Take faiss's lists, by the rows of all vectors; the highest layer comes first."""
        levels = faiss.vector_to_array(hnsw.levels)
        starts = faiss.vector_to_array(hnsw.offsets).astype(np.int64)[:-1]
        ends = faiss.vector_to_array(hnsw.cum_nneighbor_per_level)
        stored = faiss.vector_to_array(hnsw.neighbors)
        rows = np.append(self._first, EMPTY).astype(np.int32)
        self._entry = int(rows[hnsw.entry_point])
        self._links = np.full((len(self._vectors), ends[1]), EMPTY, np.int32)
        self._links[self._first] = rows[stored[starts[:, None] + np.arange(ends[1])]]
        self._upper: list[dict[int, Nodes]] = []
        for level, (begin, end) in enumerate(pairwise(ends[1 : levels.max() + 1]), start=1):
            nodes = np.flatnonzero(levels > level)
            lists = rows[stored[starts[nodes, None] + np.arange(begin, end)]]
            self._upper.insert(
                0,
                {
                    int(rows[node]): links[links != EMPTY]
                    for node, links in zip(nodes, lists, strict=True)
                },
            )


def shared(inserted: list[Inserted], at_once: int, later: Ids) -> float:
    """Vectors an insertion asks for if `at_once` of them share what was computed once."""
    total = 0
    for start in range(0, len(inserted), at_once):
        batch = np.concatenate([one.distinct for one in inserted[start : start + at_once]])
        total += len(np.setdiff1d(batch, later[start : start + at_once]))
    return total / len(inserted)
