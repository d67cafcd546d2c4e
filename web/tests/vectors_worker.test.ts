// Vectors in a worker: here a thread of Node, whose code is bundled as for the package.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

import { VectorIndex } from "../src/vectors/index.ts";

const wasm = new URL("../wasm/built/", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "vectors-worker-"));
const worker = pathToFileURL(join(folder, "vectors-worker.mjs"));
const entry = fileURLToPath(new URL("../src/vectors/host.ts", import.meta.url));
await build({ entryPoints: [entry], outfile: fileURLToPath(worker), bundle: true, format: "esm", logLevel: "error" });
after(() => rmSync(folder, { recursive: true }));

const DIM = 16;
const vectors = Float32Array.from({ length: 500 * DIM }, (_, i) => Math.sin(i * i) + Math.cos(i % 7));
const query = vectors.slice(0, DIM);
const here = await VectorIndex.build(vectors, DIM, { metric: "l2", wasm });

test("an index in a worker does what one on this thread does", async () => {
  const there = await VectorIndex.build(vectors, DIM, { metric: "l2", wasm, worker });

  assert.equal(there.dim, DIM);
  assert.deepEqual(await there.search(query), await here.search(query));
  assert.deepEqual(await there.search([query, query], { filter: [1, 2] }), await here.search([query, query], { filter: [1, 2] }));
  assert.deepEqual(await there.add([query]), [500]);
  await there.remove([0]);
  assert.deepEqual((await there.search(query, { k: 1 })).ids, [500]);
  const saved = await VectorIndex.open(await there.save(), { wasm });
  assert.deepEqual((await saved.search(query, { k: 1 })).ids, [500]);
  await there.close();
});

test("a worker reads a file in part", async () => {
  const file = join(folder, "index.gossamer");
  writeFileSync(file, new Uint8Array(await (await here.save()).arrayBuffer()));
  const there = await VectorIndex.open(pathToFileURL(file), { wasm, worker, memoryBudget: 500 });

  const { ids } = await there.search(query, { k: 1 });
  const { tiers } = await there.status();
  const { bytesAfter } = await there.optimiseCache([query, query], { share: 0.9 });

  assert.deepEqual(ids, [0]);
  assert.ok(tiers && tiers.bytes <= 500 && tiers.rowsRead > 0);
  assert.ok(bytesAfter <= 500);
  await there.close();
});

test("errors of a worker have their reasons, and a call that is aborted ends", async () => {
  const there = await VectorIndex.build(vectors, DIM, { wasm, worker });

  await assert.rejects(there.search([1, 2]), { reason: "WrongDimension" });
  await assert.rejects(there.remove([9999]), { reason: "UnknownId" });
  await assert.rejects(there.search(query, { filter: () => true }), { reason: "InvalidArgument" });
  await assert.rejects(there.search(query, { signal: AbortSignal.abort() }), { reason: "Cancelled" });
  assert.equal((await there.search(query, { signal: new AbortController().signal })).ids.length, 10);
  await there.close();
  await assert.rejects(there.search(query), { reason: "WrongState" });
  await assert.rejects(VectorIndex.open(new Uint8Array(9), { wasm, worker }), { reason: "NotGossamer" });
  await assert.rejects(VectorIndex.build(vectors, DIM, { wasm, worker: new URL("./nothing.mjs", worker) }), {
    reason: "Unreachable",
  });
});
