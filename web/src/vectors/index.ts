// gossamer-web/vectors: the engine for vectors that a page brings. See README.md.

import { workFolder } from "../bytes/disk.ts";
import type { Nearest } from "../core/engine.ts";
import { GossamerError } from "../errors.ts";
import type { CacheReport } from "../tiers/optimise_tiers.ts";
import type { VectorMethods } from "./calls.ts";
import { checkOptions } from "./checks.ts";
import { buildInWorker, openInWorker } from "./distant.ts";
import type { MadeVectors, WorkerPlace } from "./distant.ts";
import type {
  BuildVectorsOptions,
  OpenVectorsOptions,
  OptimiseVectorsOptions,
  SearchVectorsOptions,
  StorageKind,
  VectorsStatus,
  VectorsTarget,
} from "./options.ts";
import { removeStored, storedNames } from "./stored.ts";
import type { Target } from "./target.ts";
import { Vectors } from "./vectors.ts";
import { placesOf, vectorWasm } from "./wasm.ts";

export { GossamerError } from "../errors.ts";
export type { Reason } from "../errors.ts";
export type { Effort, Nearest, Strategy } from "../core/engine.ts";
export type { StoredName } from "../options.ts";
export type { EvictionName } from "../records.ts";
export type { CacheReport } from "../tiers/optimise_tiers.ts";
export type { TierStats, TierUse } from "../tiers/stats.ts";
export type {
  BuildVectorsOptions,
  OpenVectorsOptions,
  OptimiseVectorsOptions,
  SearchVectorsOptions,
  StorageKind,
  VectorsOf,
  VectorsStatus,
  VectorsTarget,
} from "./options.ts";

const PLACE = ["worker", "wasm", "storage", "codebook"];
const BUILT = [...PLACE, "ids", "metric", "scalar", "keep", "graph", "maxDegree", "effort"];
const OPENED = [...PLACE, "memoryBudget", "eviction", "warm", "signal"];
const ASKED = ["k", "recall", "effort", "strategy", "signal"];

/** One vector. */
export type Vector = Float32Array | readonly number[];
/** Many: a row each, or the rows end to end. */
export type Matrix = Float32Array | readonly Vector[];

/** An index over vectors of your own. */
export class VectorIndex {
  /** How many numbers a vector has. */
  readonly dim: number;
  readonly #vectors: VectorMethods;

  private constructor({ dim, methods }: MadeVectors) {
    this.dim = dim;
    this.#vectors = methods;
  }

  /** Makes an index in memory. */
  static async build(vectors: Matrix, dim: number, options: BuildVectorsOptions = {}): Promise<VectorIndex> {
    checkOptions("build", options, BUILT);
    const { wasm, worker, ...rest } = options;
    const rows = copied(vectors, dim);
    const place = placeOf(worker, wasm);
    if (place) return new VectorIndex(await buildInWorker(place, rows, dim, rest));
    return new VectorIndex(here(await Vectors.build(rows, dim, rest, vectorWasm(placesOf(folderOf(wasm))))));
  }

  /** Opens the file of an index, also one that Python wrote: an address (with "://", or beginning with "/"
   * or "."), a `Blob` or bytes, or the name of one in storage; `{ name }` is a name, whatever it looks like. */
  static async open(target: VectorsTarget, options: OpenVectorsOptions = {}): Promise<VectorIndex> {
    checkOptions("open", options, OPENED);
    const { wasm, worker, ...rest } = options;
    const from = targetOf(target);
    const place = placeOf(worker, wasm);
    if (place) return new VectorIndex(await openInWorker(place, from, rest));
    return new VectorIndex(here(await Vectors.open(from, rest, vectorWasm(placesOf(folderOf(wasm))))));
  }

  /** The names in this browser's storage. */
  static names(storage?: StorageKind): Promise<string[]> {
    return storedNames(storage);
  }

  /** Deletes what is stored under a name; nothing if there is none. */
  static removeStored(name: string, storage?: StorageKind): Promise<void> {
    return removeStored(name, storage);
  }

