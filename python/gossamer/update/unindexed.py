"""Files that changed and are not up to date, searched by words in their present text.

They become a small index in memory, so that the core answers of it as of any other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count, takewhile

import numpy as np

from gossamer import _core
from gossamer.lexical import terms_of
from gossamer.model import IndexModel
from gossamer.query.results import Results
from gossamer.query.run import Query, run_query
from gossamer.readers import Limits
from gossamer.records import Hit
from gossamer.sources.folder import FoundFile
from gossamer.store import Changes, ChunkedDocument, Snapshot
from gossamer.store.codecs import USUAL
from gossamer.store.segments import NO_CODES, SegmentCatalogue, SegmentTexts
from gossamer.update.apply import check_of
from gossamer.update.fresh import MOST_FILES, choose_files, prepare_in_time
from gossamer.update.prepare import Prepared, Preparer

__all__ = ["add_unindexed"]

_MOST_S = 1.0
# Of the question's words, the rare ones counting more, a hit holds at least this share.
_LEAST_SHARE = 0.5


def add_unindexed(
    snapshot: Snapshot,
    model: IndexModel,
    query: Query,
    results: Results,
    left: Sequence[FoundFile],
) -> tuple[Results, int]:
    """Add what the present text of changed files says to an answer; say how many were read.

    Where it holds all words of the question it stands before the first hit that does not, else
    behind the others, in the place of half of them at most.
    """
    read = _read(snapshot, model, choose_files(snapshot, left, MOST_FILES))
    fresh = [one for one in read if not one.is_same]
    if not fresh:
        return results, len(read)
    lexical = replace(query, mode="lexical", recall=None, reranker=None)
    found = run_query(_Draft(snapshot, fresh), model, lexical, uses_hot=False)
    weights = _weights(query.question, results)
    # A file that only grew may still be cited where it is as it was.
    known = {(hit.path, hit.text) for hit in results}
    own = [
        (_share(hit, weights), replace(hit, id=0, is_indexed=False))
        for hit in found
        if (hit.path, hit.text) not in known
    ]
    whole = [hit for share, hit in own if share == 1]
    part = [hit for share, hit in own if _LEAST_SHARE <= share < 1][: query.k // 2]
    first = len(list(takewhile(lambda hit: _share(hit, weights) == 1, results)))
    indexed = [*results.hits[:first], *whole, *results.hits[first:]]
    hits = [*indexed[: query.k - len(part)], *part]
    numbered = tuple(replace(hit, number=number) for number, hit in enumerate(hits, 1))
    return replace(results, hits=numbered), len(read)


def _read(snapshot: Snapshot, model: IndexModel, files: Sequence[FoundFile]) -> list[Prepared]:
    if not files:
        return []
    manifest, until = snapshot.manifest, time.monotonic() + _MOST_S
    # Texts are kept with the draft: a file may change again.
    preparer = Preparer(model.embedder.tokenizer, manifest.model.chunk_tokens, True, Limits(), None)
    prepared = (prepare_in_time(snapshot, preparer, file, until) for file in files)
    return [one for one in prepared if one is not None]


class _Draft(Snapshot):
    """Sources that were read just now, as the state of an index without vectors."""

    def __init__(self, snapshot: Snapshot, sources: Sequence[Prepared]) -> None:
        self.folder, self.trust, self.is_trusted = snapshot.folder, False, True
        settings = replace(snapshot.manifest.settings, lexical="scan")
        self.manifest = replace(snapshot.manifest, roots=(), files=(), settings=settings)
        self.site_named = snapshot.site_named
        self._roots = ()
        segments = _segments(sources)
        self.catalogue = SegmentCatalogue(segments, ())
        self.texts = SegmentTexts(segments)


def _segments(sources: Sequence[Prepared]) -> list[_core.Segment]:
    numbers = count(1)
    changes = Changes(SegmentCatalogue([], ()), 1, NO_CODES, lambda: next(numbers), _open)
    for source in sources:
        documents = []
        for one in source.documents:
            segment, offset = changes.add_text(one.text)
            record = replace(one.record, segment=segment, offset=offset)
            documents.append(ChunkedDocument(record, one.spans, list(map(check_of, one.names))))
        changes.replace_source(source.source, documents)
    return changes.finish()


def _open(number: int, parts: _core.SegmentParts) -> _core.Segment:
    return _core.Segment(number, np.concatenate(parts.parts()), True, USUAL)


def _weights(question: str, results: Results) -> dict[str, float]:
    """Give each word of the question what it counts: the fewer chunks have it, the more."""
    said = results.explanation
    return {
        term: math.log(2 + said.chunks / (1 + said.lexical_terms.get(term, 0)))
        for term in terms_of(question)
    }


def _share(hit: Hit, weights: Mapping[str, float]) -> float:
    text = f"{hit.title}\n{hit.text}".encode("utf-8", "replace")
    missing = weights.keys() - _core.spaced_terms(text).split()
    return 1 - sum(weights[term] for term in missing) / max(sum(weights.values()), 1e-9)
