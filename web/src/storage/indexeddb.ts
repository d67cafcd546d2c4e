// Files in blocks in IndexedDB, for browsers and pages without the private file system. Each read is
// a transaction, so what is read together is asked for together.
import { blocksOf, cutBlocks } from "../bytes/blocks.ts";
import { checkRange } from "../bytes/ranges.ts";
import type { ByteRange, ByteSource } from "../bytes/source.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { type Database, openDatabase, result, type Stores } from "./database.ts";
import { askPersistence, browserUsage, cleared, failStorage } from "./failures.ts";
import { checkLease, whileLeased } from "./leases.ts";
import { hasLocks, whileLocked } from "./locks.ts";
import { checkFileName, checkIndexName, PART } from "./names.ts";
import type { ByteSink, Folder, Storage } from "./storage.ts";

const BLOCK = 128 * 1024;

interface FileRecord {
  readonly id: string; // of its blocks
  readonly size: number;
}

/** Storage in IndexedDB. Unavailable if this browser or page has none. */
export async function indexedDbStorage(place: string): Promise<Storage> {
  if (!globalThis.indexedDB) {
    throw new GossamerError("Unavailable", "this browser or page has no IndexedDB");
  }
  const database = openDatabase(place);
  return {
    kind: "indexeddb",
    names: () => attempt("", () => database.run("readonly", async ({ folders }) => keysOf(folders))),
    async folder(name) {
      checkIndexName(name);
      await attempt(name, () => database.run("readwrite", (stores) => addFolder(stores, name)));
      return makeFolder(name, database, `${place}-indexeddb/${name}`);
    },
    async remove(name) {
      await attempt(name, () => database.run("readwrite", (stores) => removeFolder(stores, name)));
    },
    usage: browserUsage,
    persist: askPersistence,
  };
}

function makeFolder(name: string, database: Database, lock: string): Folder {
  async function writeManifest(manifest: Uint8Array): Promise<void> {
    const put = ({ manifests }: Stores) => result(manifests.put(manifest.slice(), name));
    const work = (stores: Stores) => expectFolder(stores, name, put);
    await attempt(name, () => database.run("readwrite", work), manifest.length);
  }

  async function open(file: string): Promise<ByteSource> {
    checkFileName(file);
    const record = await attempt(name, () =>
      database.run("readonly", ({ files }) => result<FileRecord | undefined>(files.get([name, file]))),
    );
    if (!record) throw cleared(name, file);
    return blockSource(name, file, record, database);
  }

  return {
    name,
    files: () => attempt(name, () => database.run("readonly", ({ files }) => listFiles(files, name))),
    open,
    async create(file) {
      checkFileName(file);
      return createFile(name, file, database);
    },
    async removeFile(file) {
      checkFileName(file);
      await attempt(name, () => database.run("readwrite", (stores) => removeFile(stores, name, file)));
    },
    readManifest: () =>
      attempt(name, () =>
        database.run("readonly", async ({ manifests }) => {
          const found = await result<Uint8Array | undefined>(manifests.get(name));
          return found ?? null;
        }),
      ),
    writeManifest,
    whileWriting: (work, waits = false) =>
      hasLocks()
        ? whileLocked(lock, `the index "${name}"`, waits, work)
        : whileLeased(database, name, waits, work),
  };
}

function blockSource(folder: string, file: string, record: FileRecord, database: Database): ByteSource {
  const { id, size } = record;

  /** One transaction for all blocks, each asked for once. */
  async function readMany(ranges: readonly ByteRange[], signal?: AbortSignal): Promise<Uint8Array[]> {
    throwIfAborted(signal);
    for (const range of ranges) checkRange(`the file ${file} of "${folder}"`, size, range.at, range.length);
    const numbers = blocksOf(ranges, BLOCK);
    const blocks = await attempt(folder, () =>
      database.run("readonly", async ({ blocks }) => {
        const found = numbers.map((n) => result<Uint8Array | undefined>(blocks.get([id, n])));
        return new Map((await Promise.all(found)).map((bytes, i) => [numbers[i] as number, bytes]));
      }),
    );
    const block = (number: number) => {
      const found = blocks.get(number);
      if (found?.length !== Math.min(BLOCK, size - number * BLOCK)) throw cleared(folder, file);
      return found;
    };
    return ranges.map((range) => cutBlocks(range, BLOCK, block));
  }

  return {
    size,
    read: async (at, length, signal) => (await readMany([{ at, length }], signal))[0] as Uint8Array,
    readMany,
    close: () => {},
  };
}

