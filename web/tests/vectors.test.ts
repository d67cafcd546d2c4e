import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

import { VectorIndex } from "../src/vectors/index.ts";
import type { Nearest, OpenVectorsOptions } from "../src/vectors/index.ts";
import { goldenFile, queries as goldenQueries, row as goldenRow, sharedPack } from "./wasm_files.ts";

const wasm = new URL("../wasm/built/", import.meta.url);
const DIM = 24;
const COUNT = 3000;
const vectors = clusters(COUNT, 7);
const queries = rowsOf(clusters(40, 8));
const folder = mkdtempSync(join(tmpdir(), "vectors-"));
const file = pathToFileURL(join(folder, "index.gossamer"));
const built = await VectorIndex.build(vectors, DIM, { metric: "l2", scalar: "f32", wasm });
writeFileSync(file, await bytesOf(built));
after(() => rmSync(folder, { recursive: true }));

test("an index that is built finds what exact search finds", async () => {
  const found = await built.search(queries, { k: 10, recall: 0.98 });

  assert.ok(recallOf(found, 10) > 0.95);
  const { count, dim, metric, scalar, keep, graph, tiers } = await built.status();
  assert.deepEqual(
    { count, dim, metric, scalar, keep, graph, tiers },
    { count: COUNT, dim: DIM, metric: "l2", scalar: "f32", keep: "all", graph: "full", tiers: null },
  );
});

test("one query gives one answer, as the same among others does", async () => {
  const [first, second] = (await built.search(queries.slice(0, 2))) as [Nearest, Nearest];

  assert.deepEqual(await built.search(queries[1] as Float32Array), second);
  assert.deepEqual(await built.search(Array.from(queries[0] as Float32Array)), first);
  assert.deepEqual(await built.search([]), []);
});

test("every search by exact strategy is exact", async () => {
  const found = await built.search(queries, { k: 5, strategy: "exact" });

  assert.equal(recallOf(found, 5), 1);
});

test("filters are lists of ids or functions", async () => {
  const query = queries[0] as Float32Array;
  const odd = await built.search(query, { k: 20, filter: (id) => id % 2 === 1 });
  const few = await built.search(query, { k: 20, filter: [3, 5, 8] });

  assert.equal(odd.ids.length, 20);
  assert.ok(odd.ids.every((id) => id % 2 === 1));
  assert.deepEqual(few.ids.toSorted(), [3, 5, 8]);
  assert.deepEqual((await built.search(query, { filter: () => false })).ids, []);
  await refuses("UnknownId", built.search(query, { filter: [COUNT] }));
});

test("what is saved opens from bytes, a blob and an address, and answers the same", async () => {
  const expected = await built.search(queries);
  const blob = await built.save();

  for (const target of [blob, new Uint8Array(await blob.arrayBuffer()), file, file.href]) {
    const opened = await VectorIndex.open(target, { wasm });
    assert.deepEqual(await opened.search(queries), expected);
    await opened.close();
  }
});

test("with a memory budget vectors stay outside, and are found as well", async () => {
  const budget = Math.floor((COUNT * DIM * 4) / 5);
  for (const options of [{}, { warm: true }, { eviction: "hub" as const }]) {
    const opened = await openOutside({ ...options, memoryBudget: budget });

    const found = await opened.search(queries, { recall: 0.98, strategy: "lazy" });
    const { tiers } = await opened.status();

    assert.ok(recallOf(found, 10) > 0.95);
    assert.ok(tiers && tiers.bytes <= budget && tiers.rowsRead > 0);
    await opened.close();
  }
});

test("the cache is optimised, and keeps its budget where that is refused", async () => {
  const opened = await openOutside({ memoryBudget: COUNT * DIM * 4 });

  const report = await opened.optimiseCache(queries, { share: 0.9 });
  const before = (await opened.status()).tiers?.bytes;
  await refuses("InvalidArgument", opened.optimiseCache(queries, {}));
  await refuses("InvalidArgument", opened.optimiseCache(queries, undefined as unknown as { share: 1 }));

  assert.ok(report.bytesAfter <= report.bytesBefore);
  assert.equal((await opened.status()).tiers?.bytes, before);
  await opened.setMemoryBudget(1000);
  assert.ok(((await opened.status()).tiers?.bytes ?? Infinity) <= 1000);
  await opened.close();
});