  /** The nearest to a vector, nearest first; for a list of vectors, those of each. */
  search(query: Vector, options?: SearchVectorsOptions): Promise<Nearest>;
  search(queries: readonly Vector[], options?: SearchVectorsOptions): Promise<Nearest[]>;
  async search(given: Vector | readonly Vector[], options: SearchVectorsOptions = {}): Promise<Nearest | Nearest[]> {
    checkOptions("search", options, [...ASKED, "filter", "vectorsOf"]);
    if (!isRows(given)) {
      const query = flat(given as Vector, this.dim);
      if (query.length !== this.dim) throw severalQueries(query.length, this.dim);
      return (await this.#vectors.search(query, options))[0] as Nearest;
    }
    return given.length === 0 ? [] : this.#vectors.search(flat(given, this.dim), options);
  }

  /** Adds vectors and gives their ids: those given, else the numbers after the largest one. */
  async add(vectors: Matrix, ids?: readonly number[]): Promise<number[]> {
    return this.#vectors.add(copied(vectors, this.dim), ids && [...ids]);
  }

  /** Takes vectors out: they are never found again, and their ids can be used anew. */
  remove(ids: readonly number[]): Promise<void> {
    return this.#vectors.remove(ids);
  }

  /** Gives the room of removed vectors back, in memory and in the file. */
  compact(): Promise<void> {
    return this.#vectors.compact();
  }

  /** All ids. */
  ids(): Promise<number[]> {
    return this.#vectors.ids();
  }

  /** The index as one file, which `open` and Python's `VectorIndex.open` read. */
  async save(): Promise<Blob> {
    return new Blob([(await this.#vectors.save()) as Uint8Array<ArrayBuffer>]);
  }

  /** Keeps the index under a name in the browser's storage, all or nothing. */
  store(name: string): Promise<void> {
    return this.#vectors.store(name);
  }

  /** How many bytes of vectors may be in memory; those over it go. */
  setMemoryBudget(bytes: number): Promise<void> {
    return this.#vectors.setMemoryBudget(bytes);
  }

  /** Reads vectors into memory before they are asked for, as far as the budget goes. */
  warm(): Promise<void> {
    return this.#vectors.warm();
  }

  /** Finds how little memory keeps searches like these as fast as asked, and keeps to it. */
  async optimiseCache(queries: Matrix, options: OptimiseVectorsOptions): Promise<CacheReport> {
    checkOptions("optimiseCache", options ?? {}, ["share", "accessMs", ...ASKED]);
    return this.#vectors.optimiseCache(flat(queries, this.dim), options ?? {});
  }

  /** What the index is and takes. */
  status(): Promise<VectorsStatus> {
    return this.#vectors.status();
  }

  /** Lets go of its memory; what is stored stays. */
  close(): Promise<void> {
    return this.#vectors.close();
  }
}

/** An index on this thread. */
function here(vectors: Vectors): MadeVectors {
  return { dim: vectors.dim, methods: vectors };
}

function isRows(given: Vector | readonly Vector[]): given is readonly Vector[] {
  return Array.isArray(given) && typeof given[0] !== "number";
}

/** Vectors end to end. WrongDimension. */
function flat(given: Matrix | Vector, dim: number): Float32Array {
  if (given instanceof Float32Array) return given;
  if (!Array.isArray(given)) {
    throw new GossamerError("InvalidArgument", `vectors are a Float32Array or arrays of numbers, got ${kindOf(given)}`);
  }
  if (!isRows(given as Vector | readonly Vector[])) return Float32Array.from(given as number[]);
  const rows = given as readonly Vector[];
  const vectors = new Float32Array(rows.length * dim);
  for (const [i, row] of rows.entries()) {
    if (row?.length !== dim) {
      const got = row?.length ?? kindOf(row);
      throw new GossamerError("WrongDimension", `expected vectors of ${dim} dimensions, vector ${i} has ${got}`);
    }
    vectors.set(row, i * dim);
  }
  return vectors;
}

/** The same, of which nothing is the caller's: what it writes there later changes nothing. */
function copied(given: Matrix, dim: number): Float32Array {
  const vectors = flat(given, dim);
  return vectors === given ? vectors.slice() : vectors;
}

function severalQueries(numbers: number, dim: number): GossamerError {
  const how = "for several queries give a list of vectors";
  return new GossamerError("WrongDimension", `expected a vector of ${dim} dimensions, got ${numbers} numbers; ${how}`);
}

function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

function targetOf(target: VectorsTarget): Target {
  if (typeof target !== "string") {
    if (target instanceof ArrayBuffer) return new Uint8Array(target);
    if (target instanceof URL || target instanceof Blob || target instanceof Uint8Array) return target;
    if (typeof target?.name === "string") return target;
    throw new GossamerError("InvalidArgument", `an address, bytes or a name was expected, got ${kindOf(target)}`);
  }
  return target.includes("://") || /^[./]/.test(target) ? addressOf(target) : { name: target };
}

/** Where the worker is that is asked for; null for none. */
function placeOf(worker: boolean | URL | string | undefined, wasm: URL | string | undefined): WorkerPlace | null {
  if (worker === undefined || worker === false) return null;
  return { address: worker === true ? null : addressOf(worker).href, wasm: folderOf(wasm) };
}

function folderOf(wasm: URL | string | undefined): string | null {
  return wasm === undefined ? null : addressOf(wasm).href.replace(/\/?$/, "/");
}

/** An address as the page means it; where there is no page, from the folder that this runs in. */
function addressOf(url: string | URL): URL {
  const page = typeof document === "undefined" ? globalThis.location?.href : document.baseURI;
  try {
    return new URL(url, page ?? workFolder() ?? undefined);
  } catch {
    throw new GossamerError("InvalidArgument", `an address was expected, got ${JSON.stringify(String(url))}`);
  }
}
