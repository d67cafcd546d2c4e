import type { EngineIndex, EngineRequest } from "../core/engine.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { optimiseRows, watchCache } from "./optimiser.ts";
import type { CacheStep, CacheTarget, CacheWatch, QueryTest } from "./optimiser.ts";
import type { RowSource } from "./rows.ts";
import type { VectorTiers } from "./vectors.ts";

/** What storage may cost (see CacheTarget), and what the test queries ask for. */
export interface OptimiseOptions extends CacheTarget {
  readonly request?: EngineRequest; // k 10, recall 0.9
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
}

// Rows that are read to learn what one access costs where no query made any.
const PROBED = 16;
const PROBES = 8;

/** Runs the optimiser over real tiers: the budget is the chosen one afterwards, and the old one if
 * it fails or is cancelled. */
export async function optimiseTiers(
  index: EngineIndex,
  tiers: VectorTiers,
  source: RowSource,
  queries: readonly Float32Array[],
  options: OptimiseOptions,
  now: () => number,
): Promise<{ report: CacheReport; watch: CacheWatch }> {
  if (queries.length === 0) {
    throw new GossamerError("Empty", "the cache is optimised by test queries, and none was given");
  }
  const before = tiers.budget;
  const most = Math.min(Math.floor(before / index.rowBytes), index.nodeCount);
  const test = (rows: number) => {
    tiers.setBudget(rows * index.rowBytes);
    return testQueries(index, tiers, source, queries, options, now);
  };
  try {
    await testQueries(index, tiers, source, queries, options, now); // fills what is empty
    const found = await optimiseRows(most, options, test);
    tiers.setBudget(found.rows * index.rowBytes);
    const report = {
      rowsBefore: most,
      rowsAfter: found.rows,
      bytesBefore: most * index.rowBytes,
      bytesAfter: found.rows * index.rowBytes,
      bytesSaved: (most - found.rows) * index.rowBytes,
      steps: found.steps,
    };
    return { report, watch: watchCache(found) };
  } catch (error) {
    tiers.setBudget(before);
    throw error;
  }
}

async function testQueries(
  index: EngineIndex,
  tiers: VectorTiers,
  source: RowSource,
  queries: readonly Float32Array[],
  options: OptimiseOptions,
  now: () => number,
): Promise<QueryTest> {
  const before = tiers.stats.storage;
  const started = now();
  let pathLength = 0;
  for (const query of queries) {
    throwIfAborted(options.signal);
    const search = index.search(query, options.request ?? { k: 10, recall: 0.9 });
    try {
      await tiers.run(search, options.signal);
      pathLength += search.counters().distances;
    } finally {
      search.free();
    }
  }
  const queryMs = now() - started;
  const { storage } = tiers.stats;
  const reads = storage.reads - before.reads;
  return {
    accesses: reads / queries.length,
    pathLength: pathLength / queries.length,
    queryMs: queryMs / queries.length,
    accessMs: reads > 0 ? (storage.ms - before.ms) / reads : await probe(index, source, options, now),
  };
}

/** What one access takes, where all rows were in memory. */
async function probe(
  index: EngineIndex,
  source: RowSource,
  options: OptimiseOptions,
  now: () => number,
): Promise<number> {
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
