import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import type { EngineIndex } from "../src/core/engine.ts";
import { loadBuilder, loadEngine } from "../src/core/load.ts";
import { GossamerError } from "../src/errors.ts";
import {
  builtWasm,
  DIM,
  golden,
  goldenFile,
  nearest,
  openGolden,
  partsOf,
  queries,
  row,
  sharedPack,
  vectors,
} from "./wasm_files.ts";

const engine = await loadEngine(builtWasm);
const builder = await loadBuilder(builtWasm);
const query = row(queries, 0);
const ASK = { k: 5, recall: 0.9 };
const COUNT = 200;

test("an index says what it is", () => {
  const index = openGolden(engine, "deletions");

  const { dim, metric, scalar, keep, graph, count, nodeCount, rowBytes, isDetached } = index;

  assert.deepEqual(
    { dim, metric, scalar, keep, graph, count, nodeCount, rowBytes, isDetached },
    {
      dim: DIM, metric: "l2", scalar: "int8", keep: "all", graph: "full",
      count: 170, nodeCount: 200, rowBytes: DIM, isDetached: false,
    },
  );
});

test("a query of another dimension is refused", () => {
  refuses("WrongDimension", () => openGolden(engine, "none").search(new Float32Array(3), ASK));
});

test("a query that is not finite is refused", () => {
  const bad = query.slice();
  bad[3] = NaN;

  refuses("NotFinite", () => openGolden(engine, "none").search(bad, ASK));
});

test("asking for nothing, or for a recall that is none, is refused", () => {
  const index = openGolden(engine, "none");

  refuses("InvalidArgument", () => index.search(query, { ...ASK, k: 0 }));
  refuses("InvalidArgument", () => index.search(query, { ...ASK, k: 1.5 }));
  refuses("InvalidArgument", () => index.search(query, { ...ASK, recall: 2 }));
  refuses("InvalidArgument", () => index.search(query, { ...ASK, effort: { beam: -1 } }));
  refuses("InvalidArgument", () => index.search(query, { ...ASK, strategy: "walk" }));
});

test("ids that the index does not hold are refused", () => {
  const index = openGolden(engine, "none");

  refuses("UnknownId", () => index.nodesOf([3, 999]));
  refuses("UnknownId", () => index.search(query, { ...ASK, allowed: [999] }));
  refuses("InvalidArgument", () => index.nodesOf([-1]));
});

test("after a refusal the index answers as before", () => {
  const index = openGolden(engine, "all-full");
  for (let i = 0; i < 100; ++i) refuses("NotFinite", () => index.search(query.map(() => NaN), ASK));

  const found = nearest(index, "all-full", 0, "best-first");

  assert.deepEqual(found.ids, golden.answers["all-full"]?.["best-first"][0][0]);
});

test("only what is allowed is found", () => {
  const index = openGolden(engine, "all-full");
  const search = index.search(query, { ...ASK, allowed: [1, 2, 3] });

  assert.deepEqual([...search.nearest().ids].sort(), [1, 2, 3]);
});

test("vectors that are missing are never found", () => {
  const index = openGolden(engine, "none");
  const search = index.search(query, { ...ASK, strategy: "exact" });
  const wanted = search.wanted();
  const missing = Uint8Array.from(wanted, (id) => (id < 190 ? 1 : 0));

  search.supply(vectors.slice(0, wanted.length * DIM), missing);

  assert.deepEqual(search.wanted(), []);
  assert.ok(search.nearest().ids.every((id) => id >= 190));
});

test("a supply of another size is refused", () => {
  const search = openGolden(engine, "none").search(query, ASK);

  refuses("InvalidArgument", () => search.supply(new Float32Array(DIM)));
});

test("counters tell what a search did", () => {
  const search = openGolden(engine, "all-full").search(query, { ...ASK, strategy: "best-first" });

  const { distances, hops } = search.counters();

  assert.ok(distances > 5 && hops > 0);
});

test("an index without its codebook needs the pack, and the right one", () => {
  const parts = partsOf(goldenFile("shared-codebook"));

  refuses("MissingCodebook", () => engine.open(parts));
  refuses("CodebookMismatch", () => engine.open(parts, { pack: goldenFile("hub") }));
});

test("a closed index is closed", () => {
  const index = openGolden(engine, "none");
  index.free();

  refuses("WrongState", () => index.ids());
});

test("searches leave memory as it is", () => {
  const index = openGolden(builder, "none");
  for (let i = 0; i < 50; ++i) nearest(index, "none", i % 8, "scan");
  const before = builder.memoryBytes();

  for (let i = 0; i < 3000; ++i) nearest(index, "none", i % 8, "scan");

  assert.equal(builder.memoryBytes(), before);
  index.free();
});

