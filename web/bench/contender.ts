// What is measured against each other, and how.

/** One way to search that is set up; ids of the nearest k come back. */
export interface Contender {
  search(query: Float32Array, k: number): Promise<Answer> | Answer;
  /** Many queries in one call; each counts with its share of the time. */
  searchAll?(queries: readonly Float32Array[], k: number): Promise<Answer[]>;
}

export interface Answer {
  readonly ids: readonly number[];
}

export interface Turns {
  readonly names: readonly string[];
  readonly first: number; // query to begin with
  readonly count: number;
  readonly rounds: number;
  readonly k: number;
  readonly advances: boolean; // whether each round asks other queries than the one before
  readonly capMs?: number; // for each contender: once it took so long, it is left out
}

/** What one contender took: a line for each round, cut off where the cap was reached. */
export interface Taken {
  readonly ms: number[][];
  readonly ids: number[][][];
}

// A contender answers so many queries before the next one's turn: few enough that all meet the same
// load, enough that what each needs is in the processor's caches.
const AT_A_TIME = 32;

/** Asks all contenders the same queries, in turns. */
export async function takeTurns(
  contenders: ReadonlyMap<string, Contender>,
  queries: Float32Array,
  dim: number,
  turns: Turns,
): Promise<Record<string, Taken>> {
  const taken: Record<string, Taken> = {};
  const spent = new Map<string, number>();
  for (const name of turns.names) taken[name] = { ms: [], ids: [] };
  for (let round = 0; round < turns.rounds; round++) {
    for (const name of turns.names) {
      for (const lines of Object.values(taken[name] as Taken)) lines.push([]);
    }
    const first = turns.first + (turns.advances ? round * turns.count : 0);
    for (let at = first; at < first + turns.count; at += AT_A_TIME) {
      const some = Math.min(AT_A_TIME, first + turns.count - at);
      for (const name of turns.names) {
        const contender = contenders.get(name) as Contender;
        const isOver = () => (spent.get(name) ?? 0) > (turns.capMs ?? Infinity);
        // Whoever waited wakes up first: the query before is asked once more, and not counted.
        const before = Math.max(0, at - 1) * dim;
        if (turns.names.length > 1 && !isOver()) {
          await contender.search(queries.slice(before, before + dim), turns.k);
        }
        const rows = Array.from({ length: some }, (_, i) => queries.slice((at + i) * dim, (at + i + 1) * dim));
        const groups = contender.searchAll ? [rows] : rows.map((row) => [row]);
        for (const group of groups) {
          if (isOver()) break;
          const soFar = spent.get(name) ?? 0;
          spent.set(name, soFar + (await ask(contender, group, turns.k, taken[name] as Taken)));
        }
      }
    }
  }
  return taken;
}

/** Asks one query, or many at once; the milliseconds of all. */
async function ask(contender: Contender, queries: readonly Float32Array[], k: number, taken: Taken): Promise<number> {
  const started = performance.now();
  const answers = contender.searchAll ? await contender.searchAll(queries, k) : [await searchOne(contender, queries, k)];
  const ms = performance.now() - started;
  for (const { ids } of answers) {
    taken.ms.at(-1)?.push(ms / queries.length);
    taken.ids.at(-1)?.push([...ids]);
  }
  return ms;
}

async function searchOne(contender: Contender, queries: readonly Float32Array[], k: number): Promise<Answer> {
  const given = contender.search(queries[0] as Float32Array, k);
  return given instanceof Promise ? await given : given;
}
