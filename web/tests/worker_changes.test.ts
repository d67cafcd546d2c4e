import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { makeServices } from "../src/query/services.ts";
import { memoryStorage } from "../src/storage/memory.ts";
import { buildIndex, importIndex } from "../src/worker/changes.ts";
import type { Job } from "../src/worker/job.ts";

const wasm = {
  fetch: async (name: string) => readFileSync(new URL(`../wasm/built/${name}`, import.meta.url)),
};
const model = readFileSync(new URL("../../python/gossamer/models/data/pocket.gossamer", import.meta.url));
const MODEL = "http://host/pocket.model.gossamer";

/** A tab of a page: all share the storage. */
function tab(storage = memoryStorage()) {
  const services = makeServices(wasm, storage);
  const job = (texts: Job["texts"] = async function* () {}): Job => ({
    signal: new AbortController().signal,
    progress: () => {},
    texts,
  });
  return { storage, services, job };
}

function serveModel(context: { mock: typeof import("node:test").mock }): void {
  const answer = async () => new Response(new Uint8Array(model), { headers: { etag: '"1"' } });
  context.mock.method(globalThis, "fetch", answer);
}

test("a tab that fails to build what another one is building leaves it alone", async (context) => {
  serveModel(context);
  const first = tab();
  const second = tab(first.storage);
  let go = () => {};
  const gate = new Promise<void>((open) => (go = open));
  let began = () => {};
  const isBuilding = new Promise<void>((open) => (began = open));
  const texts = async function* () {
    yield { id: "a", text: "One text." };
    began();
    await gate;
    yield { id: "b", text: "Another text." };
  };
  const building = buildIndex(first.services, "notes", { model: MODEL }, first.job(texts));
  await isBuilding;

  const failed = buildIndex(second.services, "notes", { model: MODEL }, second.job());
  await assert.rejects(failed, { reason: "Locked" });
  go();

  const status = await (await building).index.status();
  assert.equal(status.documents, 2);
});

test("what fails to be built or imported leaves no name behind", async (context) => {
  serveModel(context);
  const { services, storage, job } = tab();
  const texts = async function* () {
    yield { id: "a", text: "One text." };
    throw new Error("the page's own");
  };

  await assert.rejects(buildIndex(services, "notes", { model: MODEL }, job(texts)), /own/);
  const imported = importIndex(services, "other", new Blob(["no index"]), job());
  await assert.rejects(imported, { reason: "NotGossamer" });

  assert.deepEqual((await storage.names()).filter((name) => ["notes", "other"].includes(name)), []);
});
