// The origin private file system. In a dedicated worker files are read and written without waiting;
// in the page, the same files by promises.
import type { ByteSource } from "../bytes/source.ts";
import { blobSource } from "../bytes/blob.ts";
import { checkRange, mergeRanges, readMerged } from "../bytes/ranges.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { askPersistence, browserUsage, cleared, failStorage, full, freeBytes } from "./failures.ts";
import { makeFolder, type RawFiles, type RawSink } from "./folder.ts";
import { folderNameOf, nameOfFolder } from "./names.ts";
import type { Storage } from "./storage.ts";

const NAME_FILE = "name.txt"; // of folders whose name was cut
// In private windows each read is a trip to another process.
const GAP = 4096;
const MOST_TOGETHER = 1 << 20;

/** What browsers have beyond the types that TypeScript ships. */
interface OpfsFile extends FileSystemFileHandle {
  createSyncAccessHandle?(options?: { mode: "read-only" }): Promise<SyncHandle>;
  move?(name: string): Promise<void>;
}

interface SyncHandle {
  read(into: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
}

/** Storage in a folder of the origin private file system. Unavailable if this browser or page has none. */
export async function opfsStorage(place: string): Promise<Storage> {
  const manager = globalThis.navigator?.storage;
  if (!manager?.getDirectory) {
    throw new GossamerError("Unavailable", "this browser or page has no private file system (OPFS)");
  }
  // Asked for each time: it is made anew after storage was cleared.
  const root = async () => (await manager.getDirectory()).getDirectoryHandle(place, { create: true });

  async function names(): Promise<string[]> {
    const found: string[] = [];
    for await (const handle of (await root()).values()) {
      if (handle.kind !== "directory") continue;
      const name = nameOfFolder(handle.name) ?? (await readName(handle));
      if (name !== null) found.push(name);
    }
    return found.sort();
  }

  async function folder(name: string) {
    const key = folderNameOf(name);
    const open = async () => (await root()).getDirectoryHandle(key);
    try {
      const made = await (await root()).getDirectoryHandle(key, { create: true });
      if (nameOfFolder(key) === null) await writeName(made, name);
    } catch (error) {
      return failStorage(error, name);
    }
    return makeFolder(name, rawFiles(name, open), `${place}-opfs/${key}`);
  }

  async function remove(name: string): Promise<void> {
    try {
      await (await root()).removeEntry(folderNameOf(name), { recursive: true });
    } catch (error) {
      if (!isMissing(error)) await failStorage(error, name);
    }
  }

  return { kind: "opfs", names, folder, remove, usage: browserUsage, persist: askPersistence };
}

function rawFiles(name: string, open: () => Promise<FileSystemDirectoryHandle>): RawFiles {
  /** Runs what touches storage; its failures get our reasons. */
  async function attempt<T>(
    file: string,
    work: (folder: FileSystemDirectoryHandle) => Promise<T>,
  ): Promise<T> {
    try {
      return await work(await open());
    } catch (error) {
      return failStorage(error, name, { file });
    }
  }

  const raw: RawFiles = {
    list: () => attempt("", listFiles),
    open: (file) => attempt(file, async (folder) => openFile(name, await folder.getFileHandle(file))),
    readWhole: (file) =>
      readWhole(open, file).catch((error: unknown) => failStorage(error, name, { file })),
    create: (file) =>
      attempt(file, async (folder) => createRaw(name, await folder.getFileHandle(file, { create: true }))),
    remove: (file) =>
      attempt(file, (folder) =>
        folder.removeEntry(file).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        }),
      ),
  };
  if (!("move" in FileSystemFileHandle.prototype)) return raw;
  const rename = (from: string, to: string) =>
    attempt(to, async (folder) => {
      const handle: OpfsFile = await folder.getFileHandle(from);
      await handle.move?.(to);
    });
  return { ...raw, rename };
}

async function listFiles(folder: FileSystemDirectoryHandle): Promise<{ name: string; size: number }[]> {
  const found: { name: string; size: number }[] = [];
  for await (const handle of folder.values()) {
    if (handle.kind !== "file" || handle.name === NAME_FILE) continue;
    const file = await (handle as FileSystemFileHandle).getFile().catch(() => null);
    // A file that went while the folder was listed is not there.
    if (file) found.push({ name: handle.name, size: file.size });
  }
  return found;
}

/** Opens a file to be read by many: without waiting in a worker, unless another tab holds it alone
 * (browsers without read-only handles), else by promises. */
