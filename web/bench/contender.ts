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

/** Asks all contenders the same queries, one after the other, so that all meet the same load. */
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
    for (let i = 0; i < turns.count; i++) {
      const at = turns.first + i + (turns.advances ? round * turns.count : 0);
      const query = queries.slice(at * dim, (at + 1) * dim);
      for (const name of turns.names) {
        const soFar = spent.get(name) ?? 0;
        if (soFar > (turns.capMs ?? Infinity)) continue;
        const ms = await askOne(contenders.get(name) as Contender, query, turns.k, taken[name] as Taken);
        spent.set(name, soFar + ms);
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
