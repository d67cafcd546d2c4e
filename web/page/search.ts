// A question answered: where that costs nobody else anything twice, by words at once, then by meaning too.

import type { Results } from "../src/index.ts";
import type { Opened } from "./backend.ts";
import { noteLatency } from "./latency.ts";
import type { Query } from "./query.ts";

/** What was found, and whether that is all. */
export interface Found {
  readonly results: Results;
  readonly isLast: boolean; // false for what was found by words, while the rest is under way
}

/** Answers a query: twice where `pauseMs` is waited between words and meaning, since whoever types on does
 * not need the second; once where it is null. Throws what the search throws, also after its first half. */
export async function* answers(
  opened: Opened,
  query: Query,
  signal: AbortSignal,
  pauseMs: number | null,
): AsyncGenerator<Found> {
  const { question, mode } = query;
  let firstMs: number | null = null;
  if (pauseMs !== null && mode === "hybrid") {
    const start = performance.now();
    const results = await opened.search(query, "lexical", signal);
    firstMs = performance.now() - start;
    if (signal.aborted) return;
    yield { results, isLast: false };
    await new Promise<void>((done) => setTimeout(done, pauseMs));
    if (signal.aborted) return;
  }
  const start = performance.now();
  const results = await opened.search(query, mode, signal);
  if (signal.aborted) return;
  noteLatency({ question, firstMs, ms: (firstMs ?? 0) + performance.now() - start });
  yield { results, isLast: true };
}
