// What a worker of vectors does for its page: one index each, the calls of `Vectors` by name.

import type { Nearest } from "../core/engine.ts";
import type { StoredName } from "../options.ts";
import type { CacheReport } from "../tiers/optimise_tiers.ts";
import type { Wire } from "../worker/messages.ts";
import type {
  BuildVectorsOptions,
  OpenVectorsOptions,
  OptimiseVectorsOptions,
  SearchVectorsOptions,
  VectorsStatus,
} from "./options.ts";

/** What an index does, on this thread or in a worker. */
export interface VectorCalls {
  search: { args: [queries: Float32Array, options: SearchVectorsOptions]; value: Nearest[] };
  add: { args: [vectors: Float32Array, ids?: readonly number[]]; value: number[] };
  remove: { args: [ids: readonly number[]]; value: void };
  compact: { args: []; value: void };
  ids: { args: []; value: number[] };
  save: { args: []; value: Uint8Array };
  store: { args: [name: string]; value: void };
  setMemoryBudget: { args: [bytes: number]; value: void };
  warm: { args: []; value: void };
  optimiseCache: { args: [queries: Float32Array, options: OptimiseVectorsOptions]; value: CacheReport };
  status: { args: []; value: VectorsStatus };
  close: { args: []; value: void };
}

/** The same as methods. */
export type VectorMethods = {
  [Name in keyof VectorCalls]: (...args: VectorCalls[Name]["args"]) => Promise<VectorCalls[Name]["value"]>;
};

/** Where an index comes from, as it travels: an address, the bytes of a file, a name in storage. */
export type SentTarget = string | Blob | Uint8Array | StoredName;

/** The calls of the worker: its index is made by one of the first two, which give its dimension. */
export interface WorkerCalls extends VectorCalls {
  build: { args: [vectors: Float32Array, dim: number, options: BuildVectorsOptions]; value: number };
  open: { args: [target: SentTarget, options: Wire<OpenVectorsOptions>]; value: number };
}

/** Whether an argument of a call is its options. */
export function isOptions(value: unknown): value is object {
  return Object.getPrototypeOf(value ?? 0) === Object.prototype;
}

export const METHODS = [
  ...(["search", "add", "remove", "compact", "ids", "save", "store"] as const),
  ...(["setMemoryBudget", "warm", "optimiseCache", "status", "close"] as const),
] as const satisfies readonly (keyof VectorCalls)[];
