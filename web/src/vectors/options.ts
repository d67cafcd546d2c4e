// What a page may choose for vectors of its own, and what it gets.

import type { BuildEngineOptions, Effort, EngineIndex, Nearest, Strategy } from "../core/engine.ts";
import type { StoredName } from "../options.ts";
import type { EvictionName } from "../records.ts";
import type { CacheTarget } from "../tiers/optimiser.ts";
import type { TierStats } from "../tiers/stats.ts";

export type { Nearest };

/** Where an index is searched and changed, and where its Wasm comes from. */
export interface PlaceOptions {
  readonly worker?: boolean | URL | string; // true: in a worker of its own; or the address of vectors-worker.js; false
  readonly wasm?: URL | string; // folder of the Wasm files; beside this module without it
}

/** Where names are kept: the best there is without it. */
export type StorageKind = "opfs" | "indexeddb";

export interface BuildVectorsOptions extends PlaceOptions {
  readonly storage?: StorageKind; // for `store`
  readonly ids?: readonly number[]; // one for each vector; 0, 1, 2, … without them
  readonly metric?: EngineIndex["metric"]; // "ip" (−q·x), "cosine" (1 − cosine), "l2" (squared); "ip"
  readonly scalar?: EngineIndex["scalar"]; // what vectors are kept as; "f16"
  readonly keep?: "all" | "none"; // "none" keeps codes alone: searches then need `vectorsOf`; "all"
  readonly graph?: NonNullable<BuildEngineOptions["graph"]>; // "full" where vectors are kept, else "none"
  readonly codebook?: Uint8Array; // adds codes: bytes that Python's `pack_codebook` gives; no codes without it
  readonly maxDegree?: number; // links a node selects (M); 30
  readonly effort?: number; // width of the beam while building (efConstruction); 128
}

export interface OpenVectorsOptions extends PlaceOptions {
  readonly storage?: StorageKind; // for names
  readonly memoryBudget?: number; // bytes of vectors in memory, the others stay outside; all without it
  readonly eviction?: EvictionName; // which of them go first; "lru"
  readonly warm?: boolean; // reads vectors into memory at once, as far as the budget goes; false
  readonly codebook?: Uint8Array; // of a file that was saved without its own
  readonly signal?: AbortSignal;
}

/** Where vectors come from that an index does not keep: one row for each id, end to end, in that order. */
export type VectorsOf = (ids: readonly number[]) => Float32Array | Promise<Float32Array>;

export interface SearchVectorsOptions {
  readonly k?: number; // 10
  readonly recall?: number; // share of the true nearest to find, on average; 0.9
  readonly effort?: Effort; // work to do instead
  readonly strategy?: Strategy; // "auto"
  readonly filter?: readonly number[] | ((id: number) => boolean); // which ids may be hits
  readonly vectorsOf?: VectorsOf; // for an index that does not keep its vectors
  readonly signal?: AbortSignal;
}

/** How little memory is to be found; at least one of `share` and `accessMs`. */
export interface OptimiseVectorsOptions
  extends CacheTarget,
    Pick<SearchVectorsOptions, "k" | "recall" | "effort" | "strategy"> {
  readonly signal?: AbortSignal;
}

/** What an index is and takes. */
export interface VectorsStatus
  extends Pick<EngineIndex, "count" | "dim" | "metric" | "scalar" | "keep" | "graph" | "rowBytes" | "codeBytes"> {
  readonly kernels: "simd" | "relaxed";
  readonly wasmBytes: number; // of Wasm memory
  readonly tiers: TierStats | null; // null where all vectors are in memory
}

/** An address, the bytes of a file, or a name in the browser's storage. */
export type VectorsTarget = string | URL | Blob | ArrayBuffer | Uint8Array | StoredName;
