// Texts of chunks that only a server keeps. Whoever shows one compares it with the chunk's check and
// length first (core/query/passages.h).

import type { AwayText } from "../core/query.ts";
import { objectOf } from "../text/json.ts";
import { originOf, SEARCH_SILENCE_MS } from "./index_server.ts";
import type { IndexServer } from "./index_server.ts";
import { Client } from "./client.ts";

const MOST_AT_ONCE = 256;
const MOST_CHUNK_BYTES = 1 << 20; // of one chunk's answer
const MOST_ANSWER_BYTES = 1 << 26;

/** The texts of chunks; null for those that the server cannot read. Unreachable if it does not answer as
 * it should, WrongState if it has another index now. */
export async function askChunks(
  server: IndexServer,
  ids: readonly number[],
  signal?: AbortSignal,
): Promise<(AwayText | null)[]> {
  const client = new Client(server.url, { ...server, silenceMs: SEARCH_SILENCE_MS });
  const chunks: (AwayText | null)[] = [];
  for (let first = 0; first < ids.length; first += MOST_AT_ONCE) {
    const some = ids.slice(first, first + MOST_AT_ONCE);
    const most = Math.min(some.length * MOST_CHUNK_BYTES, MOST_ANSWER_BYTES);
    const bytes = await client.post("/v1/sync/chunks", { ids: some, ...originOf(server) }, most, signal);
    const found = objectOf(new TextDecoder().decode(bytes))?.["chunks"];
    const given: unknown[] = Array.isArray(found) ? found : [];
    const isRight = given.every((one, i) => one === null || (isChunk(one) && one.id === some[i]));
    if (given.length !== some.length || !isRight) throw client.strange("other chunks than were asked for");
    chunks.push(...(given as (AwayText | null)[]));
  }
  return chunks;
}

function isChunk(value: unknown): value is AwayText {
  if (typeof value !== "object" || value === null) return false;
  const chunk = value as Record<string, unknown>;
  const areTexts = ["title", "body", "embedded"].every((name) => typeof chunk[name] === "string");
  return areTexts && ["id", "first", "last"].every((name) => Number.isSafeInteger(chunk[name]));
}
