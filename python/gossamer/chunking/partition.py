"""The cheapest way to part a stretch at the places where it may be cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

__all__ = ["cheapest_partition"]

# A chunk costs 1, and empty room a little more, so that a short rest is shared with the chunk
# before it. Less than this part of the budget is a fragment, which is made only in need.
_EMPTY_ROOM = 0.15
_FRAGMENT = 0.3
_FRAGMENT_COST = 0.5


def cheapest_partition(
    offsets: Sequence[int],
    tokens: Sequence[int],
    costs: Sequence[float],
    budgets: Sequence[int],
    max_bytes: int,
) -> list[int]:
    """Choose places so that the pieces between them cost the least; give their indices.

    `offsets` are all places including the begin and the end, `tokens` how many tokens stand
    before each, `costs` what cutting there costs, `budgets` how many tokens a piece that begins
    there may hold. A gap that is too wide for any budget becomes a piece of its own.
    """
    last = len(offsets) - 1
    best = [0.0] + [float("inf")] * last
    came_from = [0] * (last + 1)
    for begin in range(last):
        budget, first = budgets[begin], tokens[begin]
        stop = bisect_right(tokens, first + budget, begin + 1)
        if offsets[stop - 1] - offsets[begin] > max_bytes:
            stop = bisect_right(offsets, offsets[begin] + max_bytes, begin + 1, stop)
        stop = max(stop, begin + 2)
        start = min(bisect_left(tokens, first + _FRAGMENT * budget, begin + 1, stop), stop - 1)
        base, scale = best[begin] + 1.0, 1.0 / max(budget, 1)
        if tokens[start] - first < _FRAGMENT * budget:
            base += _FRAGMENT_COST
        for end in range(start, stop):
            empty = 1.0 - (tokens[end] - first) * scale
            total = base + costs[end] + _EMPTY_ROOM * empty * empty
            if total < best[end]:
                best[end] = total
                came_from[end] = begin
    chosen = [last]
    while chosen[-1] > 0:
        chosen.append(came_from[chosen[-1]])
    return chosen[::-1]
