// What a page and its worker say to each other. Everything is plain data that survives structured
// cloning; errors travel as reason and message.

import type { Reason } from "../errors.ts";
import type {
  BuildOptions,
  FollowOptions,
  OpenOptions,
  OptimiseOptions,
  PickedFile,
  StoredName,
} from "../options.ts";
import type { CacheReport } from "../query/cache_report.ts";
import type { ChunkContext, IndexStatus, Progress, Results, SearchOptions, SimilarOptions } from "../records.ts";
import type { PullReport, PullWish } from "../sync/follow.ts";
import type { ChangeReport } from "../update/change.ts";
import type { TextInput } from "../update/inputs.ts";

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
  similar: { args: [handle: number, id: number, options: Wire<SimilarOptions>]; value: Results };
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

/** Calls of a worker, by name: arguments and answer of each. */
export type CallTable<Table> = {
  readonly [Name in keyof Table]: { readonly args: readonly unknown[]; readonly value: unknown };
};

/** Where the files of the package are. */
export interface Places {
  readonly wasm: string | null; // folder of the Wasm files; as the others without it
  readonly files: Readonly<Record<string, string>>; // addresses by name; beside the worker without one
}

/** From the page to the worker. */
export type Request =
  | ({ readonly kind: "setup"; readonly lock: string } & Places)
  | CallRequest
  | { readonly kind: "abort"; readonly id: number }
  | ({ readonly kind: "texts"; readonly id: number } & TextBatch);

/** Texts that the worker asked for. */
export interface TextBatch {
  readonly texts: readonly TextInput[];
  readonly isLast: boolean;
}

export interface CallRequest {
  readonly kind: "call";
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** From the worker to the page. */
export type Answer =
  | { readonly kind: "ready"; readonly holdsLock: boolean; readonly build: string }
  | { readonly kind: "value"; readonly id: number; readonly value: unknown }
  | { readonly kind: "error"; readonly id: number; readonly reason: Reason; readonly message: string }
  | { readonly kind: "progress"; readonly id: number; readonly progress: Progress }
  | { readonly kind: "more"; readonly id: number }; // texts are wanted

/** What both ends need of a worker or a port. */
export interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
}
