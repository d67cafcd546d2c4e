// How little memory does: WebANNS, algorithm 2. The number of storage accesses of a query is a
// falling curve over the number of rows in memory. It begins at (1, n_Q): with one row in memory
// each row of a query's path is an access. From the largest memory on, each step draws the line from
// that end to the point just measured and goes to where it meets y = θ, the accesses that are
// allowed; the curve lies below the line, so that steps get smaller as they near the place where
// accesses exceed θ.
//
// What is done otherwise than in the paper:
// - Where n_Q is far above θ the line is steep, and its steps are a percent or so of the memory. While
//   accesses are at most half of θ a step is an eighth at least. If it goes too far, half of it is
//   tried from the size before, down to a step that is not worth its test; such a step ends the search.
// - C_test is 1 at least, the end of the line: where θ is above n_Q the line meets it left of that.
// - n_Q and n_db are those of one test, whose queries all walk by one strategy: below a certain share
//   of rows in memory an index with codes searches otherwise than above it, and n_Q changes.
// - The memory goes back to the size before by the mean of some searches, not by one of them.

import { GossamerError } from "../errors.ts";

/** What some test queries cost, a query on average. */
export interface QueryTest {
  readonly accesses: number; // n_db: storage accesses
  readonly pathLength: number; // n_Q: rows that a query looks at
  readonly queryMs: number; // T_query: all of it
  readonly accessMs: number; // t_db: one access
}

/** What storage may cost. At least one must be given; if both are, the stricter counts. */
export interface CacheTarget {
  readonly share?: number; // p: of a query's time
  readonly accessMs?: number; // T_θ: of each query
}

export interface CacheStep extends QueryTest {
  readonly rows: number; // C: rows in memory
  readonly theta: number; // accesses that were allowed
  readonly isWithin: boolean;
}

export interface OptimisedCache {
  readonly rows: number; // C_best
  readonly steps: readonly CacheStep[]; // in the order they were tried
  readonly isStopped: boolean; // by MOST_STEPS: less might do
}

// More than this is a source whose costs jump about.
const MOST_STEPS = 64;
const WIDE_STEP = 1 / 8; // of the rows in memory
const LEAST_STEP = 1 / 64;

/** The least rows in memory that keep accesses within the target, starting from `most`. `test`
 * runs queries with so many rows. Keeps `most` if even that exceeds the target. */
export async function optimiseRows(
  most: number,
  target: CacheTarget,
  test: (rows: number) => Promise<QueryTest>,
): Promise<OptimisedCache> {
  checkTarget(target);
  const steps: CacheStep[] = [];
  let best = most;
  let next = most;
  let widest = WIDE_STEP;
  let line = most; // where the paper goes from `best`
  while (next > 0 && steps.length < MOST_STEPS) {
    const tested = await test(next);
    const theta = thetaOf(target, tested);
    const isWithin = tested.accesses <= theta;
    steps.push({ ...tested, rows: next, theta, isWithin });
    if (isWithin) {
      best = next;
      line = nextRows(best, theta, tested);
      if (tested.accesses >= tested.pathLength) break; // without a slope to follow
      if (tested.accesses > theta / 2) widest = 0;
    } else {
      if (next >= line) break; // the line itself went too far, or the largest memory does not do
      widest /= 2;
    }
    const wide = widest < LEAST_STEP ? best : Math.max(1, Math.floor(best * (1 - widest)));
    next = Math.min(line, wide);
    if (best - next < Math.max(1, best * LEAST_STEP)) break;
  }
  return { rows: best, steps, isStopped: steps.length === MOST_STEPS };
}

/** θ: how many accesses a query may make. */
export function thetaOf(target: CacheTarget, tested: QueryTest): number {
  if (!(tested.accessMs > 0)) return Infinity; // accesses that take no time are all allowed
  const { share = Infinity, accessMs = Infinity } = target;
  return Math.min(share * tested.queryMs, accessMs) / tested.accessMs;
}

/** Where the line through (1, n_Q) and (C, n_db) meets y = θ; at least 1, the end of the line. */
function nextRows(rows: number, theta: number, tested: QueryTest): number {
  if (rows <= 1) return rows;
  const slope = (tested.pathLength - tested.accesses) / (1 - rows);
  if (!(slope < 0)) return rows;
  return Math.max(1, Math.ceil((theta - tested.pathLength) / slope + 1));
}

function checkTarget({ share, accessMs }: CacheTarget): void {
  const isShare = share === undefined || (share > 0 && share <= 1);
  const isTime = accessMs === undefined || (accessMs > 0 && Number.isFinite(accessMs));
  if (isShare && isTime && (share !== undefined || accessMs !== undefined)) return;
  throw new GossamerError(
    "InvalidArgument",
    `a cache target is a share of the query's time above 0 and up to 1, a time above 0 ms, or both;` +
      ` not ${share} and ${accessMs} ms`,
  );
}

/** Watches searches after the memory was chosen. */
export interface CacheWatch {
  readonly rows: number; // in memory by now
  /** Tells how many accesses a search made. Gives the rows to have in memory from now on where
   * that must change: searches read more than θ of this size, so that it goes back to the size
   * before (C_{i-1}), and to the largest in the end. */
  observe(accesses: number): number | undefined;
}

// One search is no sign: rows that the smaller memory let go come back one search at a time.
const WATCHED = 8;

/** The watch over sizes that were within their θ, from the largest to the chosen one. */
export function watchCache(found: OptimisedCache, window = WATCHED): CacheWatch {
  const kept = found.steps.filter((step) => step.isWithin || step.rows === found.rows);
  let at = kept.length - 1;
  let recent: number[] = [];
  return {
    get rows() {
      return kept[at]?.rows ?? found.rows;
    },
    observe(accesses) {
      const step = kept[at];
      if (at <= 0 || !step) return undefined;
      recent = [...recent, accesses].slice(-window);
      const mean = recent.reduce((sum, one) => sum + one, 0) / recent.length;
      if (recent.length < window || mean <= step.theta) return undefined;
      at--;
      recent = [];
      return kept[at]?.rows;
    },
  };
}