test("vectors are added and removed, in memory and in what was opened", async () => {
  for (const options of [{}, { memoryBudget: 1000 }]) {
    const index = await openOutside(options);
    const query = queries[0] as Float32Array;

    assert.deepEqual(await index.add([query, query]), [COUNT, COUNT + 1]);
    assert.deepEqual(await index.add(query, [9999]), [9999]);
    const near = await index.search(query, { k: 3, recall: 0.99 });
    await index.remove([COUNT, 9999]);
    const left = await index.search(query, { k: 1, recall: 0.99 });
    await index.compact();

    assert.deepEqual(near.ids.toSorted(), [COUNT, COUNT + 1, 9999].toSorted());
    assert.deepEqual(left.ids, [COUNT + 1]);
    const again = await VectorIndex.open(await index.save(), { wasm });
    assert.deepEqual((await again.search(query, { k: 1, recall: 0.99 })).ids, [COUNT + 1]);
    assert.equal((await again.ids()).length, COUNT + 1);
    await Promise.all([index.close(), again.close()]);
  }
});

test("a change that is refused changes nothing", async () => {
  const index = await openOutside({});
  const query = queries[0] as Float32Array;
  const expected = await index.search(query);

  await refuses("DuplicateId", index.add([query, query], [COUNT, 5]));
  await refuses("DuplicateId", index.add([query, query], [COUNT, COUNT]));
  await refuses("InvalidArgument", index.add([query, query], [COUNT]));
  await refuses("InvalidArgument", index.add([query], [-1]));
  await refuses("WrongDimension", index.add(new Float32Array(DIM + 1)));
  await refuses("NotFinite", index.add(query.map(() => NaN)));
  await refuses("NotFinite", index.add(query.map(() => 1e19)));
  await refuses("WrongDimension", index.add([query, , query] as Float32Array[])); // prettier-ignore
  await refuses("UnknownId", index.remove([5, COUNT]));

  assert.deepEqual(await index.search(query), expected);
  assert.equal((await index.status()).count, COUNT);
  await index.close();
});

test("a change waits for searches, and searches go on with what they began with", async () => {
  const index = await openOutside({ memoryBudget: 1000 });
  const searched = queries.map((query) => index.search(query, { strategy: "lazy" }));

  const added = index.add(queries[0] as Float32Array);
  const found = await Promise.all(searched);

  assert.deepEqual(found, await built.search(queries, { strategy: "lazy" }));
  assert.deepEqual(await added, [COUNT]);
  await index.close();
  await index.close();
  await refuses("WrongState", index.search(queries[0] as Float32Array));
});

test("an index that keeps codes alone asks for vectors", async () => {
  const golden = goldenFile("none");
  const index = await VectorIndex.open(golden, { wasm });
  const query = goldenRow(goldenQueries, 0);

  await refuses("WrongState", index.search(query));
  await refuses("InvalidArgument", VectorIndex.open(golden, { wasm, memoryBudget: 1000 }));
  await refuses("MissingCodebook", VectorIndex.open(goldenFile("shared-codebook"), { wasm }));
  const shared = await VectorIndex.open(goldenFile("shared-codebook"), { wasm, codebook: sharedPack() });
  assert.equal(shared.dim, index.dim);
  assert.ok((await shared.status()).codeBytes > 0);
});

