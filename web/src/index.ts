// The package: semantic search inside a page. See README.md.

import { GossamerError } from "./errors.ts";
import { fileAddresses, startWorker } from "./files.ts";
import type {
  BuildOptions,
  EncoderFiles,
  FollowOptions,
  OpenOptions,
  OptimiseOptions,
  PickedFile,
  StoredName,
} from "./options.ts";
import type { CacheReport } from "./query/cache_report.ts";
import type { ChunkContext, Hit, IndexStatus, OnProgress, Results, SearchOptions, SimilarOptions } from "./records.ts";
import type { PullReport, PullWish } from "./sync/follow.ts";
import { watchPulls } from "./sync/watch.ts";
import type { WatchOptions } from "./sync/watch.ts";
import type { ChangeReport } from "./update/change.ts";
import type { TextInput } from "./update/inputs.ts";
import { connect, COPYING } from "./worker/client.ts";
import type { CallExtras, Client, WorkerLike } from "./worker/client.ts";
import type { OpenedIndex, StorageStatus } from "./worker/messages.ts";

export { GossamerError } from "./errors.ts";
export type { Reason } from "./errors.ts";
export type {
  ChunkContext,
  EvictionName,
  Explanation,
  Hit,
  IndexStatus,
  Mode,
  OnProgress,
  Progress,
  Rerank,
  Results,
  SearchOptions,
  SimilarOptions,
  Span,
  Value,
  VectorSource,
} from "./records.ts";
export type {
  BuildOptions,
  EncoderFiles,
  FollowOptions,
  OpenOptions,
  OptimiseOptions,
  PickedFile,
  ServerAddress,
  StoredName,
} from "./options.ts";
export type { CacheReport } from "./query/cache_report.ts";
export type { PullReport, PullWish } from "./sync/follow.ts";
export type { WatchOptions } from "./sync/watch.ts";
export type { ChangeReport, FailedSource } from "./update/change.ts";
export type { TextInput } from "./update/inputs.ts";
export type { StorageStatus } from "./worker/messages.ts";

export interface StartOptions {
  readonly worker?: URL | string | Worker | undefined; // worker.js of this package; beside this module without it
  readonly wasm?: URL | string | undefined; // folder of the Wasm files; beside the worker, or this module, without it
}

/** What a long job takes along. */
export interface JobOptions {
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}

/** Starts the worker that holds all indexes of this page. Unavailable where there are no workers, as in Node. */
export function start({ worker: given, wasm }: StartOptions = {}): Gossamer {
  const isAddress = typeof given === "string" || given instanceof URL;
  const address = isAddress ? absolute(given) : "";
  const worker = typeof given === "object" && !isAddress ? given : openWorker(isAddress ? address : null);
  // A worker at an address has its files beside it; elsewhere they are where a bundler put them.
  const files = isAddress ? {} : fileAddresses();
  const places = { wasm: wasm === undefined ? null : absolute(wasm).replace(/\/?$/, "/"), files };
  return new Gossamer(connect(worker as WorkerLike, places, address));
}

function openWorker(address: string | null): Worker {
  if (typeof Worker === "undefined") {
    const how = "call start() in a browser, where a page is shown and not where a server renders it";
    throw new GossamerError("Unavailable", `there are no web workers here: ${how}`);
  }
  try {
    return address === null ? startWorker() : new Worker(address, { type: "module", name: "gossamer" });
  } catch (error) {
    // Pages may only start workers of their own origin.
    throw new GossamerError("Unreachable", `the worker did not start: ${String(error)}; ${COPYING}`);
  }
}

let own: Gossamer | null = null; // that of indexAt
const indexes = new Map<string, Promise<GossamerIndex>>();

/** The index at an address, opened once and remembered; one worker holds all. Options count the first time. */
export async function indexAt(
  address: string | URL,
  options: StartOptions & OpenOptions = {},
): Promise<GossamerIndex> {
  const url = absolute(address);
  if (own?.hasEnded) {
    own = null;
    indexes.clear();
  }
  const known = indexes.get(url);
  if (known && !(await known).isClosed) return known;
  if (indexes.get(url) !== known) return indexAt(address, options); // somebody opened it meanwhile
  const { worker, wasm, ...rest } = options;
  own ??= start(options);
  const opening = own.open(url, rest);
  indexes.set(url, opening);
  opening.catch(() => indexes.delete(url)); // the next call tries again
  return opening;
}

/** The hits for a question in the index at an address. */
export async function search(
  address: string | URL,
  question: string,
  options: SearchOptions & StartOptions = {},
): Promise<readonly Hit[]> {
  const { worker, wasm, ...asked } = options;
  const index = await indexAt(address, { worker, wasm });
  const { hits, notes } = await index.search(question, asked);
  for (const note of notes) console.warn(`Gossamer: ${note}`);
  return hits;
}

