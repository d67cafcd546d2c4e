// What gossamer.wasm does, as TypeScript sees it. `loadEngine` (load.ts) gives it.

import type { Collection } from "./query.ts";
import type { CatalogueOrigin } from "./sources.ts";

/** Numbers of core/search/effort.h. */
export type Strategy = "auto" | "scan" | "walk" | "two-level" | "best-first" | "lazy" | "exact";

export interface Effort {
  readonly rerank?: number;
  readonly margin?: number;
  readonly beam?: number;
  readonly ratio?: number;
  readonly batch?: number;
}

export interface EngineRequest {
  readonly k: number;
  readonly recall: number;
  readonly strategy?: Strategy;
  readonly effort?: Effort; // instead of recall
  readonly allowed?: readonly number[]; // ids that may be returned; all without it
}

export interface Nearest {
  readonly ids: number[];
  readonly distances: number[];
}

export interface SearchCounters {
  readonly rounds: number;
  readonly vectorsAsked: number;
  readonly distances: number;
  readonly codesTouched: number;
  readonly hops: number;
}

/** A search under way: supply what is wanted until nothing is, then take the nearest. */
export interface EngineSearch {
  readonly strategy: Strategy;
  /** Ids whose vectors must be supplied next; empty once the search is over. */
  wanted(): number[];
  /** The nodes of wanted(), rising: where their rows stand among all vectors of the file. */
  wantedNodes(): Uint32Array;
  /** Vectors of wanted(), end to end; `missing` (1 for missing) where some cannot be had. */
  supply(vectors: Float32Array, missing?: Uint8Array): void;
  /** The same with rows as the file keeps them (rowBytes each), of those wanted nodes whose rows are
   * not in memory (have not been place()d meanwhile), in the order of wantedNodes(). */
  supplyRows(rows: Uint8Array, missing?: Uint8Array): void;
  /** The nearest of one of the queries: the first without a number. */
  nearest(query?: number): Nearest;
  counters(): SearchCounters;
  free(): void;
}

/** The parts of an engine file that are in memory. */
export interface EngineParts {
  readonly head: Uint8Array; // header and table of sections
  readonly fileSize: number;
  readonly sections: ReadonlyMap<number, Uint8Array>; // by kind; without vectors if they stay outside
}

export interface OpenEngineOptions {
  readonly pack?: Uint8Array; // model pack: codebook and calibration for an index saved without them
  readonly residentBytes?: number; // vectors stay outside: so many bytes of rows may be in memory
}

export interface EngineIndex {
  readonly dim: number;
  readonly metric: "ip" | "cosine" | "l2";
  readonly scalar: "f32" | "f16" | "int8";
  readonly keep: "none" | "hot" | "all";
  readonly graph: "none" | "full" | "hub" | "slim";
  readonly count: number; // vectors that can be found
  readonly nodeCount: number;
  readonly rowBytes: number;
  readonly codeBytes: number; // 0 without codes
  readonly isDetached: boolean; // vectors stay outside
  readonly isBroken: boolean; // every call fails from now on: open the index again
  readonly handle: number; // its address, for sessions in the same memory
  /** A search of a session, by its address. */
  searchAt(address: number): EngineSearch;
  /** One or many queries end to end, searched side by side: a vector that several want is asked for once. */
  search(queries: Float32Array, request: EngineRequest): EngineSearch;
  /** Ids in the order of nodes; those of deleted nodes left out. */
  ids(): number[];
  /** The node of each id: where its row stands in the file. UnknownId. */
  nodesOf(ids: readonly number[]): Uint32Array;
  verify(): void;
  free(): void;

  // Rows in memory while vectors stay outside; see tiers/.
  readonly resident: ResidentRows | null;

  // Only in the engine that builds (loadBuilder).
  add(ids: readonly number[], vectors: Float32Array): void;
  addCodes(ids: readonly number[], codes: Uint8Array): void;
  codesOf(ids: readonly number[]): Uint8Array;
  remove(ids: readonly number[]): void;
  /** Leaves nothing of what was removed: not in memory, not in the file. */
  compact(): void;
  applyDelta(delta: Uint8Array): void;
  save(options?: { codebook?: boolean; calibration?: boolean }): Uint8Array;
}

/** A collection with a memory of its own, which an index over the same chunks shares. */
export interface OpenCollection extends Collection {
  openIndex(parts: EngineParts, options?: OpenEngineOptions): EngineIndex;
  readonly isBroken: boolean;
  /** Lets go of the memory, the index included. */
  free(): void;
}

/** Slots in Wasm memory for rows of vectors that are stored elsewhere. */
export interface ResidentRows {
  readonly capacity: number; // slots
  readonly used: number;
  /** The slot of a node; -1 if its row is not in memory. */
  slotOf(node: number): number;
  nodeAt(slot: number): number; // -1 for an empty slot
  /** A view of the slot's bytes, to be written by whoever loads the row, then place()d. Valid until
   * memory grows. */
  bytesOf(slot: number): Uint8Array;
  /** The slot now holds the row of this node; another node's row that was there is forgotten. */
  place(slot: number, node: number): void;
  forget(slot: number): void;
  /** When each slot was last looked at: a counter that rises with each search. */
  stamps(): Uint32Array;
  /** Another number of slots; the rows that stay are kept. */
  resize(capacity: number): void;
  /** Links that lead to a node on the base layer: how much of a hub it is. */
  degreeOf(node: number): number;
  /** The highest layer of the graph that a node is on; 0 for most. */
  levelOf(node: number): number;
}

export interface Engine {
  readonly kernels: "simd" | "relaxed";
  readonly canBuild: boolean;
  /** What a catalogue holds, as questions see it. Not in the engine that builds. */
  openCollection(origin: CatalogueOrigin): OpenCollection;
  open(parts: EngineParts, options?: OpenEngineOptions): EngineIndex;
  /** An index of codes alone that grows by add(); only where canBuild. */
  create(pack: Uint8Array): EngineIndex;
  /** An index over vectors with a graph; only where canBuild. Options are those of docs/vectors.md. */
  build(vectors: Float32Array, dim: number, options: BuildEngineOptions): EngineIndex;
  memoryBytes(): number;
}

export interface BuildEngineOptions {
  readonly pack?: Uint8Array; // codes by this codebook; none without it
  readonly metric?: "ip" | "cosine" | "l2";
  readonly scalar?: "f32" | "f16" | "int8";
  readonly keep?: "none" | "all";
  readonly graph?: "none" | "full" | "slim";
  readonly maxDegree?: number;
  readonly effort?: number;
  readonly ids?: readonly number[];
}
