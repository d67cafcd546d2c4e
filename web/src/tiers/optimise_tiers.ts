import type { EngineIndex, EngineRequest, EngineSearch } from "../core/engine.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { optimiseRows, watchCache } from "./optimiser.ts";
import type { CacheStep, CacheTarget, CacheWatch, QueryTest } from "./optimiser.ts";
import type { RowSource } from "./rows.ts";

/** What storage may cost (see CacheTarget), and what the test queries ask for. */
export interface OptimiseOptions extends CacheTarget {
  readonly request?: EngineRequest; // k 10, recall 0.9
  /** Whether rows are read into slots that are empty at first; true. Where that is dear, what half of the
   * queries reads must do. */
  readonly fills?: boolean;
  readonly signal?: AbortSignal;
}

/** What the optimiser tried and what it saves. */
export interface CacheReport {
  readonly rowsBefore: number;
  readonly rowsAfter: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly bytesSaved: number;
  readonly steps: readonly CacheStep[];
  readonly isStopped: boolean; // after as many steps as are made at most: less might do
  readonly isHeldOut: boolean; // measured with queries that had not filled the cache
}

/** What the optimiser does with tiers. */
export interface TestedTiers {
  readonly index: EngineIndex;
  readonly source: RowSource;
  readonly now: () => number;
  readonly overruled: AbortSignal; // aborted when another budget is set
  readonly accesses: () => { readonly reads: number; readonly ms: number };
  budget(): number;
  setBudget(bytes: number): void;
  fill(signal?: AbortSignal): Promise<void>;
  /** Supplies a search; what it reads stays in memory only if `keeps`. */
  run(search: EngineSearch, keeps: boolean, signal?: AbortSignal): Promise<void>;
}

// Rows that are read to learn what one access costs where no query made any.
const PROBED = 16;
const PROBES = 8;

/** Runs the optimiser over real tiers: the budget is the chosen one afterwards, the old one if it fails
 * or is cancelled, and the one that was set meanwhile if that is why. */
export async function optimiseTiers(
  tiers: TestedTiers,
  queries: readonly Float32Array[],
  options: OptimiseOptions,
): Promise<{ report: CacheReport; watch: CacheWatch }> {
  if (queries.length === 0) {
    throw new GossamerError("Empty", "the cache is optimised by test queries, and none was given");
  }
  const { rowBytes, nodeCount } = tiers.index;
  const before = tiers.budget();
  const most = Math.min(Math.floor(before / rowBytes), nodeCount);
  const [warming, measured] = halvesOf(queries);
  const test = async (rows: number) => {
    checkOngoing(tiers, options);
    tiers.setBudget(rows * rowBytes);
    await runQueries(tiers, warming, true, options);
    return testQueries(tiers, measured, options);
  };
  try {
    if (options.fills ?? true) await tiers.fill(options.signal);
    const found = await optimiseRows(most, options, test);
    checkOngoing(tiers, options);
    tiers.setBudget(found.rows * rowBytes);
    const report = {
      rowsBefore: most,
      rowsAfter: found.rows,
      bytesBefore: most * rowBytes,
      bytesAfter: found.rows * rowBytes,
      bytesSaved: (most - found.rows) * rowBytes,
      steps: found.steps,
      isStopped: found.isStopped,
      isHeldOut: queries.length > 1,
    };
    return { report, watch: watchCache(found) };
  } catch (error) {
    if (!tiers.overruled.aborted) tiers.setBudget(before);
    throw error;
  }
}

/** Queries that fill the cache, and others to measure it with: those that filled it would find all they
 * look at. One alone has to do both. */
function halvesOf(queries: readonly Float32Array[]): [readonly Float32Array[], readonly Float32Array[]] {
  if (queries.length === 1) return [queries, queries];
  return [queries.filter((_, i) => i % 2 === 0), queries.filter((_, i) => i % 2 === 1)];
}

/** What queries cost with the rows that are in memory, which stay the same. */
async function testQueries(
  tiers: TestedTiers,
  queries: readonly Float32Array[],
  options: OptimiseOptions,
): Promise<QueryTest> {
  const before = { ...tiers.accesses() };
  const started = tiers.now();
  const pathLength = await runQueries(tiers, queries, false, options);
  const queryMs = tiers.now() - started;
  const { reads, ms } = tiers.accesses();
  const accesses = reads - before.reads;
  return {
    accesses: accesses / queries.length,
    pathLength: pathLength / queries.length,
    queryMs: queryMs / queries.length,
    accessMs: accesses > 0 ? (ms - before.ms) / accesses : await probe(tiers, options),
  };
}

/** Runs queries, all by the strategy that suits the first; gives how many rows they looked at. */
async function runQueries(
  tiers: TestedTiers,
  queries: readonly Float32Array[],
  keeps: boolean,
  options: OptimiseOptions,
): Promise<number> {
  let request = options.request ?? { k: 10, recall: 0.9 };
  let pathLength = 0;
  for (const query of queries) {
    checkOngoing(tiers, options);
    const search = tiers.index.search(query, request);
    request = { ...request, strategy: search.strategy };
    try {
      await tiers.run(search, keeps, options.signal);
      pathLength += search.counters().distances;
    } finally {
      search.free();
    }
  }
  return pathLength;
}

function checkOngoing({ overruled }: TestedTiers, { signal }: OptimiseOptions): void {
  throwIfAborted(signal);
  if (!overruled.aborted) return;
  throw new GossamerError("Cancelled", "another memory budget was set while this one was looked for; it stands");
}

/** What one access takes, where all rows were in memory. */
async function probe({ index, source, now }: TestedTiers, options: OptimiseOptions): Promise<number> {
  const count = Math.min(PROBED, index.nodeCount);
  const started = now();
  for (let i = 0; i < PROBES; i++) {
    const apart = Math.floor(index.nodeCount / count);
    const nodes = Uint32Array.from({ length: count }, (_, j) => j * apart + (i % apart));
    if (source.readRowsNow) {
      const scratch = new Uint8Array(index.rowBytes);
      source.readRowsNow(nodes, () => scratch);
    } else {
      await source.readRows(nodes, options.signal);
    }
  }
  return (now() - started) / PROBES;
}
