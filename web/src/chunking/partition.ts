// The cheapest way to part a stretch at the places where it may be cut.

import { lowerBound, upperBound } from "./outline.ts";

// A chunk costs 1, and empty room a little more, so that a short rest is shared with the chunk
// before it. Less than this part of the budget is a fragment, which is made only in need.
const EMPTY_ROOM = 0.15;
const FRAGMENT = 0.3;
const FRAGMENT_COST = 0.5;

/** What `cheapestPartition` chooses from, place by place, the begin and the end included. */
export interface Places {
  readonly offsets: readonly number[];
  readonly tokens: readonly number[]; // that stand before each
  readonly costs: readonly number[]; // of cutting there
  readonly budgets: readonly number[]; // tokens that a piece which begins there may hold
}

/** Chooses places so that the pieces between them cost the least; gives their indices. A gap that
 * is too wide for any budget becomes a piece of its own. */
export function cheapestPartition(places: Places, maxBytes: number): number[] {
  const { offsets, tokens, costs, budgets } = places;
  const last = offsets.length - 1;
  const best = new Float64Array(last + 1).fill(Infinity);
  best[0] = 0;
  const cameFrom = new Uint32Array(last + 1);
  for (let begin = 0; begin < last; begin += 1) {
    const budget = budgets[begin] as number;
    const first = tokens[begin] as number;
    const offset = offsets[begin] as number;
    let stop = upperBound(tokens, first + budget, begin + 1);
    if ((offsets[stop - 1] as number) - offset > maxBytes) {
      stop = upperBound(offsets, offset + maxBytes, begin + 1, stop);
    }
    stop = Math.max(stop, begin + 2);
    const start = Math.min(lowerBound(tokens, first + FRAGMENT * budget, begin + 1, stop), stop - 1);
    const scale = 1 / Math.max(budget, 1);
    let base = (best[begin] as number) + 1;
    if ((tokens[start] as number) - first < FRAGMENT * budget) base += FRAGMENT_COST;
    for (let end = start; end < stop; end += 1) {
      const empty = 1 - ((tokens[end] as number) - first) * scale;
      const total = base + (costs[end] as number) + EMPTY_ROOM * empty * empty;
      if (total < (best[end] as number)) {
        best[end] = total;
        cameFrom[end] = begin;
      }
    }
  }
  const chosen = [last];
  for (let at = last; at > 0; ) {
    at = cameFrom[at] as number;
    chosen.push(at);
  }
  return chosen.reverse();
}
