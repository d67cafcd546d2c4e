// What is measured against each other, and how.

/** One way to search that is set up; ids of the nearest k come back. */
export interface Contender {
  search(query: Float32Array, k: number): Promise<Answer> | Answer;
}

export interface Answer {
  readonly ids: readonly number[];
  readonly innerMs?: number; // without the way to the worker and back
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
  readonly innerMs: number[][];
  readonly ids: number[][][];
}

// A contender answers so many queries before the next one's turn: few enough that all meet the same
// load, enough that what each needs is in the processor's caches.
const AT_A_TIME = 20;

/** Asks all contenders the same queries, in turns. */
export async function takeTurns(
  contenders: ReadonlyMap<string, Contender>,
  queries: Float32Array,
  dim: number,
  turns: Turns,
): Promise<Record<string, Taken>> {
  const taken: Record<string, Taken> = {};
  const spent = new Map<string, number>();
  for (const name of turns.names) taken[name] = { ms: [], innerMs: [], ids: [] };
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
        for (let i = at; i < at + some && !isOver(); i++) {
          const soFar = spent.get(name) ?? 0;
          const query = queries.slice(i * dim, (i + 1) * dim);
          spent.set(name, soFar + (await askOne(contender, query, turns.k, taken[name] as Taken)));
        }
      }
    }
  }
  return taken;
}

async function askOne(
  contender: Contender,
  query: Float32Array,
  k: number,
  taken: Taken,
): Promise<number> {
  const started = performance.now();
  const given = contender.search(query, k);
  const answer = given instanceof Promise ? await given : given;
  const ms = performance.now() - started;
  taken.ms.at(-1)?.push(ms);
  if (answer.innerMs !== undefined) taken.innerMs.at(-1)?.push(answer.innerMs);
  taken.ids.at(-1)?.push([...answer.ids]);
  return ms;
}
