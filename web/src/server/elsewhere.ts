// The server of an index, during searches: what is not here is asked for there. The twin of
// python/gossamer/sync/remote_chunks.py.

import { GossamerError } from "../errors.ts";
import { loadPart } from "../lazy.ts";
import type { AskedServer } from "./asked.ts";
import type { AwayChunk } from "./chunks.ts";

/** Asks a server; where it does not answer, or has another index now, that is no error: `said` gets a note,
 * and nothing is given. */
export interface Elsewhere {
  vectors(
    ids: readonly number[],
    said: Set<string>,
    signal?: AbortSignal,
  ): Promise<{ mask: Uint8Array; rows: Float32Array }>;
  chunks(ids: readonly number[], said: Set<string>, signal?: AbortSignal): Promise<(AwayChunk | null)[]>;
}

// A server that did not answer is not asked again for so long: no search waits for it twice.
const DEAD_MS = 30_000;

export function makeElsewhere(
  server: AskedServer,
  dim: number,
  clock: () => number = () => performance.now(),
): Elsewhere {
  let deadUntil = -Infinity;
  let why = "";

  async function ask<T>(none: T, said: Set<string>, request: () => Promise<T>): Promise<T> {
    if (clock() >= deadUntil) {
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof GossamerError) || error.reason === "Cancelled") throw error;
        deadUntil = clock() + DEAD_MS;
        why = noteOf(server.url, error);
      }
    }
    said.add(why);
    return none;
  }

  return {
    vectors: (ids, said, signal) => {
      const none = { mask: new Uint8Array(ids.length), rows: new Float32Array(0) };
      return ask(none, said, async () => {
        const { askVectors } = await loadPart(import("./ask.ts"));
        return askVectors(server, ids, dim, signal);
      });
    },
    chunks: (ids, said, signal) => {
      const none = ids.map(() => null);
      return ask<(AwayChunk | null)[]>(none, said, async () => {
        const { askChunks } = await loadPart(import("./ask.ts"));
        return askChunks(server, ids, signal);
      });
    },
  };
}

function noteOf(url: string, error: GossamerError): string {
  const away = error.reason === "Unreachable" ? `the server at ${url} did not answer: ` : "";
  return `${away}${error.message}; answered from what is here`;
}
