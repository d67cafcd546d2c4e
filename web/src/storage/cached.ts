import { blocksOf, cutBlocks } from "../bytes/blocks.ts";
import { checkUrl } from "../bytes/http.ts";
import { checkRange } from "../bytes/ranges.ts";
import { isUnchanged, openRemote, PROBE_BYTES, type RemoteOptions, type RemoteSource } from "../bytes/remote.ts";
import { blockCount, blockLength, type Origin } from "../bytes/segments.ts";
import { type ByteRange, type ByteSource, readMany } from "../bytes/source.ts";
import { GossamerError } from "../errors.ts";
import { BlockStore, findKept } from "./block_store.ts";
import type { Folder } from "./storage.ts";

export interface CacheOptions {
  readonly blockBytes?: number; // what is fetched and kept at least; 256 bytes, 64 KiB where all of it comes
  readonly flushBytes?: number; // so much is kept in memory before it is written; 1 MiB
}

/** A remote file of which what was touched is kept in storage. */
export interface CachedSource extends ByteSource {
  readonly url: string;
  readonly etag: string;
  readonly bytesFetched: number;
  readonly requests: number;
  /** Bytes that storage gave instead of the network. */
  readonly bytesFromStorage: number;
  readonly notes: readonly string[];
  /** Writes what was fetched since the last time; until then a killed tab loses it. Does nothing
   * while another tab writes, or where storage does not work (see notes). */
  flush(): Promise<void>;
}

// A question touches some fifty places far from each other; what is fetched around them is wasted.
const BLOCK = 256;
const WHOLE_BLOCK = 64 * 1024; // of what comes whole
const FLUSH = 1024 * 1024;
const MOST_PENDING = 16; // times what is flushed at once: then what cannot be written is dropped

/** Keeps what is read of `remote` in `folder` and reads from there what it has. The folder is for
 * this file alone; what it has of other versions goes. Storage that fails never fails a read. */
export async function cachedSource(
  remote: RemoteSource,
  folder: Folder,
  options: CacheOptions = {},
): Promise<CachedSource> {
  const { url, etag, size } = remote;
  const origin = { url, etag, size, blockBytes: options.blockBytes ?? (remote.hasRanges ? BLOCK : WHOLE_BLOCK) };
  const notes = [...remote.notes];
  let store: BlockStore | null = null;
  if (etag === "") notes.push(`the server of ${url} gives no ETag and no date: nothing is kept`);
  else store = await BlockStore.open(folder, origin).catch((error: unknown) => noteFailure(notes, error));
  const flushBytes = options.flushBytes ?? FLUSH;
  const blocks = new Blocks({ remote, origin, store, folder, notes, flushBytes });
  // What came whole is kept whole, or it would come again the next time.
  if (!remote.hasRanges) void blocks.keepAll().catch(() => undefined);

  async function readAll(ranges: readonly ByteRange[], signal?: AbortSignal): Promise<Uint8Array[]> {
    for (const range of ranges) checkRange(url, size, range.at, range.length);
    const found = await blocks.get(blocksOf(ranges, origin.blockBytes), signal);
    const block = (number: number) => found.get(number) as Uint8Array;
    return ranges.map((range) => cutBlocks(range, origin.blockBytes, block));
  }

  return {
    url,
    etag,
    size,
    notes,
    read: async (at, length, signal) => (await readAll([{ at, length }], signal))[0] as Uint8Array,
    readMany: readAll,
    flush: () => blocks.flush(),
    close() {
      void blocks.flush().finally(() => store?.close());
      remote.close();
    },
    get bytesFetched() {
      return remote.bytesFetched;
    },
    get requests() {
      return remote.requests;
    },
    get bytesFromStorage() {
      return blocks.bytesFromStorage;
    },
  };
}

/** Opens a remote file whose touched parts `folder` keeps. If the server cannot be reached, what is
 * kept is used all the same (see notes), and the server is tried again for what is not. */
export async function openCached(
  url: string | URL,
  folder: Folder,
  options: RemoteOptions & CacheOptions = {},
): Promise<CachedSource> {
  const address = checkUrl(url);
  const kept = await findKept(folder, address).catch(() => null);
  const again = (origin: Origin, note?: string) =>
    cachedSource(lateRemote(origin, options, note), folder, { ...options, blockBytes: origin.blockBytes });
  try {
    // Where all of it is here, the server need only say that it is still the same.
    if (kept?.isWhole && (await isUnchanged(address, kept.origin.etag, options))) return await again(kept.origin);
    // The head is there already: few bytes tell whether it is still the same file.
    const remote = await openRemote(address, kept ? { ...options, headBytes: PROBE_BYTES } : options);
    return await cachedSource(remote, folder, options);
  } catch (error) {
    const isAway = error instanceof GossamerError && error.reason === "Unreachable";
    if (!isAway || !kept) throw error;
    return again(kept.origin, `${address} does not answer: only what was kept of it before can be used`);
  }
}

