import { GossamerError } from "../errors.ts";
import { loadPart } from "../lazy.ts";
import { randomName } from "../random.ts";
import { opfsStorage } from "./opfs.ts";
import type { Storage } from "./storage.ts";

const MAKERS = {
  opfs: opfsStorage,
  indexeddb: async (place: string) => (await loadPart(import("./indexeddb.ts"))).indexedDbStorage(place),
  memory: async () => (await loadPart(import("./memory.ts"))).memoryStorage(),
} as const;

/** Where indexes of texts are. */
const PLACE = "gossamer";

/** The best storage that works here: the private file system, else IndexedDB, else memory, which goes
 * with the page. Of the given kind, if one is given: Unavailable if that does not work here. */
export async function openStorage(kind?: Storage["kind"], place = PLACE): Promise<Storage> {
  if (kind) return openKind(kind, place);
  for (const next of ["opfs", "indexeddb"] as const) {
    const storage = await openKind(next, place).catch((error: unknown) => {
      // A part that did not come says nothing of the browser: what is in its storage must not be missed.
      if (error instanceof GossamerError && error.reason === "Unreachable") throw error;
      return null;
    });
    if (storage) return storage;
  }
  return openKind("memory", place);
}

async function openKind(kind: Storage["kind"], place: string): Promise<Storage> {
  const storage = await MAKERS[kind](place);
  if (kind === "memory") return storage;
  const names = async () => (await storage.names()).filter((name) => !name.startsWith(PROBE));
  try {
    await probe(storage);
  } catch (error) {
    // Full storage works: what is in it can be read and removed.
    const isFull = error instanceof GossamerError && error.reason === "Unwritable";
    const why = error instanceof Error ? error.message : String(error);
    const what = `storage of kind ${kind} does not work in this page: ${why}`;
    if (!isFull) throw new GossamerError("Unavailable", what);
  }
  return { ...storage, names };
}

const PROBE = "gossamer probe ";
const PROBE_LIFE_MS = 60_000;

/** Some browsers have the names and fail in private windows: only writing and reading tells. Each tab
 * tries in a folder of its own: not all browsers and pages have locks. */
async function probe(storage: Storage): Promise<void> {
  await removeOldProbes(storage).catch(() => {}); // another tab may be about it
  const name = `${PROBE}${Date.now()} ${randomName()}`;
  try {
    const folder = await storage.folder(name);
    const sink = await folder.create("probe");
    await sink.write(new Uint8Array([1, 2, 3]));
    await sink.close();
    const source = await folder.open("probe");
    const bytes = await source.read(0, 3);
    source.close();
    if (bytes[2] !== 3) throw new Error("what was written did not come back");
  } finally {
    await storage.remove(name).catch(() => {}); // then another tab removes it
  }
}

/** Removes what tabs left that were killed while they tried. */
async function removeOldProbes(storage: Storage): Promise<void> {
  const names = (await storage.names()).filter((name) => name.startsWith(PROBE));
  const isOld = (name: string) => !(Date.now() - Number.parseInt(name.slice(PROBE.length)) < PROBE_LIFE_MS);
  for (const name of names.filter(isOld)) await storage.remove(name);
}
