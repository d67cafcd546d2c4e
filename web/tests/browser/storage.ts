// For tests/test_web_storage.py: runs the steps it is given, on storage of a real browser, in a worker
// or (answer) in the page.
import type { ByteSource } from "../../src/bytes/source.ts";
import { GossamerError } from "../../src/errors.ts";
import { openCached } from "../../src/storage/cached.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { ByteSink, Storage } from "../../src/storage/storage.ts";
import { removeUnnamed } from "../../src/update/files.ts";

type Step = readonly [name: string, ...given: (string | number | null)[]];

const sources = new Map<string, ByteSource>();
const sinks = new Map<string, ByteSink>();
let storage: Storage | null = null;
let release = () => {};

if (typeof document === "undefined") {
  self.onmessage = async ({ data }: MessageEvent<Step>) => self.postMessage(await answer(data));
}

/** What a step gave, or how it failed. */
export function answer(step: Step): Promise<unknown> {
  return run(step).then(
    (value) => ({ value: value ?? null }),
    (error: unknown) => ({
      reason: error instanceof GossamerError ? error.reason : "",
      message: String(error),
    }),
  );
}

async function run([name, ...given]: Step): Promise<unknown> {
  const step = STEPS[name];
  if (!step) throw new Error(`no step ${name}`);
  return step(...given.map(String));
}

/** Bytes that tell where they are and cannot be compressed: databases do, before they count. */
function pattern(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; ++i) {
    const mixed = Math.imul(i ^ (i >>> 15) ^ 0x9e3779b9, 0x2c1b3c6d);
    bytes[i] = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39) >>> 24;
  }
  return bytes;
}

function theStorage(): Storage {
  if (!storage) throw new Error("open first");
  return storage;
}

const STEPS: Record<string, (...given: string[]) => Promise<unknown>> = {
  async open(kind = "") {
    storage = await openStorage(kind === "" ? undefined : (kind as Storage["kind"]));
    return storage.kind;
  },
  names: () => theStorage().names(),
  remove: (name = "") => theStorage().remove(name),
  usage: () => theStorage().usage(),
  persist: () => theStorage().persist(),

  async write(name = "", file = "", length = "0") {
    await STEPS.begin?.(name, file);
    await STEPS.more?.(file, length);
    return STEPS.finish?.(file);
  },
  async begin(name = "", file = "") {
    sinks.set(file, await (await theStorage().folder(name)).create(file));
  },
  more: async (file = "", length = "0") => sinks.get(file)?.write(pattern(Number(length))),
  finish: async (file = "") => sinks.get(file)?.close(),

  async hold(name = "", file = "") {
    const source = await (await theStorage().folder(name)).open(file);
    sources.set(file, source);
    return { size: source.size, isSync: source.readNow !== undefined };
  },
  async read(file = "", at = "0", length = "0") {
    const source = sources.get(file) as ByteSource;
    const [bytes] = (await source.readMany?.([{ at: Number(at), length: Number(length) }])) ?? [];
    const expected = pattern(source.size).subarray(Number(at), Number(at) + Number(length));
    return bytes?.length === expected.length && bytes.every((byte, i) => byte === expected[i]);
  },
  letGo: async (file = "") => sources.get(file)?.close(),

  files: async (name = "") => (await theStorage().folder(name)).files(),
  async commit(name = "", manifest = "") {
    await (await theStorage().folder(name)).writeManifest(new TextEncoder().encode(manifest));
  },
  async manifest(name = "") {
    const bytes = await (await theStorage().folder(name)).readManifest();
    return bytes && new TextDecoder().decode(bytes);
  },
  async removeUnnamed(name = "", ...keep: string[]) {
    const folder = await theStorage().folder(name);
    const named = keep.map((file) => ({ name: file, size: 0, digest: "" }));
    return folder.whileWriting(() => removeUnnamed(folder, named));
  },
  /** As if the lease of the tab that has it had run out: another one holds it. */
  async takeOver(name = "") {
    const request = indexedDB.open("gossamer");
    await new Promise((done) => (request.onsuccess = done));
    const transaction = request.result.transaction("folders", "readwrite");
    transaction.objectStore("folders").put({ holder: "another", until: Date.now() + 60_000 }, name);
    await new Promise((done) => (transaction.oncomplete = done));
    request.result.close();
  },
  /** As in a page that is no secure context. */
  async withoutLocks() {
    Object.defineProperty(navigator, "locks", { value: undefined });
  },
  /** Holds the lock until `unlock`; answers once it has it. */
  async lock(name = "", waits = "") {
    const folder = await theStorage().folder(name);
    await new Promise<void>((has, fails) => {
      const held = new Promise<void>((go) => {
        release = go;
      });
      const work = () => {
        has();
        return held;
      };
      folder.whileWriting(work, waits === "waits").catch(fails);
    });
  },
  unlock: async () => release(),

  async fetchKept(url = "", name = "", at = "0", length = "0") {
    const source = await openCached(url, await theStorage().folder(name));
    const bytes = await source.read(Number(at), Number(length));
    await source.flush();
    const { bytesFetched, bytesFromStorage, notes } = source;
    source.close();
    return { bytes: [...bytes], bytesFetched, bytesFromStorage, notes };
  },
};
