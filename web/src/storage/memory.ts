import { memorySource } from "../bytes/memory.ts";
import { GossamerError } from "../errors.ts";
import { randomName } from "../random.ts";
import { cleared, full } from "./failures.ts";
import { makeFolder, type RawFiles } from "./folder.ts";
import { checkIndexName } from "./names.ts";
import type { Storage } from "./storage.ts";

/** What memory storage is kept in. Tests give one to look at, to fill and to cut. */
export interface MemoryDisk {
  readonly folders: Map<string, Map<string, Uint8Array>>;
  capacity: number; // bytes of all files
  bytesUntilCut: number; // so many can be written yet, then the page dies: nothing changes any more
  canRename: boolean;
}

export function makeDisk(): MemoryDisk {
  return { folders: new Map(), capacity: Infinity, bytesUntilCut: Infinity, canRename: true };
}

/** Storage that goes with the page: where the browser has none, and for tests. */
export function memoryStorage(disk: MemoryDisk = makeDisk()): Storage {
  const lock = `gossamer-memory-${randomName()}`; // no other tab has this memory
  return {
    kind: "memory",
    names: async () => [...disk.folders.keys()],
    async folder(name) {
      checkIndexName(name);
      if (!disk.folders.has(name)) disk.folders.set(name, new Map());
      return makeFolder(name, rawFiles(disk, name), `${lock}/${name}`);
    },
    remove: async (name) => void disk.folders.delete(name),
    usage: async () => ({ used: usedOf(disk), quota: disk.capacity, isPersistent: false }),
    persist: async () => false,
  };
}

function rawFiles(disk: MemoryDisk, folder: string): RawFiles {
  const files = () => disk.folders.get(folder);

  function change(work: (files: Map<string, Uint8Array>) => void): void {
    if (disk.bytesUntilCut <= 0) throw new GossamerError("Unwritable", "the page was closed");
    const found = files();
    if (!found) throw cleared(folder);
    work(found);
  }

  function append(file: string, bytes: Uint8Array): void {
    change((files) => {
      const free = disk.capacity - usedOf(disk);
      if (bytes.length > free) throw full(bytes.length, free);
      const before = files.get(file);
      if (!before) throw cleared(folder);
      const fits = bytes.subarray(0, Math.min(bytes.length, disk.bytesUntilCut));
      files.set(file, extended(before, fits));
      disk.bytesUntilCut -= bytes.length;
    });
    if (disk.bytesUntilCut < 0) throw new GossamerError("Unwritable", "the page was closed");
  }

  const raw: RawFiles = {
    list: async () => [...(files() ?? [])].map(([name, bytes]) => ({ name, size: bytes.length })),
    async open(file) {
      const bytes = files()?.get(file);
      if (!bytes) throw cleared(folder, file);
      return memorySource(bytes);
    },
    readWhole: async (file) => files()?.get(file) ?? null,
    async create(file) {
      change((files) => files.set(file, new Uint8Array(0)));
      return { write: async (bytes) => append(file, bytes), close: async () => {}, drop: async () => {} };
    },
    remove: async (file) => change((files) => files.delete(file)),
  };
  if (!disk.canRename) return raw;
  const rename = async (from: string, to: string) =>
    change((files) => {
      files.set(to, files.get(from) ?? new Uint8Array(0));
      files.delete(from);
    });
  return { ...raw, rename };
}

function usedOf(disk: MemoryDisk): number {
  let used = 0;
  for (const files of disk.folders.values()) for (const bytes of files.values()) used += bytes.length;
  return used;
}

/** What grows has twice the room it needs, so that many small writes do not copy it many times. */
function extended(before: Uint8Array, more: Uint8Array): Uint8Array {
  const length = before.length + more.length;
  let { buffer } = before;
  if (buffer.byteLength < length) {
    buffer = new ArrayBuffer(length * 2);
    new Uint8Array(buffer).set(before);
  }
  const after = new Uint8Array(buffer, 0, length);
  after.set(more, before.length);
  return after;
}
