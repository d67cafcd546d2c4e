// States of an index that come and go: commits while it is searched, memory that is given back.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { memorySource } from "../src/bytes/memory.ts";
import { loadBuilder } from "../src/core/load.ts";
import { GossamerError } from "../src/errors.ts";
import { openContainer } from "../src/format/container.ts";
import { NO_SITE } from "../src/format/manifest.ts";
import type { IndexParts } from "../src/format/parts.ts";
import type { IndexContext } from "../src/query/context.ts";
import { keepModel } from "../src/query/models.ts";
import { makeServices } from "../src/query/services.ts";
import type { Services } from "../src/query/services.ts";
import type { Snapshot } from "../src/query/snapshot.ts";
import { WebIndex } from "../src/query/web_index.ts";
import { memoryStorage } from "../src/storage/memory.ts";
import { WorkerCalls } from "../src/worker/handlers.ts";
import type { Handlers } from "../src/worker/handlers.ts";
import type { Job } from "../src/worker/job.ts";
import type { TextInput } from "../src/update/inputs.ts";
import { contextFor, snapshotOf } from "./snapshots.ts";
import { builtWasm } from "./wasm_files.ts";

const model = readFileSync(new URL("../../python/gossamer/models/data/pocket.gossamer", import.meta.url));
const MODEL = "http://host/pocket.model.gossamer";
const FILE = new URL("data/query/index-vectors.gossamer", import.meta.url);

async function makeWorker(context: { mock: typeof import("node:test").mock }) {
  const answer = async () => new Response(new Uint8Array(model), { headers: { etag: '"1"' } });
  context.mock.method(globalThis, "fetch", answer);
  const storage = memoryStorage();
  const services = makeServices(builtWasm, storage);
  return { storage, services, handlers: new WorkerCalls(services) };
}

async function withModel(): Promise<Services> {
  const storage = memoryStorage();
  const services = makeServices(builtWasm, storage);
  const { fingerprint } = (await services.text()).model(model);
  await keepModel(storage, fingerprint, model);
  return services;
}

function jobOf(texts: readonly unknown[] = [], signal = new AbortController().signal): Job {
  return {
    signal,
    progress: () => {},
    texts: async function* () {
      yield* texts as TextInput[];
    },
  };
}

function note(i: number): TextInput {
  return { id: `note ${i}`, text: `Note ${i} tells of whales in the deep sea. `.repeat(10) };
}

