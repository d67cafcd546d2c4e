// An index over vectors of the page's own, on the thread that it is made on.

import type { EngineIndex, EngineRequest, EngineSearch, Nearest } from "../core/engine.ts";
import { loadVectorBuilder } from "../core/load.ts";
import type { WasmFiles } from "../core/load.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { VectorTiers } from "../tiers/interface.ts";
import type { CacheReport } from "../tiers/optimise_tiers.ts";
import { checkGiven, checkLinkable, checkNew, checkNumbers } from "./checks.ts";
import type {
  BuildVectorsOptions,
  OpenVectorsOptions,
  OptimiseVectorsOptions,
  SearchVectorsOptions,
  VectorsStatus,
} from "./options.ts";
import { closeState, openState, stateOf, stateToChange, wholeFile } from "./state.ts";
import type { State } from "./state.ts";
import { writeStored } from "./stored.ts";
import { openTarget } from "./target.ts";
import type { OpenedTarget, Target } from "./target.ts";

export class Vectors {
  #state: State;
  #last: Promise<unknown> = Promise.resolve(); // what changes the index, one after the other
  #ids: Set<number> | null = null; // all of them, once they were needed
  #isClosed = false;
  #stored: OpenedTarget["stored"]; // what of storage the index came from, or went to
  readonly #wasm: WasmFiles;
  readonly #options: OpenVectorsOptions;

  private constructor(
    state: State,
    wasm: WasmFiles,
    options: OpenVectorsOptions,
    stored: OpenedTarget["stored"] = null,
  ) {
    this.#state = state;
    this.#stored = stored;
    this.#wasm = wasm;
    this.#options = options;
  }

  static async build(
    vectors: Float32Array,
    dim: number,
    options: BuildVectorsOptions,
    wasm: WasmFiles,
  ): Promise<Vectors> {
    const { keep = "all", codebook, graph = keep === "all" ? "full" : "none", storage, ...rest } = options;
    if (keep === "none" && !codebook) {
      const how = 'give a codebook, or keep: "all"';
      throw new GossamerError("InvalidArgument", `an index that keeps no vectors needs codes: ${how}`);
    }
    const engine = await loadVectorBuilder(wasm);
    const index = engine.build(vectors, dim, { ...rest, keep, graph, ...(codebook ? { pack: codebook } : {}) });
    return new Vectors(stateOf(engine, index), wasm, storage ? { storage } : {});
  }

  static async open(target: Target, options: OpenVectorsOptions, wasm: WasmFiles): Promise<Vectors> {
    const { source, stored } = await openTarget(target, options);
    return new Vectors(await openState(source, options, wasm), wasm, options, stored);
  }

  get dim(): number {
    return this.#state.index.dim;
  }