/** Blocks are written as they fill, under an id of their own; the last transaction gives them the
 * name of the file. Until then they belong to a file that is called NAME.part. */
async function createFile(folder: string, file: string, database: Database): Promise<ByteSink> {
  const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  const pending = new Uint8Array(BLOCK);
  let size = 0;
  let isOpen = true;

  async function change(needed: number, work: (stores: Stores) => Promise<unknown>): Promise<void> {
    if (!isOpen) throw new GossamerError("WrongState", `the file ${file} is closed: create it again`);
    try {
      const checked = (stores: Stores) => expectFolder(stores, folder, work);
      await attempt(folder, () => database.run("readwrite", checked), needed);
    } catch (error) {
      await abandon().catch(() => {});
      throw error;
    }
  }

  async function write(bytes: Uint8Array): Promise<void> {
    const full: [number, Uint8Array][] = [];
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + BLOCK - (size % BLOCK));
      pending.set(part, size % BLOCK);
      at += part.length;
      size += part.length;
      if (size % BLOCK === 0) full.push([size / BLOCK - 1, pending.slice()]);
    }
    if (full.length === 0 && isOpen) return;
    await change(bytes.length, ({ blocks }) =>
      Promise.all(full.map(([number, block]) => result(blocks.put(block, [id, number])))),
    );
  }

  async function close(): Promise<void> {
    await change(size % BLOCK, async (stores) => {
      const rest = pending.slice(0, size % BLOCK);
      if (rest.length > 0) await result(stores.blocks.put(rest, [id, Math.floor(size / BLOCK)]));
      await removeFile(stores, folder, file);
      await result(stores.files.delete([folder, file + PART]));
      await result(stores.files.put({ id, size } satisfies FileRecord, [folder, file]));
    });
    isOpen = false;
  }

  async function abandon(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    const undo = (stores: Stores) => removeFile(stores, folder, file + PART);
    await attempt(folder, () => database.run("readwrite", undo));
  }

  await change(0, async (stores) => {
    await removeFile(stores, folder, file + PART);
    await result(stores.files.put({ id, size: 0 } satisfies FileRecord, [folder, file + PART]));
  });
  return { write, close, abandon };
}

async function addFolder({ folders }: Stores, name: string): Promise<void> {
  const isThere = (await result(folders.getKey(name))) !== undefined;
  if (!isThere) await result(folders.put(name, name));
}

/** Nothing is written to a folder that another tab removed, or that was cleared, meanwhile, or that
 * another tab writes by now. */
async function expectFolder<T>(
  stores: Stores,
  folder: string,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  if ((await result(stores.folders.getKey(folder))) === undefined) throw cleared(folder);
  await checkLease(stores, folder);
  return work(stores);
}

async function removeFile({ files, blocks }: Stores, folder: string, file: string): Promise<void> {
  const record = await result<FileRecord | undefined>(files.get([folder, file]));
  if (!record) return;
  await result(blocks.delete(IDBKeyRange.bound([record.id], [record.id, []])));
  await result(files.delete([folder, file]));
}

async function removeFolder(stores: Stores, folder: string): Promise<void> {
  for (const { name } of await listFiles(stores.files, folder)) await removeFile(stores, folder, name);
  await result(stores.manifests.delete(folder));
  await result(stores.folders.delete(folder));
}

async function listFiles(files: IDBObjectStore, folder: string): Promise<{ name: string; size: number }[]> {
  const range = IDBKeyRange.bound([folder], [folder, []]);
  const keys = (await result(files.getAllKeys(range))) as [string, string][];
  const records = await result<FileRecord[]>(files.getAll(range));
  return keys.map(([, name], i) => ({ name, size: records[i]?.size ?? 0 }));
}

async function keysOf(store: IDBObjectStore): Promise<string[]> {
  return (await result(store.getAllKeys())) as string[];
}

/** Runs what touches storage; its failures get our reasons. */
function attempt<T>(folder: string, work: () => Promise<T>, needed = 0): Promise<T> {
  return work().catch((error: unknown) => failStorage(error, folder, { needed }));
}