test("an index of codes is built with a codebook, and its vectors are asked for", async () => {
  const dim = goldenRow(goldenQueries, 0).length;
  const rows = clusters(500, 3).subarray(0, 300 * dim);
  const options = { wasm, metric: "ip" as const, codebook: sharedPack(), keep: "none" as const };
  const { metric } = await (await VectorIndex.open(goldenFile("shared-codebook"), { wasm, codebook: sharedPack() })).status();

  const index = await VectorIndex.build(rows, dim, { ...options, metric });
  let asked = 0;
  const vectorsOf = (ids: readonly number[]) => {
    asked += ids.length;
    return Float32Array.from(ids.flatMap((id) => [...rows.subarray(id * dim, (id + 1) * dim)]));
  };
  const { ids } = await index.search(rows.subarray(0, dim), { k: 5, effort: { rerank: 300 }, vectorsOf });

  assert.equal(ids.length, 5);
  assert.equal(asked, 300);
  const doubles = (wanted: readonly number[]) => Float64Array.from(vectorsOf(wanted)) as unknown as Float32Array;
  await refuses("InvalidArgument", index.search(rows.subarray(0, dim), { vectorsOf: doubles }));
});

test("what is no index, no vector or no place is refused with its reason", async () => {
  await refuses("NotGossamer", VectorIndex.open(new Uint8Array(100), { wasm }));
  await refuses("NoIndex", VectorIndex.open("./nothing.gossamer", { wasm }));
  await refuses("InvalidArgument", VectorIndex.open(null as unknown as Blob, { wasm }));
  await refuses("InvalidArgument", VectorIndex.open([1] as unknown as Blob, { wasm }));
  await refuses("InvalidArgument", built.search(vectors.slice(0, DIM), { topK: 3 } as object));
  await refuses("Unreachable", VectorIndex.build(vectors, DIM, { wasm: "./nowhere/" }));
  await refuses("Unavailable", VectorIndex.open("a name", { wasm }));
  await refuses("Unavailable", built.store("a name"));
  await refuses("InvalidArgument", VectorIndex.build("text" as unknown as Float32Array, 3, { wasm }));
  await refuses("WrongDimension", VectorIndex.build([[1, 2], [1]], 2, { wasm }));
  await refuses("Empty", VectorIndex.build([], 2, { wasm }));
  await refuses("InvalidArgument", VectorIndex.build(vectors, DIM, { wasm, keep: "none" }));
  await refuses("WrongDimension", built.search(vectors));
  await refuses("WrongDimension", built.search([1, 2]));
  await refuses("WrongState", built.setMemoryBudget(1));
  assert.equal((await built.status()).count, COUNT);
});

test("a file that is damaged anywhere is refused or answers; nothing else fails", async () => {
  const bytes = readFileSync(file);
  for (let at = 0; at < bytes.length; at += 1 + (bytes.length >> 6)) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] as number) ^ 0xff;
    const opened = await VectorIndex.open(damaged, { wasm }).catch((error: { name: string }) => error);
    if (opened instanceof VectorIndex) await opened.close();
    else assert.equal(opened.name, "GossamerError");
  }
});

function openOutside(options: OpenVectorsOptions): Promise<VectorIndex> {
  return VectorIndex.open(file, { ...options, wasm });
}

async function bytesOf(index: VectorIndex): Promise<Uint8Array> {
  return new Uint8Array(await (await index.save()).arrayBuffer());
}

async function refuses(reason: string, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: { reason?: string; message: string }) => {
    assert.equal(error.reason, reason, error.message);
    return true;
  });
}

/** Rows around a few centers; the same for the same seed. */
function clusters(count: number, seed: number): Float32Array {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  return Float32Array.from({ length: count * DIM }, (_, i) => {
    const center = Math.floor(i / DIM) % 20;
    return Math.sin(center * 3 + (i % DIM)) + random();
  });
}

function rowsOf(matrix: Float32Array): Float32Array[] {
  return Array.from({ length: matrix.length / DIM }, (_, i) => matrix.slice(i * DIM, (i + 1) * DIM));
}

/** How many of the truly nearest were found, on average. */
function recallOf(found: readonly Nearest[], k: number): number {
  const all = rowsOf(vectors);
  const shares = queries.map((query, i) => {
    const distances = all.map((row) => row.reduce((sum, value, j) => sum + (value - (query[j] as number)) ** 2, 0));
    const order = distances.map((_, id) => id).sort((a, b) => (distances[a] as number) - (distances[b] as number));
    const true_ = new Set(order.slice(0, k));
    return (found[i] as Nearest).ids.filter((id) => true_.has(id)).length / k;
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}
