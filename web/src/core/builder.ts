// What only gossamer-build.wasm does: indexes are made and changed.

import type { BuildEngineOptions } from "./engine.ts";
import type { Core } from "./memory.ts";
import { checkPairs, checkRows, fail, idsOf, placeOf, wholeNumber } from "./wasm_checks.ts";
import { type Builder, type Changes, GRAPHS, KEEPS, METRICS, MOST, SCALARS } from "./wasm_engine.ts";

export const builder: Builder = { build, changesOf };

function changesOf(core: Core, handle: number, dim: number): Changes {
  /** What fails on its way may have changed half of the index: nothing is unwound. */
  const change = <T>(use: () => T): T => {
    try {
      return use();
    } catch (error) {
      core.break("a change of this index failed and may have been made in part; open it again");
      throw error;
    }
  };
  return {
    add: (ids, vectors) => {
      const names = idsOf(ids);
      const count = checkRows(vectors, dim);
      checkPairs(ids.length, count);
      change(() => core.call("index_add", handle, names, count, vectors));
    },
    addCodes: (ids, codes) => {
      const names = idsOf(ids);
      change(() => core.call("index_add_codes", handle, names, ids.length, codes, codes.length));
    },
    codesOf: (ids) => core.bytes(core.call("index_codes_of", handle, idsOf(ids), ids.length)),
    remove: (ids) => {
      const names = idsOf(ids);
      change(() => core.call("index_remove", handle, names, ids.length));
    },
    compact: () => void change(() => core.call("index_compact", handle)),
    applyDelta: (delta) => void change(() => core.call("index_apply_delta", handle, delta, delta.length)),
    save: (options) => change(() => saved(core, handle, options ?? {})),
  };
}

function build(
  core: Core,
  vectors: Float32Array,
  dim: number,
  options: BuildEngineOptions,
): number {
  if (!Number.isInteger(dim) || dim < 1) fail("InvalidArgument", `expected a dimension, got ${dim}`);
  const count = checkRows(vectors, dim);
  const ids = options.ids === undefined ? null : idsOf(options.ids);
  if (ids !== null) checkPairs(ids.length, count);
  const values = Float64Array.of(
    dim,
    placeOf(METRICS, options.metric ?? "ip", "metric"),
    placeOf(SCALARS, options.scalar ?? "f16", "scalar"),
    placeOf(KEEPS, options.keep ?? "none", "keep"),
    placeOf(GRAPHS, options.graph ?? "none", "graph"),
    Math.min(wholeNumber(options.maxDegree ?? 0, "maxDegree"), MOST),
    Math.min(wholeNumber(options.effort ?? 0, "effort"), MOST),
  );
  const pack = options.pack ?? null;
  return core.call("index_build", vectors, count, ids, values, pack, pack?.length ?? 0);
}

function saved(
  core: Core,
  handle: number,
  options: { codebook?: boolean; calibration?: boolean },
): Uint8Array {
  const wants = [options.codebook ?? true, options.calibration ?? true].map(Number) as [number, number];
  const count = core.call("index_save", handle, ...wants);
  const places = core.words(2 * count);
  let size = 0;
  for (let i = 1; i < places.length; i += 2) size += places[i] as number;
  const file = new Uint8Array(size);
  let end = 0;
  for (let i = 0; i < places.length; i += 2) {
    const length = places[i + 1] as number;
    file.set(new Uint8Array(core.buffer(), places[i] as number, length), end);
    end += length;
  }
  return file;
}
