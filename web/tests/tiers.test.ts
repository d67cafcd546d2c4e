import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "../src/bytes/memory.ts";
import type { ByteSource } from "../src/bytes/source.ts";
import { GossamerError } from "../src/errors.ts";
import { storedRows } from "../src/tiers/rows.ts";
import { openVectors } from "../src/tiers/vectors.ts";
import { SimulatedIndex, ROW, allRows, countedRows, rowOf } from "./tiers_simulated.ts";

const COUNT = 300;

/** Phases of nodes, the same ones for a seed. */
function phasesOf(seed: number, phases = 6, size = 12): number[][] {
  let state = seed * 7919 + 17;
  const next = () => (state = (state * 48271) % 2147483647) % COUNT;
  return Array.from({ length: phases }, () => Array.from({ length: size }, next));
}

/** The rows that a search over these phases must have looked at, in any order. */
function expectedOf(phases: number[][]): string[] {
  return phases.flatMap((nodes) => [...new Set(nodes)].map((node) => rowOf(node).join())).sort();
}

for (const isSync of [true, false]) {
  for (const eviction of ["fifo", "lru", "hub"] as const) {
    for (const capacity of [0, 1, 5, 60, COUNT]) {
      const name = `${isSync ? "at once" : "later"}, ${eviction}, ${capacity} rows in Wasm`;
      test(`every search sees the rows of its nodes: ${name}`, async () => {
        const index = new SimulatedIndex(COUNT, 0);
        const tiers = openVectors(index.engine, countedRows(COUNT, isSync), {
          budget: (capacity + 20) * ROW,
          wasmLimit: capacity * ROW,
          eviction,
        });
        for (let seed = 0; seed < 20; seed++) {
          const phases = phasesOf(seed);
          const search = index.search(phases);

          await tiers.run(search);

          assert.deepEqual(search.seen.map((row) => row.join()).sort(), expectedOf(phases));
        }
        assert.equal(tiers.stats.wasm.capacity, capacity);
        assert.equal(tiers.stats.js.capacity, Math.min(20, COUNT - capacity));
      });
    }
  }
}

test("searches side by side see their rows though each changes what is in memory", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  const tiers = openVectors(index.engine, countedRows(COUNT, false), { budget: 30 * ROW });
  const all = Array.from({ length: 8 }, (_, seed) => phasesOf(seed));
  const searches = all.map((phases) => index.search(phases));

  const running = searches.map((search) => tiers.run(search));
  tiers.setBudget(4 * ROW);
  await Promise.all(running);

  searches.forEach((search, i) => {
    const seen = search.seen.map((row) => row.join()).sort();
    assert.deepEqual(seen, expectedOf(all[i] as number[][]));
  });
});

test("a row that leaves Wasm memory is found in JavaScript's, and is not read again", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  const rows = countedRows(COUNT, true);
  const tiers = openVectors(index.engine, rows, { budget: 4 * ROW, wasmLimit: 2 * ROW, eviction: "fifo" });

  for (const nodes of [[1, 2], [3, 4], [1, 2], [3, 4]]) await tiers.run(index.search([nodes]));

  assert.deepEqual(rows.log, [[1, 2], [3, 4]]);
  assert.equal(tiers.stats.js.hits, 4);
  assert.equal(tiers.stats.wasm.evictions, 6);
  assert.equal(tiers.stats.storage.reads, 2);
  assert.equal(tiers.stats.rowsRead, 4);
  assert.equal(tiers.stats.searches, 4);
});

test("what one phase wants is read in one go", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  const rows = countedRows(COUNT, false);
  const tiers = openVectors(index.engine, rows, { budget: 0 });

  await tiers.run(index.search([[5, 9, 200], [7]]));

  assert.deepEqual(rows.log, [[5, 9, 200], [7]]);
});

