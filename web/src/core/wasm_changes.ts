// Changes of an index in gossamer-build.wasm.

import type { EngineIndex } from "./engine.ts";
import type { Core } from "./memory.ts";
import { checkPairs, checkRows, fail, idsOf } from "./wasm_checks.ts";

type Changes = Pick<
  EngineIndex,
  "add" | "addCodes" | "codesOf" | "remove" | "compact" | "applyDelta" | "save"
>;

/** What only the engine that builds can do with an index. */
export function changesOf(core: Core, handle: number, dim: number): Changes {
  /** What fails on its way may have changed half of the index: nothing is unwound. */
  const change = <T>(use: () => T): T => {
    checkBuilds(core);
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
    codesOf: (ids) => {
      checkBuilds(core);
      return core.bytes(core.call("index_codes_of", handle, idsOf(ids), ids.length));
    },
    remove: (ids) => {
      const names = idsOf(ids);
      change(() => core.call("index_remove", handle, names, ids.length));
    },
    compact: () => void change(() => core.call("index_compact", handle)),
    applyDelta: (delta) => void change(() => core.call("index_apply_delta", handle, delta, delta.length)),
    save: (options) => change(() => saved(core, handle, options ?? {})),
  };
}

function checkBuilds(core: Core): void {
  if (core.has("index_add")) return;
  fail("WrongState", "this engine only searches; open the index with the one that builds");
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
