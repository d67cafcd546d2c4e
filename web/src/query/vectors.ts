// Vectors of chunks for a search: from memory, asked of the server, or embedded again. Those that are
// stored come through tiers/ instead. The same of python/gossamer/query/vectors.py.

import { roundToHalf } from "../bytes/half.ts";
import { NO_TOKENS, SUPPLIED, type TextVectors } from "../core/query.ts";
import type { Embedder } from "../embed/embedder.ts";
import { throwIfAborted } from "../errors.ts";
import type { RemoteChunks } from "../server/remote_chunks.ts";
import type { IndexModel } from "./models.ts";
import type { VectorCache } from "./vector_cache.ts";

export interface VectorOptions {
  readonly dim: number;
  readonly cache: VectorCache;
  readonly model: Pick<IndexModel, "embedder"> | null; // null: nothing is computed here
  readonly server: Pick<RemoteChunks, "vectors"> | null; // has what is not in memory, where nothing is computed
  readonly notes: Set<string>;
  readonly signal?: AbortSignal | undefined;
}

// Texts that are embedded at one time: between them a search can be aborted.
const BATCH = 64;

/** Gets vectors for one search, and counts where they came from. */
export class VectorSource {
  embedded = 0;
  cached = 0;
  asked = 0;
  read = 0; // from storage, or by range

  constructor(private readonly options: VectorOptions) {}

  /** Whether anything is computed here. */
  get embeds(): boolean {
    return this.options.model !== null;
  }

  /** What is at hand of a round; what is to be embedded is asked for with its text. `withTokens`: a vector
   * alone is not enough, so that texts that are here are embedded. */
  async find(
    ids: readonly number[],
    isAway: boolean,
    withTokens: boolean,
  ): Promise<{ states: Uint8Array; rows: Float32Array }> {
    const { dim, cache, model, server } = this.options;
    const rows = new Float32Array(ids.length * dim);
    const states = new Uint8Array(ids.length).fill(SUPPLIED.embed);
    if (model && withTokens && !isAway) return { states, rows };
    ids.forEach((id, place) => {
      const vector = cache.get(id);
      if (!vector) return;
      rows.set(vector, place * dim);
      states[place] = SUPPLIED.given;
      this.cached += 1;
    });
    if (model && !isAway) return { states, rows };
    if (server) await this.#ask(server, ids, states, rows);
    return { states: states.map((state) => (state === SUPPLIED.embed ? SUPPLIED.outOfReach : state)), rows };
  }

  /** The vectors of chunks by their texts, with those of tokens if they are wanted. */
  async embed(ids: readonly number[], texts: readonly string[], withTokens: boolean): Promise<TextVectors> {
    const { dim, cache, model, signal } = this.options;
    if (!model) return { rows: new Float32Array(ids.length * dim), ...NO_TOKENS };
    const embedder = await model.embedder();
    const made = withTokens ? await embedder.embedTokens?.(texts, signal) : undefined;
    const rows = roundToHalf(made?.rows.slice() ?? (await this.#embedRows(embedder, texts)));
    ids.forEach((id, place) => cache.put(id, rows.slice(place * dim, (place + 1) * dim)));
    this.embedded += ids.length;
    return { ...(made ?? NO_TOKENS), rows };
  }

  async #embedRows(embedder: Embedder, texts: readonly string[]): Promise<Float32Array> {
    const { dim, signal } = this.options;
    const rows = new Float32Array(texts.length * dim);
    for (let first = 0; first < texts.length; first += BATCH) {
      throwIfAborted(signal);
      rows.set(await embedder.embed(texts.slice(first, first + BATCH), signal), first * dim);
    }
    return rows;
  }

  /** Asks the server for what is not there; a row that is no vector was not given. */
  async #ask(
    server: Pick<RemoteChunks, "vectors">,
    ids: readonly number[],
    states: Uint8Array,
    rows: Float32Array,
  ): Promise<void> {
    const { dim, notes, signal } = this.options;
    const places = [...ids.keys()].filter((place) => states[place] !== SUPPLIED.given);
    if (places.length === 0) return;
    const wanted = places.map((place) => ids[place] as number);
    const { mask, rows: given } = await server.vectors(wanted, notes, signal);
    let row = 0;
    places.forEach((place, i) => {
      if (mask[i] !== 1) return;
      const vector = roundToHalf(given.slice(row * dim, (row + 1) * dim));
      row += 1;
      if (vector.length !== dim || !vector.every(Number.isFinite)) return;
      rows.set(vector, place * dim);
      states[place] = SUPPLIED.given;
      this.options.cache.put(wanted[i] as number, vector);
      this.asked += 1;
    });
  }
}