test("a budget grows and shrinks without losing rows that have room", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  const rows = countedRows(COUNT, true);
  const tiers = openVectors(index.engine, rows, { budget: 20 * ROW, wasmLimit: 10 * ROW });
  const nodes = Array.from({ length: 20 }, (_, i) => i * 3);
  await tiers.run(index.search([nodes.slice(0, 10)]));
  await tiers.run(index.search([nodes.slice(10)]));

  tiers.setBudget(40 * ROW);
  tiers.setBudget(20 * ROW);
  await tiers.run(index.search([nodes.slice(0, 10)]));
  await tiers.run(index.search([nodes.slice(10)]));

  assert.equal(rows.log.length, 2);
  tiers.setBudget(5 * ROW);
  assert.equal(tiers.stats.bytes, 5 * ROW);
  const again = index.search([nodes]);
  await tiers.run(again);
  assert.deepEqual(again.seen.map((row) => row.join()).sort(), expectedOf([nodes]));
  assert.throws(() => tiers.setBudget(-1), { reason: "InvalidArgument" });
});

test("the eviction that keeps hubs keeps upper layers and nodes that many links lead to", async () => {
  const kept = async (eviction: "hub" | "lru") => {
    const index = new SimulatedIndex(COUNT, 0);
    const tiers = openVectors(index.engine, countedRows(COUNT, true), { budget: 40 * ROW, eviction });
    for (let seed = 0; seed < 60; seed++) await tiers.run(index.search(phasesOf(seed, 2, 8)));
    let degree = 0;
    for (let slot = 0; slot < 40; slot++) degree += index.resident.nodeAt(slot) % 10;
    return degree;
  };
  const [hub, lru] = [await kept("hub"), await kept("lru")];

  assert.ok(hub > 1.2 * lru, `${hub} and ${lru}`);
});

test("the least recently used row goes first", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  const tiers = openVectors(index.engine, countedRows(COUNT, true), { budget: 2 * ROW, eviction: "lru" });

  for (const nodes of [[1], [2], [1], [3]]) await tiers.run(index.search([nodes]));

  assert.ok(index.resident.slotOf(1) >= 0);
  assert.equal(index.resident.slotOf(2), -1);
});

test("an eviction of one's own that chooses nonsense costs nothing but its choice", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  for (const choice of [-1, 999, Number.NaN, 0]) {
    const eviction = { name: "own", choose: () => choice };
    const tiers = openVectors(index.engine, countedRows(COUNT, true), { budget: 3 * ROW, eviction });
    const phases = phasesOf(4);
    const search = index.search(phases);

    await tiers.run(search);

    assert.deepEqual(search.seen.map((row) => row.join()).sort(), expectedOf(phases));
    tiers.close();
  }
});

test("a read that fails leaves the tiers as they were, and the next one works", async () => {
  for (const isSync of [true, false]) {
    let fails = true;
    const whole = memorySource(allRows(COUNT));
    const failing = (): void => {
      if (fails) throw new GossamerError("Truncated", "the file was cut short");
    };
    const source: ByteSource = {
      ...whole,
      read: async (...args) => (failing(), whole.read(...args)),
      readMany: async (...args) => (failing(), whole.readMany?.(...args) ?? []),
      readNow: (at, into) => (failing(), whole.readNow?.(at, into)),
    };
    if (!isSync) delete (source as { readNow?: unknown }).readNow;
    const index = new SimulatedIndex(COUNT, 0);
    const tiers = openVectors(index.engine, storedRows(source, 0, ROW), { budget: 10 * ROW });
    await assert.rejects(tiers.run(index.search([[1, 2, 3]])), { reason: "Truncated" });
    fails = false;
    const search = index.search([[1, 2, 3], [4, 5, 6, 7, 8, 9, 10, 11]]);

    await tiers.run(search);

    assert.equal(tiers.stats.wasm.used, 10);
    assert.deepEqual(
      search.seen.map((row) => row.join()).sort(),
      expectedOf([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]),
    );
  }
});

