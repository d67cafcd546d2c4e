// What a page and its worker say to each other. Everything is plain data that survives structured
// cloning; errors travel as reason and message.

import type {
  EvictionName,
  IndexStatus,
  Progress,
  Results,
  SearchOptions,
  Value,
  VectorSource,
} from "../records.ts";
import type { Reason } from "../errors.ts";

/** A text that a page gives, under an id of its own. */
export interface TextInput {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly markup?: string; // "plain" (the usual), "markdown", "rows"
  readonly metadata?: Readonly<Record<string, Value>>;
}

/** A file with the path it is to be found under; its name without one. */
export interface FileInput {
  readonly file: Blob;
  readonly path: string;
}

/** Where a server is, and what it lets in. */
export interface ServerAddress {
  readonly url: string;
  readonly token?: string;
}

/** An encoder that runs in onnxruntime-web: the files of it and of the model, by address. */
export interface EncoderFiles {
  readonly runtime: string; // the module of onnxruntime-web
  readonly model: string; // model.onnx
  readonly vocabulary: string; // vocab.txt
  readonly fingerprint?: string; // of the model; that of the index without it
}

export interface OpenOptions {
  readonly name?: string; // what the index is kept under in storage; one made from the address without it
  readonly model?: string | URL; // model file; else looked for beside the index, else asked of the server
  readonly encoder?: EncoderFiles; // instead of a model file
  readonly vectors?: VectorSource; // what suits the index without it
  readonly memoryBudget?: number; // bytes for vectors in memory; 32 MiB
  readonly eviction?: EvictionName; // "hub"
  readonly server?: ServerAddress; // what is not in the file is asked there
  readonly keepLocal?: boolean; // whether what was fetched is kept in storage; true
  readonly signal?: AbortSignal;
}

export interface BuildOptions {
  readonly model?: string | URL; // model file; pocket.model.gossamer beside the page without it
  readonly chunkTokens?: number; // all that the model takes without it
}

export interface FollowOptions {
  readonly token?: string;
  readonly texts?: "kept" | "away"; // kept
  readonly mode?: string; // "codes" (the usual), "slim", "slim:int8", ...
  readonly model?: string | URL;
}

/** What a change to an index did. */
export interface ChangeReport {
  readonly added: number; // sources
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly chunks: number; // in the index now
  readonly failed: readonly { readonly source: string; readonly reason: string }[];
}

/** What the optimiser of the cache found (see README). */
export interface OptimiseOptions {
  readonly questions?: readonly string[]; // to measure with; the latest ones without them
  readonly share?: number; // of its time that a search may wait for storage: WebANNS' p; 0.8
  readonly latencyMs?: number; // that a search may take: WebANNS' T; 100
}

export interface CacheReport {
  readonly budget: number; // bytes, from now on
  readonly before: number;
  readonly steps: readonly { readonly budget: number; readonly fetches: number; readonly ms: number }[];
}

/** A chunk with the text around it. */
export interface ChunkContext {
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

export interface StorageStatus {
  readonly kind: "opfs" | "indexeddb" | "memory";
  readonly used: number;
  readonly quota: number;
  readonly isPersistent: boolean;
}

export interface OpenedIndex {
  readonly handle: number; // by which calls name the index
  readonly name: string; // in storage; "" where it is not kept
}

/** What may travel of options: no signals, no functions. */
export type Wire<T> = Omit<T, "signal">;

/** What the worker does: arguments and answer of each call. */
export interface Calls {
  open: { args: [target: string | Blob, options: Wire<OpenOptions>]; value: OpenedIndex };
  build: { args: [name: string | null, options: BuildOptions]; value: OpenedIndex };
  follow: { args: [name: string, url: string, options: FollowOptions]; value: OpenedIndex };
  names: { args: []; value: string[] };
  removeIndex: { args: [name: string]; value: null };
  storage: { args: []; value: StorageStatus };
  persist: { args: []; value: boolean };
  search: { args: [handle: number, question: string, options: Wire<SearchOptions>]; value: Results };
  similar: { args: [handle: number, id: number, options: Wire<SearchOptions>]; value: Results };
  add: { args: [handle: number]; value: ChangeReport }; // the texts come as they are asked for
  addFiles: { args: [handle: number, files: readonly FileInput[]]; value: ChangeReport };
  remove: { args: [handle: number, sources: readonly string[]]; value: ChangeReport };
  exportFile: { args: [handle: number]; value: Blob };
  pull: { args: [handle: number]; value: ChangeReport };
  status: { args: [handle: number]; value: IndexStatus };
  setMemoryBudget: { args: [handle: number, bytes: number]; value: null };
  optimiseCache: { args: [handle: number, options: OptimiseOptions]; value: CacheReport };
  context: { args: [handle: number, id: number, margin: number]; value: ChunkContext };
  close: { args: [handle: number]; value: null };
}

export type CallName = keyof Calls;

/** From the page to the worker. */
export type Request =
  | { readonly kind: "setup"; readonly wasm: string | null; readonly lock: string }
  | CallRequest
  | { readonly kind: "abort"; readonly id: number }
  | { readonly kind: "texts"; readonly id: number; readonly texts: readonly TextInput[]; readonly isLast: boolean };

export type CallRequest<Name extends CallName = CallName> = {
  [N in Name]: { readonly kind: "call"; readonly id: number; readonly name: N; readonly args: Calls[N]["args"] };
}[Name];

/** From the worker to the page. */
export type Answer =
  | { readonly kind: "ready"; readonly holdsLock: boolean }
  | { readonly kind: "value"; readonly id: number; readonly value: unknown }
  | { readonly kind: "error"; readonly id: number; readonly reason: Reason; readonly message: string }
  | { readonly kind: "progress"; readonly id: number; readonly progress: Progress }
  | { readonly kind: "more"; readonly id: number }; // texts are wanted

/** What both ends need of a worker or a port. */
export interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
}
