import { GossamerError } from "../errors.ts";
import { indexedDbStorage } from "./indexeddb.ts";
import { memoryStorage } from "./memory.ts";
import { opfsStorage } from "./opfs.ts";
import type { Storage } from "./storage.ts";

const MAKERS = {
  opfs: opfsStorage,
  indexeddb: indexedDbStorage,
  memory: async () => memoryStorage(),
} as const;

/** The best storage that works here: the private file system, else IndexedDB, else memory, which goes
 * with the page. Of the given kind, if one is given: Unavailable if that does not work here. */
export async function openStorage(kind?: Storage["kind"]): Promise<Storage> {
  if (kind) return openKind(kind);
  for (const next of ["opfs", "indexeddb"] as const) {
    const storage = await openKind(next).catch(() => null);
    if (storage) return storage;
  }
  return openKind("memory");
}

async function openKind(kind: Storage["kind"]): Promise<Storage> {
  const storage = await MAKERS[kind]();
  try {
    if (kind !== "memory") await probe(storage);
    return { ...storage, names: async () => (await storage.names()).filter((name) => name !== PROBE) };
  } catch (error) {
    // Full storage works: what is in it can be read and removed.
    if (error instanceof GossamerError && error.reason === "Unwritable") return storage;
    const why = error instanceof Error ? error.message : String(error);
    throw new GossamerError("Unavailable", `storage of kind ${kind} does not work in this page: ${why}`);
  }
}

const PROBE = "gossamer probe";

/** Some browsers have the names and fail in private windows: only writing and reading tells. One tab
 * after the other, in one folder, so that a killed one leaves nothing that the next does not remove. */
async function probe(storage: Storage): Promise<void> {
  const folder = await storage.folder(PROBE);
  await folder.whileWriting(async () => {
    await storage.folder(PROBE); // the tab before removed it
    const sink = await folder.create("probe");
    await sink.write(new Uint8Array([1, 2, 3]));
    await sink.close();
    const source = await folder.open("probe");
    const bytes = await source.read(0, 3);
    source.close();
    await storage.remove(PROBE);
    if (bytes[2] !== 3) throw new Error("what was written did not come back");
  }, true);
}
