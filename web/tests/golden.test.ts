import assert from "node:assert/strict";
import { test } from "node:test";

import type { Engine, Strategy } from "../src/core/engine.ts";
import { loadBuilder, loadEngine } from "../src/core/load.ts";
import { GossamerError } from "../src/errors.ts";
import {
  builtWasm,
  golden,
  goldenFile,
  goldenNames,
  nearest,
  openGolden,
  partsOf,
} from "./wasm_files.ts";

const engine = await loadEngine(builtWasm);
const builder = await loadBuilder(builtWasm);
const STRATEGIES: Strategy[] = ["scan", "walk", "two-level", "best-first", "lazy", "exact"];

for (const [which, each] of [[engine.kernels, engine], ["building", builder]] as const) {
  for (const name of goldenNames) {
    test(`the ${which} engine answers ${name} as Python does, with every strategy`, () => {
      const index = openGolden(each, name);

      for (const strategy of STRATEGIES.filter((s) => s in (golden.answers[name] ?? {}))) {
        const [ids, distances] = golden.answers[name]![strategy];
        ids.forEach((expected, query) => {
          const found = nearest(index, name, query, strategy);
          const context = `${name} ${strategy} ${query}`;
          found.distances.forEach((distance, i) => {
            const right = distances[query]?.[i] as number;
            assert.ok(Math.abs(distance - right) <= 1e-5, `${context}: ${distance} for ${right}`);
          });
          assert.deepEqual(found.ids, expected, context);
        });
      }
      index.free();
    });
  }
}

for (const name of goldenNames) {
  test(`${name} holds the ids it holds in Python, and passes verification`, () => {
    const index = openGolden(engine, name);

    index.verify();

    assert.deepEqual(index.ids(), golden.answers[name]?.ids);
    index.free();
  });

  test(`${name} saved again is the same file`, () => {
    const index = openGolden(builder, name);

    const file = index.save({ codebook: name !== "shared-codebook" });

    assert.deepEqual(Buffer.compare(file, goldenFile(name)), 0);
    index.free();
  });

  test(`${name} damaged anywhere is refused or answers, and nothing traps`, () => {
    const file = goldenFile(name);
    const places = Array.from({ length: 120 }, (_, i) => Math.floor((i * file.length) / 120));
    const front = Array.from({ length: 60 }, (_, i) => i * 7);
    for (const place of [...front, ...places]) {
      const damaged = file.slice();
      damaged[place] = (damaged[place] as number) ^ (1 << place % 8);
      checkRefusedOrAnswers(engine, name, damaged, place);
    }
  });

  test(`${name} cut off anywhere is refused`, () => {
    const file = goldenFile(name);
    for (let i = 0; i < 40; ++i) {
      const cut = file.slice(0, Math.floor((i * file.length) / 40));
      assert.throws(() => openGolden(engine, name, cut), isOnPurpose);
    }
  });
}

test("a section that is shorter than its table says is refused", () => {
  const parts = partsOf(goldenFile("none"));
  const sections = new Map(parts.sections);
  sections.set(3, (sections.get(3) as Uint8Array).slice(1));

  assert.throws(() => engine.open({ ...parts, sections }), isOnPurpose);
});

function checkRefusedOrAnswers(each: Engine, name: string, file: Uint8Array, place: number): void {
  try {
    const index = openGolden(each, name, file);
    for (const strategy of STRATEGIES.filter((s) => s in (golden.answers[name] ?? {}))) {
      nearest(index, name, 0, strategy);
    }
    index.verify();
    index.free();
  } catch (error) {
    assert.ok(isOnPurpose(error), `byte ${place}: ${String(error)}`);
  }
}

function isOnPurpose(error: unknown): boolean {
  return error instanceof GossamerError && !error.message.includes("stopped unexpectedly");
}