/** A worker with its indexes. */
export class Gossamer {
  readonly #client: Client;

  /** For `start`. */
  constructor(client: Client) {
    this.#client = client;
  }

  /** Opens an index: an address (with "://", or beginning with "/" or "."), a file that the user picked,
   * or the name of one in storage; `{ name }` is a name, whatever it looks like. NoIndex if there is none. */
  async open(target: string | URL | Blob | StoredName, options: OpenOptions = {}): Promise<GossamerIndex> {
    const { signal, ...rest } = options;
    const opened = await this.#client.call("open", [targetOf(target), absoluteOptions(rest)], { signal });
    return new GossamerIndex(this.#client, opened);
  }

  /** Makes an index of texts, in storage under a name, or in memory (null). Nothing leaves the page. */
  async build(
    name: string | null,
    texts: Iterable<TextInput> | AsyncIterable<TextInput>,
    options: BuildOptions & JobOptions = {},
  ): Promise<GossamerIndex> {
    const { signal, onProgress, ...rest } = options;
    const extras = { signal, onProgress, texts };
    const built = await this.#client.call("build", [name, absoluteOptions(rest)], extras);
    return new GossamerIndex(this.#client, built, { built: built.report });
  }

  /** Lets an index in storage follow a server, by packages of what changed, and opens it: a new name, or one
   * that follows this server's index already. Unreachable if the server does not answer: what is there
   * already still opens by its name. */
  async follow(
    name: string,
    url: string | URL,
    options: FollowOptions & JobOptions = {},
  ): Promise<GossamerIndex> {
    if (String(url) === "") {
      throw new GossamerError("InvalidArgument", 'the address of a server was expected, got ""');
    }
    const { signal, onProgress, ...rest } = options;
    const args: [string, string, FollowOptions] = [name, absolute(url), absoluteOptions(rest)];
    const followed = await this.#client.call("follow", args, { signal, onProgress });
    return new GossamerIndex(this.#client, followed, { pulled: followed.report });
  }

  /** The names of the indexes in storage. */
  names(): Promise<string[]> {
    return this.#client.call("names", []);
  }

  /** Deletes an index from storage; nothing if there is none. Locked while another tab changes it. */
  async remove(name: string): Promise<void> {
    await this.#client.call("removeIndex", [name]);
  }

  /** What kind of storage there is, and how full it is. */
  storage(): Promise<StorageStatus> {
    return this.#client.call("storage", []);
  }

  /** Asks the browser not to evict what is stored; says whether it agreed. */
  async persist(): Promise<boolean> {
    // Only a page can ask: some browsers then ask the user.
    const storage = typeof navigator === "undefined" ? undefined : navigator.storage;
    return storage?.persist ? storage.persist() : this.#client.call("persist", []);
  }

  /** Whether the worker is no more: it was closed, or the browser ended it. */
  get hasEnded(): boolean {
    return this.#client.hasEnded;
  }

  /** Ends the worker and with it all indexes; calls that wait fail with WrongState. */
  close(): void {
    this.#client.close();
  }
}

/** An open index. All calls are answered by the worker. */
export class GossamerIndex {
  /** Its name in storage; "" where it is not kept. */
  readonly name: string;
  /** What the pull of `Gossamer.follow` did; null for an index that was opened otherwise. */
  readonly pulled: PullReport | null;
  /** What `Gossamer.build` took in, and which texts it could not; null for an index that was opened. */
  readonly built: ChangeReport | null;
  readonly #client: Client;
  readonly #handle: number;
  #isClosed = false;

  /** For `Gossamer.open`, `build` and `follow`. */
  constructor(client: Client, opened: OpenedIndex, did: { pulled?: PullReport; built?: ChangeReport } = {}) {
    this.#client = client;
    this.#handle = opened.handle;
    this.name = opened.name;
    this.pulled = did.pulled ?? null;
    this.built = did.built ?? null;
  }

  /** The chunks that answer a question best. `mode: "lexical"` needs no vectors and answers at once; in hybrid
   * mode the best of both rankings are read, embedded and ranked again, unless `rerank` is "none". */
  search(question: string, options: SearchOptions = {}): Promise<Results> {
    const { signal, ...rest } = options;
    return this.#client.call("search", [this.#handle, question, rest], { signal });
  }

  /** Chunks like the one with this id, without itself. */
  similar(id: number, options: SimilarOptions = {}): Promise<Results> {
    const { signal, ...rest } = options;
    return this.#client.call("similar", [this.#handle, id, rest], { signal });
  }

  /** A chunk with up to `margin` bytes of the text before and after it. */
  context(id: number, margin = 600): Promise<ChunkContext> {
    return this.#client.call("context", [this.#handle, id, margin]);
  }

  /** Titles of some documents, from all over the index; fewer where some have none. */
  titles(most = 8): Promise<string[]> {
    return this.#client.call("titles", [this.#handle, most]);
  }

  /** Puts texts in under ids of their own; one whose id is there already takes its place. */
  add(
    texts: Iterable<TextInput> | AsyncIterable<TextInput>,
    options: JobOptions = {},
  ): Promise<ChangeReport> {
    return this.#client.call("add", [this.#handle], { ...extrasOf(options), texts });
  }

  /** Puts files in under their paths: those given with them, those of a picked folder, else their names. */
  addFiles(files: Iterable<File | PickedFile>, options: JobOptions = {}): Promise<ChangeReport> {
    const inputs = Array.from(files, (file): PickedFile => {
      if (!(file instanceof File)) return file;
      return { file, path: file.webkitRelativePath || file.name, mtime: file.lastModified };
    });
    return this.#client.call("addFiles", [this.#handle, inputs], extrasOf(options));
  }

  /** Takes out texts by id and files by path; names of nothing are passed over. */
  remove(sources: readonly string[], options: JobOptions = {}): Promise<ChangeReport> {
    return this.#client.call("remove", [this.#handle, [...sources]], extrasOf(options));
  }

  /** Brings an index that follows a server up to date. Unreachable if the server does not answer: the index
   * stays as it was, and what came of a package is kept for the next time. */
  pull(options: PullWish & JobOptions = {}): Promise<PullReport> {
    const { signal, onProgress, ...rest } = options;
    return this.#client.call("pull", [this.#handle, rest], { signal, onProgress });
  }

  /** Pulls again and again, so many milliseconds apart (a second at least), until the signal is aborted. */
  watch(everyMs: number, options: WatchOptions): Promise<void> {
    return watchPulls((signal) => this.pull({ signal }), everyMs, options);
  }

  /** The index as one file, which Python reads (`gossamer import`) and `open` opens. */
  export(): Promise<Blob> {
    return this.#client.call("exportFile", [this.#handle]);
  }

  /** What the index is and takes. */
  status(): Promise<IndexStatus> {
    return this.#client.call("status", [this.#handle]);
  }

  /** How many bytes of vectors may be in memory; those over it go. */
  async setMemoryBudget(bytes: number): Promise<void> {
    await this.#client.call("setMemoryBudget", [this.#handle, bytes]);
  }

  /** Finds how little memory keeps searches as fast as asked, and keeps to it. */
  optimiseCache(options: OptimiseOptions & { signal?: AbortSignal }): Promise<CacheReport> {
    const { signal, ...rest } = options;
    return this.#client.call("optimiseCache", [this.#handle, rest], { signal });
  }

  /** Lets go of its memory; what is in storage stays. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.call("close", [this.#handle]);
  }

  /** Whether it was closed here. */
  get isClosed(): boolean {
    return this.#isClosed;
  }
}

function extrasOf({ signal, onProgress }: JobOptions): CallExtras {
  return { signal, onProgress };
}

function targetOf(target: string | URL | Blob | StoredName): string | Blob | StoredName {
  if (target instanceof URL) return target.href;
  if (target instanceof Blob) return target;
  if (typeof target === "object" && typeof target?.name === "string") return { name: target.name };
  if (typeof target !== "string" || target === "") {
    const got = JSON.stringify(target) ?? typeof target;
    throw new GossamerError("InvalidArgument", `an address, a file or a name was expected, got ${got}`);
  }
  return target.includes("://") || /^[./]/.test(target) ? absolute(target) : target;
}

/** Addresses as the page means them: those of the worker are from elsewhere. */
function absolute(url: string | URL): string {
  const base = typeof document === "undefined" ? globalThis.location?.href : document.baseURI;
  try {
    return new URL(url, base).href;
  } catch {
    throw new GossamerError("InvalidArgument", `an address was expected, got ${JSON.stringify(String(url))}`);
  }
}

function absoluteOptions<T extends Pick<OpenOptions, "model" | "server" | "encoder" | "eviction">>(
  options: T,
): T {
  const { model, server, encoder, eviction } = options;
  return {
    ...options,
    ...(model === undefined ? {} : { model: absolute(model) }),
    ...(server === undefined ? {} : { server: { ...server, url: absolute(server.url) } }),
    ...(encoder === undefined ? {} : { encoder: absoluteEncoder(encoder) }),
    ...(eviction instanceof URL || /^[./]/.test(eviction ?? "") ? { eviction: absolute(eviction ?? "") } : {}),
  };
}

function absoluteEncoder(files: EncoderFiles): EncoderFiles {
  const { runtime, wasmPaths, folder } = files;
  const paths = wasmPaths === undefined ? {} : { wasmPaths: absolute(wasmPaths) };
  return { runtime: absolute(runtime), folder: absolute(folder), ...paths };
}
