import assert from "node:assert/strict";
import { test } from "node:test";

import { optimiseRows, thetaOf, watchCache } from "../src/tiers/optimiser.ts";
import type { QueryTest } from "../src/tiers/optimiser.ts";
import { openVectors } from "../src/tiers/vectors.ts";
import { SimulatedIndex, ROW, countedRows } from "./tiers_simulated.ts";

const PATH = 100;
const MOST = 1000;

/** A device on which one access takes 1 ms and all else of a query 10 ms. */
function device(accessesAt: (rows: number) => number) {
  const tried: number[] = [];
  const run = async (rows: number): Promise<QueryTest> => {
    tried.push(rows);
    const accesses = accessesAt(rows);
    return { accesses, pathLength: PATH, queryMs: 10 + accesses, accessMs: 1 };
  };
  return { tried, run };
}

test("steps go where the line from one row in memory meets the threshold", async () => {
  // Accesses rise slowly, and are more than half of the threshold from the beginning.
  const { tried, run } = device((rows) => 30 + (MOST - rows) / 40);

  const found = await optimiseRows(MOST, { accessMs: 50 }, run);

  // From (1, 100) and (1000, 30): 1 + 999 * (100 - 50) / (100 - 30) = 714.57.
  assert.equal(tried[1], 715);
  assert.deepEqual(tried, [...tried].sort((a, b) => b - a));
  assert.ok(found.rows >= 200 && found.rows <= 240, `${found.rows}`);
  assert.ok(found.steps.every((step) => step.theta === 50));
});

test("steps are wide while accesses are far below the threshold, and then as the line says", async () => {
  // Far better than random fetching: accesses rise only below 200 rows.
  const { tried, run } = device((rows) => Math.max(0, (200 - rows) / 10));

  const found = await optimiseRows(MOST, { accessMs: 5 }, run);

  assert.equal(tried[1], 875);
  assert.ok(tried.length < 25, `${tried.length} steps`);
  assert.ok(found.rows >= 150 && found.rows <= 170, `${found.rows}`);
  assert.equal(found.isStopped, false);
});

test("a wide step that goes too far is tried again by halves", async () => {
  const { tried, run } = device((rows) => (rows < 940 ? 10 : 0));

  const found = await optimiseRows(MOST, { accessMs: 2 }, run);

  assert.deepEqual(tried.slice(0, 4), [1000, 875, 937, 968]);
  assert.ok(found.rows >= 940 && found.rows <= 968, `${found.rows}`);
});

test("an optimiser that is stopped by its number of steps says so", async () => {
  const { run } = device(() => 0);

  const found = await optimiseRows(1e9, { accessMs: 1e-6 }, run);

  assert.equal(found.isStopped, true);
  assert.ok(found.rows < 1e7);
});

test("the size before the first that exceeds the threshold is taken", async () => {
  const { tried, run } = device((rows) => (rows > 900 ? 1 : 50));

  const found = await optimiseRows(MOST, { accessMs: 20 }, run);

  assert.equal(found.rows, MOST);
  assert.equal(tried.length, 2);
  assert.deepEqual(found.steps.map((step) => step.isWithin), [true, false]);
});

test("memory that is too small already is kept", async () => {
  const { tried, run } = device(() => 30);

  const found = await optimiseRows(MOST, { accessMs: 20 }, run);

  assert.equal(found.rows, MOST);
  assert.deepEqual(tried, [MOST]);
});

test("a threshold below one access allows none", async () => {
  const { run } = device((rows) => (rows < 400 ? 1 : 0));

  const found = await optimiseRows(MOST, { accessMs: 0.5 }, run);

  assert.ok(found.rows >= 400 && found.rows < MOST);
  assert.ok(found.steps.every((step) => step.isWithin === (step.accesses === 0)));
});

test("where storage never counts one row is enough", async () => {
  const { run } = device(() => 0);

  assert.equal((await optimiseRows(MOST, { accessMs: 1000 }, run)).rows, 1);
  assert.equal((await optimiseRows(1, { accessMs: 1000 }, run)).rows, 1);
  assert.equal((await optimiseRows(0, { accessMs: 1000 }, run)).rows, 0);
});

test("a query that reads as much as it looks at has no slope to follow", async () => {
  const { tried, run } = device(() => PATH);

  assert.equal((await optimiseRows(MOST, { accessMs: 1000 }, run)).rows, MOST);
  assert.deepEqual(tried, [MOST]);
});

test("accesses on the threshold itself end the search", async () => {
  const { tried, run } = device(() => 5);

  assert.equal((await optimiseRows(MOST, { accessMs: 5 }, run)).rows, MOST);
  assert.deepEqual(tried, [MOST]);
});

test("a share of the query's time and a time of its own: the stricter counts", () => {
  const tested = { accesses: 2, pathLength: PATH, queryMs: 40, accessMs: 2 };

  assert.equal(thetaOf({ share: 0.5 }, tested), 10);
  assert.equal(thetaOf({ accessMs: 6 }, tested), 3);
  assert.equal(thetaOf({ share: 0.5, accessMs: 6 }, tested), 3);
  assert.equal(thetaOf({ share: 0.1, accessMs: 6 }, tested), 2);
  assert.equal(thetaOf({ share: 0.1 }, { ...tested, accessMs: 0 }), Infinity);
});

test("a target that means nothing is refused", async () => {
  const { run } = device(() => 0);
  for (const target of [{}, { share: 0 }, { share: 1.5 }, { accessMs: -1 }, { accessMs: Number.NaN }]) {
    await assert.rejects(optimiseRows(MOST, target, run), { reason: "InvalidArgument" });
  }
});