test("a cancelled search stops asking", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  const rows = countedRows(COUNT, false);
  const tiers = openVectors(index.engine, rows, { budget: 0 });

  await assert.rejects(tiers.run(index.search([[1]]), AbortSignal.abort()), { reason: "Cancelled" });

  assert.equal(rows.log.length, 0);
});

test("warming reads what has room, hubs first", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  const tiers = openVectors(index.engine, countedRows(COUNT, true), { budget: 10 * ROW });

  await tiers.warm();

  const nodes = Array.from({ length: 10 }, (_, slot) => index.resident.nodeAt(slot));
  assert.ok([0, 100, 200].every((node) => nodes.includes(node)));
  assert.ok(nodes.every((node) => node % 100 === 0 || node % 10 === 9));
  tiers.setBudget(COUNT * ROW);
  await tiers.warm();
  const search = index.search(phasesOf(1));
  await tiers.run(search);
  assert.equal(tiers.stats.rounds, 0);
  assert.deepEqual(search.seen.map((row) => row.join()).sort(), expectedOf(phasesOf(1)));
});

test("rows that lie close together are read together, wherever the section begins", () => {
  const bytes = new Uint8Array(64 + COUNT * ROW);
  bytes.set(allRows(COUNT), 64);
  const whole = memorySource(bytes);
  const reads: [number, number][] = [];
  const source: ByteSource = {
    ...whole,
    readNow(at, into) {
      reads.push([at, into.length]);
      whole.readNow?.(at, into);
    },
  };
  const rows = storedRows(source, 64, 4);
  const nodes = [3, 4, 6, 299];
  const found = nodes.map(() => new Uint8Array(ROW));

  rows.readRowsNow?.(nodes, (i) => found[i] as Uint8Array);

  assert.deepEqual(found.map((row) => row.join()), nodes.map((node) => rowOf(node).join()));
  assert.equal(reads.length, 1);
});

test("an index whose vectors do not stay outside has no tiers", () => {
  const engine = { ...new SimulatedIndex(3, 1).engine, isDetached: false };

  assert.throws(() => openVectors(engine, countedRows(3, true), { budget: 4 }), { reason: "WrongState" });
});

test("a budget that memory refuses leaves the tiers as they were", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  const tiers = openVectors(index.engine, countedRows(COUNT, true), { budget: 10 * ROW, wasmLimit: 30 * ROW });
  await tiers.run(index.search([[1, 2, 3]]));
  const { resize } = index.resident;
  index.resident.resize = () => {
    throw new GossamerError("TooLarge", "there is not enough memory");
  };

  assert.throws(() => tiers.setBudget(100 * ROW), { reason: "TooLarge" });
  assert.throws(() => tiers.setBudget(2 * ROW), { reason: "TooLarge" });

  assert.equal(tiers.budget, 10 * ROW);
  assert.equal(tiers.stats.bytes, 10 * ROW);
  index.resident.resize = resize;
  const phases = phasesOf(3);
  const search = index.search(phases);
  await tiers.run(search);
  assert.deepEqual(search.seen.map((row) => row.join()).sort(), expectedOf(phases));
});

test("tiers that go over to another instance bring their rows along", async () => {
  const index = new SimulatedIndex(COUNT, 0);
  const rows = countedRows(COUNT, true);
  const tiers = openVectors(index.engine, rows, { budget: 40 * ROW });
  await tiers.run(index.search([[1, 2, 3]]));
  const next = new SimulatedIndex(COUNT, 0);

  tiers.moveTo(next.engine);

  const search = next.search([[1, 2, 3], [4]]);
  await tiers.run(search);
  assert.deepEqual(search.seen.map((row) => row.join()).sort(), expectedOf([[1, 2, 3, 4]]));
  assert.deepEqual(rows.log, [[1, 2, 3], [4]]);
  assert.equal(next.resident.capacity, 40);
});
