// Several rankings of chunks made into one. The twin of python/gossamer/query/fusion.py.

// Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): how slowly a rank's weight falls. The
// paper takes 60 for rankings of a thousand; for the first ten of two rankings the first places tell
// more (docs/decisions/0011).
const OFFSET = 5;

/** A chunk with its place in each ranking that holds it, from 1. */
export interface Fused {
  readonly id: number;
  readonly score: number;
  readonly ranks: Readonly<Record<string, number>>;
}

/**
 * Orders the chunks of all rankings by the sum of their reciprocal ranks, best first.
 *
 * Scores need not be comparable between rankings: only places count. Equal sums go by the best single
 * place and then by the smaller id, so that the order is always the same.
 */
export function fuse(rankings: Readonly<Record<string, readonly number[]>>): Fused[] {
  const ranks = new Map<number, Record<string, number>>();
  for (const [name, ids] of Object.entries(rankings)) {
    ids.forEach((id, place) => {
      const places = ranks.get(id) ?? {};
      places[name] ??= place + 1;
      ranks.set(id, places);
    });
  }
  const fused = [...ranks].map(([id, places]) => ({ id, score: score(places), ranks: places }));
  return fused.sort((a, b) => b.score - a.score || best(a) - best(b) || a.id - b.id);
}

function score(places: Readonly<Record<string, number>>): number {
  return Object.values(places).reduce((sum, place) => sum + 1 / (OFFSET + place), 0);
}

function best(fused: Fused): number {
  return Math.min(...Object.values(fused.ranks));
}