test("searches that read more than they may take memory back, step by step, to the largest", async () => {
  const { run } = device((rows) => Math.max(0, (200 - rows) / 10));
  const found = await optimiseRows(MOST, { accessMs: 5 }, run);
  const sizes = found.steps.filter((step) => step.isWithin).map((step) => step.rows);
  const watch = watchCache(found, 2);

  const calm = [5, 5, 4, 6].map((accesses) => watch.observe(accesses));
  const back: number[] = [];
  for (let i = 0; i < 100; i++) {
    const rows = watch.observe(50);
    if (rows !== undefined) back.push(rows);
  }

  assert.deepEqual(calm, [undefined, undefined, undefined, undefined]);
  assert.deepEqual(back, sizes.slice(0, -1).reverse());
  assert.equal(watch.rows, MOST);
});

test("over real tiers the optimiser keeps what queries use, and watches those that follow", async () => {
  const count = 400;
  // Test queries pass the same twenty nodes, later ones pass others.
  const index = new SimulatedIndex(count, 0, (query) => {
    const first = query[0] as number;
    return Array.from({ length: 10 }, (_, i) => [(first + i) % count, (first + 2 * i) % count]);
  });
  const rows = countedRows(count, true);
  let time = 0;
  const slow: typeof rows = {
    ...rows,
    readRowsNow(nodes, into) {
      time += 1;
      rows.readRowsNow?.(nodes, into);
    },
  };
  const now = () => (time += 0.001);
  const tiers = openVectors(index.engine, slow, { budget: count * ROW, now, eviction: "lru" });

  const report = await tiers.optimise([Float32Array.of(0), Float32Array.of(1)], { accessMs: 2 });

  assert.equal(report.rowsBefore, count);
  assert.ok(report.rowsAfter < 100, `${report.rowsAfter}`);
  assert.equal(report.bytesSaved, (count - report.rowsAfter) * ROW);
  assert.equal(tiers.stats.bytes, report.bytesAfter);
  assert.equal(report.steps[0]?.accesses, 0);
  for (let i = 0; i < 400; i++) {
    await tiers.run(index.engine.search(Float32Array.of(i * 37), { k: 1, recall: 1 }));
  }
  assert.ok(tiers.stats.bytes > report.bytesAfter);
});

test("sizes are measured with queries that had not filled the memory", async () => {
  const count = 400;
  // Each query looks at rows that no other one looks at.
  const index = new SimulatedIndex(count, 0, (query) => {
    const first = (query[0] as number) * 20;
    return Array.from({ length: 10 }, (_, i) => [first + 2 * i, first + 2 * i + 1]);
  });
  const tiers = openVectors(index.engine, countedRows(count, true), { budget: 200 * ROW });
  const queries = Array.from({ length: 8 }, (_, i) => Float32Array.of(i));

  const report = await tiers.optimise(queries, { accessMs: 1e-9, fills: false });

  assert.equal(report.isHeldOut, true);
  assert.equal(report.steps[0]?.accesses, 10); // all of each path: nothing of it was in memory
  for (let node = 20; node < 40; node++) assert.equal(index.resident.slotOf(node), -1);
  assert.ok(index.resident.slotOf(0) >= 0);
});

test("a budget that is set while the optimiser runs stands", async () => {
  const count = 400;
  const index = new SimulatedIndex(count, 0, (query) => [[query[0] as number], [7, 8]]);
  const stored = countedRows(count, false);
  const rows: typeof stored = {
    ...stored,
    readRows(nodes, signal) {
      if (stored.log.length === 3) tiers.setBudget(50 * ROW);
      return stored.readRows(nodes, signal);
    },
  };
  const tiers = openVectors(index.engine, rows, { budget: count * ROW });
  const queries = Array.from({ length: 10 }, (_, i) => Float32Array.of(i));

  const running = tiers.optimise(queries, { accessMs: 1000, fills: false });

  await assert.rejects(running, { reason: "Cancelled" });

  assert.equal(tiers.budget, 50 * ROW);
  assert.equal(tiers.stats.wasm.capacity, 50);
});

test("what the optimiser found is watched over another state of the index too", async () => {
  const index = new SimulatedIndex(50, 0, () => [[1, 2]]);
  const tiers = openVectors(index.engine, countedRows(50, true), { budget: 50 * ROW });
  await tiers.optimise([Float32Array.of(0), Float32Array.of(1)], { accessMs: 1000 });
  const next = openVectors(new SimulatedIndex(50, 0).engine, countedRows(50, true), {
    budget: tiers.budget,
    watch: { rows: 2, observe: () => 30 },
  });

  await next.run(new SimulatedIndex(50, 0).search([]));

  assert.ok(tiers.watch);
  assert.equal(next.budget, 30 * ROW);
});

test("an optimisation that is cancelled leaves the budget as it was", async () => {
  const index = new SimulatedIndex(50, 0, () => [[1, 2]]);
  const tiers = openVectors(index.engine, countedRows(50, true), { budget: 50 * ROW });
  const options = { share: 0.5, signal: AbortSignal.abort() };

  await assert.rejects(tiers.optimise([Float32Array.of(0)], options), { reason: "Cancelled" });
  await assert.rejects(tiers.optimise([], { share: 0.5 }), { reason: "Empty" });

  assert.equal(tiers.budget, 50 * ROW);
});