  /** The nearest of each of the queries, which lie end to end. */
  async search(queries: Float32Array, options: SearchVectorsOptions): Promise<Nearest[]> {
    const { index, tiers, life } = this.#opened();
    const search = index.search(queries, this.#requestOf(options));
    life.retain();
    try {
      if (tiers) await tiers.run(search, options.signal);
      else if (index.keep !== "all") await supply(search, options);
      return Array.from({ length: queries.length / index.dim }, (_, query) => search.nearest(query));
    } finally {
      if (!index.isBroken) search.free();
      life.release();
    }
  }

  /** Adds vectors, which lie end to end, under these ids, or those after the largest; gives the ids. */
  add(vectors: Float32Array, ids?: readonly number[]): Promise<number[]> {
    return this.#change((index) => {
      const known = this.#known();
      const next = known.size === 0 ? 0 : largest(known) + 1;
      const given = ids ?? Array.from({ length: vectors.length / index.dim }, (_, i) => next + i);
      checkLinkable(index);
      checkNumbers(vectors, index.dim);
      checkNew(given, known);
      index.add(given, vectors);
      for (const id of given) known.add(id);
      return [...given];
    });
  }

  /** Takes vectors out. UnknownId changes nothing. */
  remove(ids: readonly number[]): Promise<void> {
    return this.#change((index) => {
      index.nodesOf(ids); // refuses what is not there before anything is changed
      const gone = [...new Set(ids)];
      index.remove(gone);
      for (const id of gone) this.#ids?.delete(id);
    });
  }

  /** Gives the room of removed vectors back. */
  compact(): Promise<void> {
    return this.#change((index) => index.compact());
  }

  /** The bytes of the file. */
  save(): Promise<Uint8Array> {
    return this.#inTurn(() => this.#bytes());
  }

  /** Keeps the index under a name in storage. One with a memory budget goes on from there: vectors beyond the
   * budget leave memory. */
  store(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const { storage, signal: _, ...options } = this.#options;
      const before = this.#stored?.name === name ? this.#stored.file : null;
      const file = await writeStored(name, await this.#bytes(), before, storage);
      this.#stored = { name, file };
      if (options.memoryBudget === undefined) return;
      const { source } = await openTarget({ name }, this.#options);
      await this.#replace(await openState(source, options, this.#wasm));
    });
  }

  async ids(): Promise<number[]> {
    this.#opened();
    return [...this.#known()];
  }

  async setMemoryBudget(bytes: number): Promise<void> {
    this.#tiers().setBudget(bytes);
  }

  async warm(): Promise<void> {
    await this.#tiers().warm();
  }

  /** Finds how little memory does for such queries, and takes it. */
  async optimiseCache(queries: Float32Array, options: OptimiseVectorsOptions): Promise<CacheReport> {
    const { dim } = this.#state.index;
    checkNumbers(queries, dim);
    const rows = Array.from({ length: queries.length / dim }, (_, i) => queries.slice(i * dim, (i + 1) * dim));
    return this.#tiers().optimise(rows, { ...options, request: this.#requestOf(options) });
  }

  async status(): Promise<VectorsStatus> {
    const { engine, index, tiers } = this.#opened();
    const { count, dim, metric, scalar, keep, graph, rowBytes, codeBytes } = index;
    const memory = { kernels: engine.kernels, wasmBytes: engine.memoryBytes(), tiers: tiers?.stats ?? null };
    return { count, dim, metric, scalar, keep, graph, rowBytes, codeBytes, ...memory };
  }

  /** Lets go of its memory, when the searches that are under way are over. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#inTurn(() => {
      this.#isClosed = true;
      return closeState(this.#state);
    });
  }

  #opened(): State {
    if (!this.#isClosed) return this.#state;
    throw new GossamerError("WrongState", "the index was closed; open it again");
  }

  #tiers(): VectorTiers {
    const { tiers } = this.#opened();
    if (tiers) return tiers;
    throw new GossamerError(
      "WrongState",
      "all vectors of this index are in memory: open it from a file or from storage with a memoryBudget",
    );
  }

  #known(): Set<number> {
    this.#ids ??= new Set(this.#opened().index.ids());
    return this.#ids;
  }

  #requestOf(options: SearchVectorsOptions): EngineRequest {
    const { k = 10, recall = 0.9, strategy, effort, filter } = options;
    const allowed = typeof filter === "function" ? [...this.#known()].filter(filter) : filter;
    return {
      k,
      recall,
      ...(strategy === undefined ? {} : { strategy }),
      ...(effort === undefined ? {} : { effort }),
      ...(allowed === undefined ? {} : { allowed }),
    };
  }

  async #bytes(): Promise<Uint8Array> {
    const { index, file } = this.#opened();
    return file ? wholeFile(file) : index.save();
  }

  /** Changes the index by the engine that builds: one that was opened is read into that first. */
  #change<T>(work: (index: EngineIndex) => T): Promise<T> {
    return this.#inTurn(async () => {
      const { file } = this.#opened();
      if (file) await this.#replace(await stateToChange(file, this.#options, this.#wasm));
      return work(this.#state.index);
    });
  }

  async #replace(state: State): Promise<void> {
    const before = this.#state;
    this.#state = state;
    await closeState(before);
  }

  /** Runs what changes the index after what was to change it before. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** Gives a search the vectors that the index does not keep. */
async function supply(search: EngineSearch, { vectorsOf, signal }: SearchVectorsOptions): Promise<void> {
  for (let ids = search.wanted(); ids.length > 0; ids = search.wanted()) {
    throwIfAborted(signal);
    if (!vectorsOf) {
      const how = "give vectorsOf, a function that gives the vectors of ids";
      throw new GossamerError("WrongState", `this index does not keep all of its vectors: ${how}`);
    }
    search.supply(checkGiven(await vectorsOf(ids)));
    throwIfAborted(signal);
  }
}

function largest(ids: Iterable<number>): number {
  let most = -1;
  for (const id of ids) most = Math.max(most, id);
  return most;
}
