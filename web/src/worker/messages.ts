// What a page and its worker say to each other. Everything is plain data that survives structured
// cloning; errors travel as reason and message.

import type { Reason } from "../errors.ts";
import type {
  EvictionName,
  IndexStatus,
  Progress,
  Results,
  SearchOptions,
  VectorSource,
} from "../records.ts";
import type { PullReport, PullWish } from "../sync/follow.ts";
import type { CacheReport as TierReport } from "../tiers/optimise_tiers.ts";
import type { ChangeReport } from "../update/change.ts";
import type { TextInput } from "../update/inputs.ts";

export type { PullReport, PullWish } from "../sync/follow.ts";
export type { ChangeReport, FailedSource } from "../update/change.ts";
export type { TextInput } from "../update/inputs.ts";

/** A file that the user picked, with the path it is to be found under. */
export interface PickedFile {
  readonly file: Blob;
  readonly path: string;
  readonly mtime: number; // milliseconds
}

/** Where a server is, and what it lets in. */
export interface ServerAddress {
  readonly url: string;
  readonly token?: string;
}

/** An index in storage, by a name that may look like an address. */
export interface StoredName {
  readonly name: string;
}

/** An encoder that runs in onnxruntime-web, by the addresses that the page serves it at. */
export interface EncoderFiles {
  readonly runtime: string; // the module of onnxruntime-web
  readonly wasmPaths?: string; // folder of its .wasm files; that of the module without it
  readonly folder: string; // of the model: model.onnx, vocab.txt, gossamer-model.json
}

export interface OpenOptions {
  readonly name?: string; // what the index is kept under in storage; one made from the address without it
  readonly model?: string | URL; // model file; else looked for beside the index, else asked of the server
  readonly encoder?: EncoderFiles; // instead of a model file
  readonly vectors?: VectorSource; // what suits the index without it
  readonly memoryBudget?: number; // bytes for vectors in memory; 32 MiB
  readonly eviction?: EvictionName | (string & {}) | URL; // "lru"; or the address of a module: see README
  readonly warm?: boolean; // reads vectors into memory at once, as far as the budget goes; false
  readonly optimise?: OptimiseOptions; // how optimiseCache is called once there were questions
  readonly server?: ServerAddress; // what is not in the file is asked there
  readonly keepLocal?: boolean; // whether what was fetched is kept in storage; true
  readonly signal?: AbortSignal;
}

/** How a server is followed; what is left out is as it was chosen before, or the usual. */
export interface FollowOptions
  extends Pick<OpenOptions, "model" | "encoder" | "vectors" | "memoryBudget" | "eviction"> {
  readonly token?: string; // of the server; kept in storage, in clear, for the next pull
  readonly keepsToken?: boolean; // false: the token is not kept, and each pull is given it; true
  readonly mode?: string; // "codes" (the usual), "slim", "slim:int8", "slim:f16:8": docs/edge.md
  readonly texts?: "kept" | "away"; // "kept" is the usual; away, texts of hits are asked of the server
}

export interface BuildOptions {
  readonly model?: string | URL; // model file; pocket.model.gossamer beside worker.js without it
  readonly chunkTokens?: number; // all that the model takes without it
}

/** What storage may cost from now on; see README. At least one of `share` and `accessMs`. */
export interface OptimiseOptions {
  readonly questions?: readonly string[]; // to measure with; the latest ones without them
  readonly share?: number; // of the time of a search (WebANNS' p)
  readonly accessMs?: number; // milliseconds of each search (WebANNS' T)
}

/** What the optimiser of the cache tried, what it saves, and what Wasm memory there was and is. */
export interface CacheReport extends TierReport {
  readonly wasmBytesBefore: number;
  readonly wasmBytesAfter: number;
}

/** A chunk with the text around it. */
export interface ChunkContext {
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

export interface StorageStatus {
  readonly kind: "opfs" | "indexeddb" | "memory"; // memory goes with the page
  readonly used: number;
  readonly quota: number;
  readonly isPersistent: boolean;
  readonly notes: readonly string[]; // what to tell the user
}

export interface OpenedIndex {
  readonly handle: number; // by which calls name the index
  readonly name: string; // in storage; "" where it is not kept
}

export interface BuiltIndex extends OpenedIndex {
  readonly report: ChangeReport;
}

export interface FollowedIndex extends OpenedIndex {
  readonly report: PullReport; // of the first pull
}

/** What may travel of options: no signals, no functions. */
export type Wire<T> = Omit<T, "signal">;

/** What the worker does: arguments and answer of each call. */
export interface Calls {
  open: { args: [target: string | Blob | StoredName, options: Wire<OpenOptions>]; value: OpenedIndex };
  build: { args: [name: string | null, options: BuildOptions]; value: BuiltIndex };
  follow: { args: [name: string, url: string, options: FollowOptions]; value: FollowedIndex };
  pull: { args: [handle: number, wish: PullWish]; value: PullReport };
  names: { args: []; value: string[] };
  removeIndex: { args: [name: string]; value: null };
  storage: { args: []; value: StorageStatus };
  persist: { args: []; value: boolean };
  search: { args: [handle: number, question: string, options: Wire<SearchOptions>]; value: Results };
  similar: { args: [handle: number, id: number, options: Wire<SearchOptions>]; value: Results };
  add: { args: [handle: number]; value: ChangeReport }; // the texts come as they are asked for
  addFiles: { args: [handle: number, files: readonly PickedFile[]]; value: ChangeReport };
  remove: { args: [handle: number, sources: readonly string[]]; value: ChangeReport };
  exportFile: { args: [handle: number]; value: Blob };
  status: { args: [handle: number]; value: IndexStatus };
  setMemoryBudget: { args: [handle: number, bytes: number]; value: null };
  optimiseCache: { args: [handle: number, options: OptimiseOptions]; value: CacheReport };
  context: { args: [handle: number, id: number, margin: number]; value: ChunkContext };
  titles: { args: [handle: number, most: number]; value: string[] };
  close: { args: [handle: number]; value: null };
}

export type CallName = keyof Calls;

/** From the page to the worker. */
export type Request =
  | { readonly kind: "setup"; readonly wasm: string | null; readonly lock: string }
  | CallRequest
  | { readonly kind: "abort"; readonly id: number }
  | ({ readonly kind: "texts"; readonly id: number } & TextBatch);

/** Texts that the worker asked for. */
export interface TextBatch {
  readonly texts: readonly TextInput[];
  readonly isLast: boolean;
}

export type CallRequest<Name extends CallName = CallName> = {
  [N in Name]: {
    readonly kind: "call";
    readonly id: number;
    readonly name: N;
    readonly args: Calls[N]["args"];
  };
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