async function openFile(folder: string, handle: OpfsFile): Promise<ByteSource> {
  if (handle.createSyncAccessHandle) {
    try {
      return syncSource(folder, handle.name, await handle.createSyncAccessHandle({ mode: "read-only" }));
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== "NoModificationAllowedError") throw error;
    }
  }
  const source = blobSource(await handle.getFile());
  // What a user would pick again is here what storage has lost.
  const orCleared = (error: unknown): never => {
    const isLost = error instanceof GossamerError && error.reason === "Unreadable";
    throw isLost ? cleared(folder, handle.name) : error;
  };
  return {
    size: source.size,
    read: (at, length, signal) => source.read(at, length, signal).catch(orCleared),
    readMany: (ranges, signal) =>
      source.readMany ? source.readMany(ranges, signal).catch(orCleared) : Promise.resolve([]),
    close: source.close,
  };
}

function syncSource(folder: string, file: string, handle: SyncHandle): ByteSource {
  const size = handle.getSize();
  let isOpen = true;

  function readNow(at: number, into: Uint8Array): void {
    checkRange(`the file ${file} of "${folder}"`, size, at, into.length);
    if (!isOpen) throw new GossamerError("WrongState", `the file ${file} of "${folder}" is closed`);
    let read = 0;
    try {
      read = handle.read(into, { at });
    } catch {
      throw cleared(folder, file);
    }
    if (read !== into.length) throw cleared(folder, file);
  }

  const take = (at: number, length: number) => {
    checkRange(`the file ${file} of "${folder}"`, size, at, length);
    const bytes = new Uint8Array(length);
    readNow(at, bytes);
    return bytes;
  };
  return {
    size,
    async read(at, length, signal) {
      throwIfAborted(signal);
      return take(at, length);
    },
    async readMany(ranges, signal) {
      throwIfAborted(signal);
      const merged = mergeRanges(ranges, GAP, MOST_TOGETHER);
      return readMerged(ranges, merged, async ({ at, length }) => take(at, length));
    },
    readNow,
    close() {
      if (isOpen) handle.close();
      isOpen = false;
    },
  };
}

async function createRaw(folder: string, handle: OpfsFile): Promise<RawSink> {
  const { name: file } = handle;
  if (!handle.createSyncAccessHandle) return createByPromises(folder, handle);
  const sync = await handle.createSyncAccessHandle();
  let at = 0;
  sync.truncate(0);
  return {
    async write(bytes) {
      try {
        const written = sync.write(bytes, { at });
        // Chromium says 4294967288 where there is no room, others may write less.
        if (written !== bytes.length) throw full(bytes.length, await freeBytes());
        at += written;
      } catch (error) {
        await failStorage(error, folder, { file, needed: bytes.length });
      }
    },
    async close() {
      try {
        sync.flush();
      } catch (error) {
        await failStorage(error, folder, { file, needed: at });
      } finally {
        sync.close();
      }
    },
    drop: async () => sync.close(),
  };
}

async function createByPromises(folder: string, handle: OpfsFile): Promise<RawSink> {
  const { name: file } = handle;
  const stream = await handle.createWritable();
  let needed = 0;
  const attempt = (work: () => Promise<void>) =>
    work().catch((error: unknown) => failStorage(error, folder, { file, needed }));
  return {
    write(bytes) {
      needed = bytes.length;
      return attempt(() => stream.write(bytes as Uint8Array<ArrayBuffer>));
    },
    close: () => attempt(() => stream.close()),
    drop: () => stream.abort().catch(() => {}),
  };
}

/** A snapshot takes no lock, so nobody is kept from replacing the file; if somebody does while it is
 * read, the next try reads what is there then. */
async function readWhole(
  open: () => Promise<FileSystemDirectoryHandle>,
  file: string,
): Promise<Uint8Array | null> {
  for (let tried = 1; ; ++tried) {
    try {
      const handle = await (await open()).getFileHandle(file);
      return new Uint8Array(await (await handle.getFile()).arrayBuffer());
    } catch (error) {
      if (isMissing(error)) return null;
      if (tried === 3) throw error;
    }
  }
}

async function readName(handle: FileSystemHandle): Promise<string | null> {
  const folder = handle as FileSystemDirectoryHandle;
  const bytes = await readWhole(async () => folder, NAME_FILE);
  const name = bytes && new TextDecoder().decode(bytes);
  return name && folderNameOf(name) === handle.name ? name : null;
}

async function writeName(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  if ((await readName(folder)) === name) return;
  const sink = await createRaw(name, await folder.getFileHandle(NAME_FILE, { create: true }));
  await sink.write(new TextEncoder().encode(name));
  await sink.close();
}

function isMissing(error: unknown): boolean {
  return error instanceof DOMException && error.name === "NotFoundError";
}