interface Places {
  readonly remote: RemoteSource;
  readonly origin: Origin;
  readonly store: BlockStore | null; // null where nothing can be kept
  readonly folder: Folder;
  readonly notes: string[];
  readonly flushBytes: number;
}

/** Blocks from what is not written yet, else from storage, else from the server. */
class Blocks {
  bytesFromStorage = 0;
  readonly #places: Places;
  readonly #pending = new Map<number, Uint8Array>();
  #isKeeping: boolean;
  #flushing: Promise<void> = Promise.resolve();

  constructor(places: Places) {
    this.#places = places;
    this.#isKeeping = places.store !== null;
  }

  async get(numbers: readonly number[], signal?: AbortSignal): Promise<Map<number, Uint8Array>> {
    const found = new Map<number, Uint8Array>();
    for (const number of numbers) {
      const bytes = this.#pending.get(number);
      if (bytes) found.set(number, bytes);
    }
    const written = numbers.filter((number) => !found.has(number));
    for (const [number, bytes] of (await this.#places.store?.read(written, signal)) ?? []) {
      found.set(number, bytes);
      this.bytesFromStorage += bytes.length;
    }
    const missing = numbers.filter((number) => !found.has(number));
    await this.#fetch(missing, found, signal);
    return found;
  }

  /** Fetches what is not there yet, and keeps it. */
  async keepAll(): Promise<void> {
    if (!this.#isKeeping) return;
    await this.get(Array.from({ length: blockCount(this.#places.origin) }, (_, number) => number));
    await this.flush();
  }

  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  get #pendingBytes(): number {
    return this.#pending.size * this.#places.origin.blockBytes;
  }

  async #fetch(
    numbers: readonly number[],
    found: Map<number, Uint8Array>,
    signal?: AbortSignal,
  ): Promise<void> {
    if (numbers.length === 0) return;
    const { origin, remote, flushBytes } = this.#places;
    const ranges = numbers.map((number) => ({
      at: number * origin.blockBytes,
      length: blockLength(origin, number),
    }));
    const parts = await readMany(remote, ranges, signal);
    for (const [i, number] of numbers.entries()) {
      // A copy: a view would keep all that was fetched with it.
      const bytes = (parts[i] as Uint8Array).slice();
      found.set(number, bytes);
      if (this.#isKeeping) this.#pending.set(number, bytes);
    }
    if (this.#pendingBytes >= flushBytes) void this.flush();
  }

  async #write(): Promise<void> {
    const { store, folder, flushBytes, notes } = this.#places;
    const pending = this.#pending;
    if (!store || pending.size === 0) return;
    const batch = new Map(pending);
    try {
      await folder.whileWriting(() => store.add(batch));
      for (const [number, bytes] of batch) if (pending.get(number) === bytes) pending.delete(number);
    } catch (error) {
      const isLocked = error instanceof GossamerError && error.reason === "Locked";
      if (isLocked && this.#pendingBytes < MOST_PENDING * flushBytes) return;
      pending.clear();
      if (isLocked) return;
      this.#isKeeping = false;
      noteFailure(notes, error);
    }
  }
}

/** A server that is asked when something is wanted of it. */
function lateRemote(origin: Origin, options: RemoteOptions, note?: string): RemoteSource {
  const { url, etag, size } = origin;
  let opening: Promise<RemoteSource> | null = null;
  let opened: RemoteSource | null = null;

  async function open(): Promise<RemoteSource> {
    const found = await openRemote(url, { ...options, headBytes: PROBE_BYTES });
    if (found.etag !== etag || found.size !== size) {
      const what = `${url} is another file now than the one that is kept`;
      throw new GossamerError("Damaged", `${what}: open it again`);
    }
    opened = found;
    return found;
  }

  function ensure(): Promise<RemoteSource> {
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  }

  return {
    url,
    etag,
    size,
    hasRanges: true,
    notes: note === undefined ? [] : [note],
    read: async (at, length, signal) => (await ensure()).read(at, length, signal),
    readMany: async (ranges, signal) => readMany(await ensure(), ranges, signal),
    close: () => opened?.close(),
    get bytesFetched() {
      return opened?.bytesFetched ?? 0;
    },
    get requests() {
      return opened?.requests ?? 0;
    },
  };
}

function noteFailure(notes: string[], error: unknown): null {
  const why = error instanceof Error ? error.message : String(error);
  notes.push(`nothing more is kept of this file: ${why}`);
  return null;
}
