"""States of an index without a folder: changes whose segments stay in memory."""

import itertools

import numpy as np

from gossamer import _core
from gossamer.store import Changes
from gossamer.store.codecs import USUAL
from gossamer.store.segments import NO_CODES, SegmentCatalogue

NOTHING = SegmentCatalogue([], ())


def changes_to(old=NOTHING, next_chunk_id=1, stamp=NO_CODES):
    """Start changes to a state."""
    last = max((segment.number for segment in old.segments), default=0)
    numbers = itertools.count(last + 1)
    return Changes(old, next_chunk_id, stamp, lambda: next(numbers), _keep)


def finish(changes):
    """Give the state that changes lead to; every file may be read in it."""
    return SegmentCatalogue(changes.finish(), ("/",))


def _keep(number, parts):
    return _core.Segment(number, np.concatenate(parts.parts()), True, USUAL)
