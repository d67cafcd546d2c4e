// For pages made with React: hits for what is typed.

import { useEffect, useState } from "react";
import { GossamerError, indexAt } from "../index.ts";
import type { GossamerIndex, Hit, SearchOptions, StartOptions } from "../index.ts";

export interface UseSearchOptions extends Omit<SearchOptions, "signal">, StartOptions {
  readonly waitMs?: number; // between the last key and the search: 150
}

/** What is known of a question by now. */
export interface SearchState {
  readonly hits: readonly Hit[]; // of the question before, until those of this one come
  readonly notes: readonly string[];
  readonly error: GossamerError | null;
  readonly isSearching: boolean;
}

const NOTHING: SearchState = { hits: [], notes: [], error: null, isSearching: false };
const WAIT_MS = 150;

/** Searches an index, by its address or an open one, whenever the question changes; nothing while there is no index (null)
 * or no word in the question. The index of an address is opened once for the whole page. */
export function useSearch(
  index: string | URL | GossamerIndex | null,
  question: string,
  options: UseSearchOptions = {},
): SearchState {
  const [state, setState] = useState(NOTHING);
  const { waitMs = WAIT_MS, worker, wasm, ...asked } = options;
  const target = index instanceof URL ? index.href : index;
  const key = JSON.stringify(asked); // options are a new object each time
  useEffect(() => {
    if (target === null || !/[\p{L}\p{N}]/u.test(question)) return setState(NOTHING);
    const stop = new AbortController();
    const { signal } = stop;
    const run = async () => {
      const opened = typeof target === "string" ? await indexAt(target, { worker, wasm }) : target;
      const { hits, notes } = await opened.search(question, { ...(JSON.parse(key) as SearchOptions), signal });
      if (!signal.aborted) setState({ ...NOTHING, hits, notes });
    };
    const fail = (error: unknown) => {
      if (!signal.aborted) setState({ ...NOTHING, error: errorOf(error) });
    };
    setState((before) => ({ ...before, isSearching: true }));
    const timer = setTimeout(() => void run().catch(fail), waitMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [target, question, key, waitMs]);
  return state;
}

function errorOf(error: unknown): GossamerError {
  return error instanceof GossamerError ? error : new GossamerError("WrongState", String(error));
}
