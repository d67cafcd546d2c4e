// A question answered: where that costs nobody else anything twice, by words at once, then by meaning too.

import type { Results } from "../src/index.ts";
import type { Opened } from "./backend.ts";
import { noteLatency } from "./latency.ts";
import type { Query } from "./query.ts";

export interface Watcher {
  /** What was found by words, while the rest is under way. */
  first(results: Results): void;
  /** What was found. */
  last(results: Results): void;
}

/** Answers a query. Throws what the search throws, also where its first half was shown. `pause` is
 * waited for between the two halves: whoever types on does not need the second; null for a single one. */
export async function answer(
  opened: Opened,
  query: Query,
  signal: AbortSignal,
  pause: (() => Promise<void>) | null,
  watcher: Watcher,
): Promise<void> {
  let firstMs: number | null = null;
  if (pause && query.mode === "hybrid") {
    const [results, ms] = await timed(() => opened.search(query, "lexical", signal));
    firstMs = ms;
    if (signal.aborted) return;
    watcher.first(results);
    await pause();
    if (signal.aborted) return;
  }
  const [results, ms] = await timed(() => opened.search(query, query.mode, signal));
  if (signal.aborted) return;
  noteLatency({ question: query.question, firstMs, ms: (firstMs ?? 0) + ms });
  watcher.last(results);
}

/** What the page waits for: with the way there and back. */
async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const value = await work();
  return [value, performance.now() - start];
}
