// The server of an index, during searches: what is not here is asked for there. The twin of
// python/gossamer/sync/remote_chunks.py.

import type { AwayText } from "../core/query.ts";
import { GossamerError } from "../errors.ts";
import { loadPart } from "../lazy.ts";
import type { IndexServer } from "./index_server.ts";

// A server that did not answer is not asked again for so long: no search waits for it twice.
const DEAD_MS = 30_000;

/** Asks a server; where it does not answer, or has another index now, that is no error: `notes` gets one,
 * and nothing is given. */
export class RemoteChunks {
  readonly #server: IndexServer;
  readonly #dim: number;
  readonly #clock: () => number;
  #deadUntil = -Infinity;
  #why = "";

  constructor(server: IndexServer, dim: number, clock: () => number = () => performance.now()) {
    this.#server = server;
    this.#dim = dim;
    this.#clock = clock;
  }

  /** The vectors of chunks: `mask` says which the server gave (1), `rows` are those, end to end. */
  async vectors(
    ids: readonly number[],
    notes: Set<string>,
    signal?: AbortSignal,
  ): Promise<{ mask: Uint8Array; rows: Float32Array }> {
    try {
      this.#checkAlive();
      const { askVectors } = await loadPart(import("./ask.ts"));
      return await askVectors(this.#server, ids, this.#dim, signal);
    } catch (error) {
      notes.add(this.#giveUp(error));
      return { mask: new Uint8Array(ids.length), rows: new Float32Array(0) };
    }
  }

  /** The texts of chunks; null for those that the server has not got. */
  async chunks(
    ids: readonly number[],
    notes: Set<string>,
    signal?: AbortSignal,
  ): Promise<(AwayText | null)[]> {
    try {
      this.#checkAlive();
      const { askChunks } = await loadPart(import("./ask.ts"));
      return await askChunks(this.#server, ids, signal);
    } catch (error) {
      notes.add(this.#giveUp(error));
      return ids.map(() => null);
    }
  }

  #checkAlive(): void {
    if (this.#clock() < this.#deadUntil) throw new StillAway();
  }

  /** What to tell of a server that gave nothing; throws what is another matter. */
  #giveUp(error: unknown): string {
    if (error instanceof StillAway) return this.#why;
    if (!(error instanceof GossamerError) || error.reason === "Cancelled") throw error;
    this.#deadUntil = this.#clock() + DEAD_MS;
    const away = error.reason === "Unreachable" ? `the server at ${this.#server.url} did not answer: ` : "";
    this.#why = `${away}${error.message}; answered from what is here`;
    return this.#why;
  }
}

/** The server did not answer a while ago, and is not asked again yet. */
class StillAway extends Error {}
