// Vectors of chunks for a search: from memory, embedded again from their texts, or asked of the server.
// Those that are stored come through tiers/ instead. The twin of python/gossamer/query/supply.py.

import { roundToHalf } from "../bytes/half.ts";
import type { EngineSearch } from "../core/engine.ts";
import type { Embedder } from "../embed/embedder.ts";
import { throwIfAborted } from "../errors.ts";
import type { Passages } from "./passages.ts";
import type { VectorCache } from "./vector_cache.ts";

/** How many vectors came from where in one search. */
export interface SupplyCounts {
  embedded: number;
  cached: number;
  read: number;
  asked: number;
  outOfReach: number; // that only a server has which did not answer
}

/** Asks a server: `mask` says which it gave (1), `rows` are those, end to end. */
export type AskVectors = (
  ids: readonly number[],
  signal?: AbortSignal,
) => Promise<{ mask: Uint8Array; rows: Float32Array }>;

export interface Suppliers {
  readonly dim: number;
  readonly cache: VectorCache;
  readonly passages: Passages;
  readonly embedder: (() => Promise<Embedder>) | null; // null: nothing is computed here
  readonly ask: AskVectors | null;
}

// Texts that are embedded at one time: between them a search can be aborted.
const BATCH = 64;
// Of what a round wants: if more cannot be had, a search would go on for what happens to be at hand.
const MUCH = 0.5;

/** Supplies a search until nothing is wanted, or until too much is out of reach. */
export async function supplyAll(
  search: EngineSearch,
  suppliers: Suppliers,
  counts: SupplyCounts,
  signal?: AbortSignal,
): Promise<void> {
  for (let ids = search.wanted(); ids.length > 0; ids = search.wanted()) {
    throwIfAborted(signal);
    const round = new Round(ids, suppliers);
    counts.cached += round.takeCached();
    if (suppliers.ask) counts.asked += await round.ask(suppliers.ask, signal);
    if (suppliers.embedder) counts.embedded += await round.embed(suppliers.embedder, signal);
    const outOfReach = suppliers.embedder ? 0 : round.missingCount;
    counts.outOfReach += outOfReach;
    if (outOfReach > MUCH * ids.length) return;
    search.supply(round.vectors, round.isMissing);
  }
}

/** What one round wants, and what of it is there. */
class Round {
  readonly vectors: Float32Array;
  readonly isMissing: Uint8Array;
  readonly #ids: readonly number[];
  readonly #isGone: readonly boolean[]; // removed: nobody has a vector of it, and the walk goes on
  readonly #suppliers: Suppliers;

  constructor(ids: readonly number[], suppliers: Suppliers) {
    this.#ids = ids;
    this.#isGone = ids.map((id) => !suppliers.passages.has(id));
    this.#suppliers = suppliers;
    this.vectors = new Float32Array(ids.length * suppliers.dim);
    this.isMissing = new Uint8Array(ids.length).fill(1);
  }

  /** How many are missing of those that can be had. */
  get missingCount(): number {
    return this.#missing().length;
  }

  takeCached(): number {
    let taken = 0;
    this.#ids.forEach((id, place) => {
      const vector = this.#suppliers.cache.get(id);
      if (!vector) return;
      this.#set(place, vector);
      taken += 1;
    });
    return taken;
  }

  /** Asks the server for what is missing; a row that is no vector was not given. */
  async ask(ask: AskVectors, signal?: AbortSignal): Promise<number> {
    const places = this.#missing();
    if (places.length === 0) return 0;
    const { dim } = this.#suppliers;
    const { mask, rows } = await ask(places.map((place) => this.#ids[place] ?? 0), signal);
    let row = 0;
    places.forEach((place, i) => {
      if (mask[i] !== 1) return;
      const vector = roundToHalf(rows.slice(row * dim, (row + 1) * dim));
      row += 1;
      if (vector.length === dim && vector.every(Number.isFinite)) this.#keep(place, vector);
    });
    return places.length - this.#missing().length;
  }

  /** Embeds what is missing from its text; what has none stays missing. */
  async embed(load: () => Promise<Embedder>, signal?: AbortSignal): Promise<number> {
    const places = this.#missing();
    if (places.length === 0) return 0;
    const { passages, dim } = this.#suppliers;
    const ids = places.map((place) => this.#ids[place] ?? 0);
    const [embedder, found] = await Promise.all([load(), passages.read(ids, false, signal)]);
    const texts = found.flatMap((passage, i) => (passage ? [{ place: places[i] ?? 0, passage }] : []));
    for (let first = 0; first < texts.length; first += BATCH) {
      throwIfAborted(signal);
      const some = texts.slice(first, first + BATCH);
      const rows = await embedder.embed(some.map(({ passage }) => passage.embedded), signal);
      some.forEach(({ place }, i) => {
        this.#keep(place, roundToHalf(rows.slice(i * dim, (i + 1) * dim)));
      });
    }
    return texts.length;
  }

  #missing(): number[] {
    const isWanted = (place: number) => this.isMissing[place] === 1 && !this.#isGone[place];
    return this.#ids.flatMap((_, place) => (isWanted(place) ? [place] : []));
  }

  #keep(place: number, vector: Float32Array): void {
    this.#suppliers.cache.put(this.#ids[place] ?? 0, vector);
    this.#set(place, vector);
  }

  #set(place: number, vector: Float32Array): void {
    this.vectors.set(vector, place * this.#suppliers.dim);
    this.isMissing[place] = 0;
  }
}