test("an index that is closed gives its memory back", () => {
  const before = engine.memoryBytes();
  const index = openGolden(engine, "none");

  index.free();

  assert.equal(engine.memoryBytes(), before);
});

test("the engine that searches does not build", () => {
  refuses("WrongState", () => engine.create(sharedPack()));
  const index = openGolden(engine, "none");
  refuses("WrongState", () => index.remove([1]));
  refuses("WrongState", () => index.codesOf([1]));
  assert.equal(index.count, COUNT);
});

test("an index grows from a pack, and what is saved opens again", () => {
  const index = builder.create(sharedPack());
  index.add([...Array(COUNT).keys()], vectors);
  index.remove([7]);

  const again = engine.open(partsOf(index.save()));

  assert.equal(again.count, COUNT - 1);
  assert.equal(nearest(again, "none", 0, "exact").ids[0], 146);
  refuses("UnknownId", () => again.nodesOf([7]));
});

test("codes of one index serve another of the same model", () => {
  const first = builder.create(sharedPack());
  first.add([5, 6], vectors.slice(0, 2 * DIM));
  const second = builder.create(sharedPack());

  second.addCodes([8, 9], first.codesOf([6, 5]));

  assert.deepEqual(second.codesOf([9, 8]), first.codesOf([5, 6]));
});

test("a graph built here leads to the nearest", () => {
  const index = builder.build(vectors, DIM, { keep: "all", graph: "full", scalar: "f32", maxDegree: 8 });

  const found = nearest(index, "all-full", 0, "best-first");

  assert.deepEqual(found.ids, golden.answers["all-full"]?.["exact"][0][0]);
});

test("after a change that failed the index is to be opened again", () => {
  const index = openGolden(builder, "none");

  refuses("DuplicateId", () => index.add([3], row(vectors, 0)));

  refuses("WrongState", () => index.search(query, ASK));
});

test("arguments that are refused before a change do no harm", () => {
  const index = openGolden(builder, "none");
  refuses("InvalidArgument", () => index.add([1000, 1001], row(vectors, 0)));
  refuses("WrongDimension", () => index.add([1000], new Float32Array(3)));

  assert.equal(index.count, COUNT);
});

test("a delta that is none is refused", () => {
  const index = openGolden(builder, "none");

  assert.throws(() => index.applyDelta(new Uint8Array(100)), GossamerError);
});

test("more than memory holds is too large, and no crash", () => {
  const parts = partsOf(goldenFile("all-full"));
  const fileSize = parts.fileSize;

  refuses("TooLarge", () =>
    engine.open({ ...parts, fileSize }, { residentBytes: 0, pack: hugeArray() }),
  );
});

test("modules stay small on the wire", async () => {
  const { gzipSync } = await import("node:zlib");
  const most = { gossamer: 182, "gossamer-relaxed": 182, "gossamer-filters": 50, "gossamer-chunks": 110 };
  for (const [name, kilobytes] of Object.entries(most)) {
    const file = readFileSync(new URL(`../wasm/built/${name}.wasm`, import.meta.url));
    assert.ok(gzipSync(file, { level: 9 }).length <= 1000 * kilobytes, name);
  }
});

test("with relaxed SIMD the golden files answer the same", () => {
  const self = fileURLToPath(new URL("golden.test.ts", import.meta.url));
  const flags = process.versions.node.startsWith("20.") ? ["--experimental-wasm-relaxed-simd"] : [];
  const environment = { ...process.env };
  delete environment["NODE_TEST_CONTEXT"];

  const done = spawnSync(
    process.execPath,
    [...flags, "--import", "tsx", "--test-name-pattern", "relaxed engine", self],
    { cwd: fileURLToPath(new URL("..", import.meta.url)), env: environment, encoding: "utf8" },
  );

  assert.equal(done.status, 0, done.stdout);
  assert.match(done.stdout, /the relaxed engine answers none/);
});

/** Says it has more bytes than a 32-bit memory, without taking them here. */
function hugeArray(): Uint8Array {
  return new Proxy(new Uint8Array(0), {
    get: (target, key) =>
      key === "byteLength" || key === "length" ? 0xffff0000 : Reflect.get(target, key, target),
  });
}

function refuses(reason: string, use: () => unknown | EngineIndex): void {
  assert.throws(use, (error: unknown) => {
    assert.ok(error instanceof GossamerError, String(error));
    assert.equal(error.reason, reason, error.message);
    return !error.message.includes("stopped unexpectedly");
  });
}