/** Searches again and again, some side by side, until `work` is over; gives what went wrong. */
async function searchDuring(search: (i: number) => Promise<unknown>, work: () => Promise<void>) {
  const failures: string[] = [];
  let isOver = false;
  let found = 0;
  const loop = async (from: number) => {
    for (let i = from; !isOver; i += 3) {
      await search(i).then(
        () => (found += 1),
        (error: GossamerError) => failures.push(`${error.reason}: ${error.message}`),
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const loops = [0, 1, 2].map(loop);
  await work();
  isOver = true;
  await Promise.all(loops);
  return { failures, found };
}

async function commitMany(handlers: Handlers, handle: number): Promise<void> {
  for (let n = 0; n < 8; n++) {
    await handlers.add(jobOf([note(100 + n)]), handle);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test("searches are answered while the same page commits", async (context) => {
  const { handlers } = await makeWorker(context);
  const { handle } = await handlers.build(jobOf([0, 1, 2, 3].map(note)), "notes", { model: MODEL });
  const search = (i: number) => handlers.search(jobOf(), handle, `whales in the sea ${i}`, { k: 3 });

  const { failures, found } = await searchDuring(search, () => commitMany(handlers, handle));

  assert.deepEqual(failures, []);
  assert.ok(found > 3);
});

test("searches are answered while another tab commits", async (context) => {
  const { handlers, services } = await makeWorker(context);
  const { handle } = await handlers.build(jobOf([0, 1, 2, 3].map(note)), "notes", { model: MODEL });
  const other = await WebIndex.open("notes", {}, services);
  const search = (i: number) => other.search(`whales in the sea ${i}`, { k: 3 });

  const { failures } = await searchDuring(search, () => commitMany(handlers, handle));

  assert.deepEqual(failures, []);
  const { hits } = await other.search("note 107 whales", { k: 20 });
  assert.ok(hits.some((hit) => hit.source === "note 107"));
});

test("a search under way keeps the snapshot that it began with until it is over", async (context) => {
  const { handlers, services } = await makeWorker(context);
  const { handle } = await handlers.build(jobOf([note(0)]), "notes", { model: MODEL });
  const index = await WebIndex.open("notes", {}, services);
  const snapshot = await index.snapshot();
  const attempts = index.attempts();
  assert.equal(await attempts.next(), snapshot);

  await handlers.add(jobOf([note(1)]), handle);
  await index.search("whales");
  assert.notEqual(await index.snapshot(), snapshot);

  assert.equal((await snapshot.memory.engine()).index.isBroken, false);
  assert.equal(await attempts.isFinal(Promise.resolve()), true);
  await snapshot.retire();
  assert.equal((await snapshot.memory.engine()).index.isBroken, true);
});

test("an index that storage has lost is said to be lost", async (context) => {
  const { handlers, storage, services } = await makeWorker(context);
  await handlers.build(jobOf([note(0)]), "notes", { model: MODEL });
  const folder = await storage.folder("notes");
  for (const { name } of await folder.files()) if (name.startsWith("segment")) await folder.removeFile(name);

  await assert.rejects(WebIndex.open("notes", {}, services), /was cleared or damaged/);
});

test("what `build` could not take in is told with the index", async (context) => {
  const { handlers } = await makeWorker(context);

  const built = await handlers.build(jobOf([note(0), { id: "", text: "x" }]), null, { model: MODEL });

  assert.equal(built.report.added, 1);
  assert.equal(built.report.failed.length, 1);
});

test("an index in memory has no name, and none that could be removed", async (context) => {
  const { handlers } = await makeWorker(context);
  const { handle, name } = await handlers.build(jobOf([note(0)]), null, { model: MODEL });

  await handlers.removeIndex(jobOf(), "index");
  await handlers.add(jobOf([note(1)]), handle);

  assert.equal(name, "");
  const status = await handlers.status(jobOf(), handle);
  assert.deepEqual([status.name, status.documents], ["", 2]);
  assert.equal((await handlers.search(jobOf(), handle, "whales", {})).hits.length, 2);
});

test("an index whose opening was aborted at the last moment is closed", async (context) => {
  const { handlers, services } = await makeWorker(context);
  await handlers.build(jobOf([note(0)]), "notes", { model: MODEL });
  const abort = new AbortController();
  const late = new WorkerCalls({
    ...services,
    storage: async () => {
      const storage = await services.storage();
      return { ...storage, names: () => storage.names(), folder: async (name) => storage.folder(name) };
    },
  });
  const { open } = WebIndex;
  let opened: WebIndex | null = null;
  context.mock.method(WebIndex, "open", async (...args: Parameters<typeof open>) => {
    opened = await open.apply(WebIndex, args);
    abort.abort();
    return opened;
  });

  await assert.rejects(late.open(jobOf([], abort.signal), "notes", {}), { reason: "Cancelled" });

  await assert.rejects((opened as WebIndex | null)?.search("whales") ?? Promise.resolve(), {
    reason: "WrongState",
  });
});

test("options that mean nothing are refused", async () => {
  const file = new Blob([readFileSync(FILE)]);
  const services = await withModel();
  for (const options of [{ vectors: "bogus" }, { eviction: "bogus" }, { eviction: 3 }, { name: 5 }]) {
    const opening = WebIndex.open(file, options as object, services);
    await assert.rejects(opening, { reason: "InvalidArgument" });
  }
});

test("an eviction of one's own is loaded from its address", async () => {
  const code = "export const eviction = () => ({ name: 'own', choose: () => (globalThis.chosen = 0) })";
  const file = new Blob([readFileSync(FILE)]);
  const address = `data:text/javascript,${encodeURIComponent(`${code} // ://`)}`;
  const index = await WebIndex.open(file, { eviction: decodeURIComponent(address) }, await withModel());
  await index.setMemoryBudget(64 * 1024);

  const found = await index.search("whales that live in the sea", { k: 1 });

  assert.equal(found.hits[0]?.source, "whales");
});

test("an engine that failed too often is replaced by another one", async () => {
  const index = await WebIndex.open(new Blob([readFileSync(FILE)]), {}, await withModel());
  await index.search("whales");
  const snapshot = await index.snapshot();
  const { index: engine } = await snapshot.memory.engine();
  const query = new Float32Array(engine.dim);
  const ask = () => engine.search(query, { k: 1, recall: 0.9, allowed: [999_999] });
  for (let i = 0; i < 300 && !engine.isBroken; i++) assert.throws(ask, GossamerError);

  assert.equal(engine.isBroken, true);
  assert.equal((await index.search("whales that live in the sea", { k: 1 })).hits[0]?.source, "whales");
});

/** A snapshot over vectors alone. */
async function snapshotOfVectors(count: number, dim: number): Promise<{ snapshot: Snapshot; context: IndexContext }> {
  const vectors = Float32Array.from({ length: count * dim }, (_, i) => Math.sin(i));
  const built = (await loadBuilder(builtWasm)).build(vectors, dim, { scalar: "f32", keep: "all", metric: "l2" });
  const file = built.save();
  built.free();
  const engine = await openContainer(memorySource(file));
  const manifest = { model: { name: "", fingerprint: "", dim }, settings: { keep: "all" }, site: NO_SITE };
  const parts = { manifest, engine, origin: { files: [] }, words: null, close: () => {} };
  const context = contextFor(1 << 16);
  return { snapshot: await snapshotOf(parts as unknown as IndexParts, {}, context), context };
}

test("a budget that falls gives memory back, and what it leaves is still there", async () => {
  const { snapshot, context } = await snapshotOfVectors(20_000, 64);
  await snapshot.memory.warm();
  const wasmBytes = async () => (await snapshot.memory.loaded)?.engine.memoryBytes() ?? 0;
  const atFirst = await wasmBytes();

  await snapshot.setBudget(5_120_000);
  await snapshot.memory.warm();
  const atMost = await wasmBytes();
  await snapshot.setBudget(256 * 1024);
  const atLast = await wasmBytes();

  assert.ok(atMost <= atFirst + 5_120_000 + 1_500_000, `${atFirst} to ${atMost}`);
  assert.ok(atLast <= atFirst + 1_500_000, `${atFirst} to ${atLast}`);
  assert.equal(context.budget, 256 * 1024);
  const opened = await snapshot.memory.loaded;
  assert.equal(opened?.tiers?.stats.wasm.used, 1024);
  assert.equal(opened?.index.isBroken, false);
  assert.equal(opened?.index.resident?.used, 1024);
  await snapshot.close();
});

test("an index moves to another instance when no question is under way, and answers as before", async () => {
  const services = await withModel();
  let grown = 0;
  const newEngine = async () => {
    const engine = await services.newEngine();
    return { ...engine, memoryBytes: () => engine.memoryBytes() + grown };
  };
  const index = await WebIndex.open(new Blob([readFileSync(FILE)]), {}, { ...services, newEngine });
  const before = await index.search("whales that live in the sea");
  const snapshot = await index.snapshot();
  const collection = await snapshot.memory.collection();
  snapshot.memory.retain();
  grown = 1 << 28;

  await index.setMemoryBudget(1 << 21);
  assert.equal(await snapshot.memory.collection(), collection);
  snapshot.memory.release();
  await index.setMemoryBudget(1 << 20);

  assert.notEqual(await snapshot.memory.collection(), collection);
  assert.equal(collection.isBroken, true);
  assert.deepEqual((await index.search("whales that live in the sea")).hits, before.hits);
  assert.equal((await index.search("whales", { mode: "lexical" })).hits[0]?.source, "whales");
});

test("a budget that is refused is not kept", async () => {
  const { snapshot, context } = await snapshotOfVectors(500, 8);
  await snapshot.memory.warm();
  const { tiers, index } = (await snapshot.memory.loaded) ?? assert.fail();
  assert.ok(index.resident && tiers);
  index.resident.resize = () => {
    throw new GossamerError("TooLarge", "there is not enough memory");
  };

  await assert.rejects(snapshot.setBudget(200 * 32), { reason: "TooLarge" });

  assert.equal(context.budget, tiers.budget);
});

test("the cache is optimised by itself where that was asked for at opening", async () => {
  const questions = ["whales in the sea", "codebook", "the largest animal", "graph"];
  const optimise = { questions, accessMs: 1000 };
  const index = await WebIndex.open(new Blob([readFileSync(FILE)]), { optimise }, await withModel());
  const before = (await index.status()).cacheBudget;

  await index.search("whales");
  await index.setMemoryBudget(1 << 20).catch(() => undefined); // waits until what began is over
  const report = await index.optimiseCache({ questions, share: 1 });

  assert.ok(before >= 1 << 20, `${before}`);
  assert.ok(report.wasmBytesBefore > 0 && report.wasmBytesAfter > 0, "Wasm memory is told");
  assert.equal((await index.status()).cacheBudget, report.bytesAfter);
  await assert.rejects(index.optimiseCache({ questions, share: 0 }), { reason: "InvalidArgument" });
});
