// What a server is asked for during a search: vectors of chunks.

import { floatsOf } from "../bytes/half.ts";
import { originOf, SEARCH_SILENCE_MS } from "./index_server.ts";
import type { IndexServer } from "./index_server.ts";
import { Client } from "./client.ts";

// Of a request: a server may have to embed each of them.
const MOST_AT_ONCE = 512;

/** The vectors of chunks: `mask` says which the server gave (1), `rows` are those, end to end.
 * Unreachable if it does not answer as it should, WrongState if it has another index now. */
export async function askVectors(
  server: IndexServer,
  ids: readonly number[],
  dim: number,
  signal?: AbortSignal,
): Promise<{ mask: Uint8Array; rows: Float32Array }> {
  const client = new Client(server.url, { ...server, silenceMs: SEARCH_SILENCE_MS });
  const mask = new Uint8Array(ids.length);
  const rows = new Float32Array(ids.length * dim);
  let filled = 0;
  for (let first = 0; first < ids.length; first += MOST_AT_ONCE) {
    const some = ids.slice(first, first + MOST_AT_ONCE);
    const most = some.length * (1 + 2 * dim);
    const bytes = await client.post("/v1/sync/vectors", { ids: some, ...originOf(server) }, most, signal);
    const given = bytes.subarray(0, some.length).map((flag) => Number(flag === 1));
    const count = given.reduce((sum, flag) => sum + flag, 0);
    if (bytes.length !== some.length + 2 * dim * count) {
      throw client.strange(`${bytes.length} bytes for the vectors of ${some.length} chunks`);
    }
    const vectors = floatsOf(bytes.subarray(some.length));
    if (!vectors.every(Number.isFinite)) throw client.strange("a vector that is not finite");
    mask.set(given, first);
    rows.set(vectors, filled);
    filled += vectors.length;
  }
  return { mask, rows: rows.subarray(0, filled) };
}
