// A question answered twice: by words at once, then by meaning too.

import type { GossamerIndex, Results } from "../src/index.ts";
import { noteLatency } from "./latency.ts";
import { filterOf } from "./query.ts";
import type { Query } from "./query.ts";

export interface Watcher {
  /** What was found by words, while the rest is under way. */
  first(results: Results): void;
  /** What was found. */
  last(results: Results): void;
}

/** Answers a query. Throws what the search throws, also where its first half was shown. `pause` is
 * waited for between the two: whoever types on does not need the second. */
export async function answer(
  index: GossamerIndex,
  query: Query,
  signal: AbortSignal,
  pause: () => Promise<void>,
  watcher: Watcher,
): Promise<void> {
  const filter = filterOf(query);
  const options = { k: query.k, signal, ...(filter === undefined ? {} : { filter }) };
  let firstMs: number | null = null;
  if (query.mode === "hybrid") {
    const [results, ms] = await timed(() =>
      index.search(query.question, { ...options, mode: "lexical" }),
    );
    firstMs = ms;
    if (signal.aborted) return;
    watcher.first(results);
    await pause();
    if (signal.aborted) return;
  }
  const [results, ms] = await timed(() =>
    index.search(query.question, { ...options, mode: query.mode }),
  );
  if (signal.aborted) return;
  noteLatency({ question: query.question, firstMs, ms: (firstMs ?? 0) + ms });
  watcher.last(results);
}

/** What the page waits for: with the way to the worker and back. */
async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const value = await work();
  return [value, performance.now() - start];
}
