// The built modules and the golden files, for tests in node.

import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";

import type { Effort, Engine, EngineIndex, EngineParts, Strategy } from "../src/core/engine.ts";
import type { WasmFiles } from "../src/core/load.ts";
import { writeContainer } from "../src/format/container.ts";

const GOLDEN = new URL("../../tests/data/format/v1/", import.meta.url);
const HEADER = 64;
const ENTRY = 32;

/** The modules of web/wasm/built. */
export const builtWasm: WasmFiles = {
  fetch: (name) => readFile(new URL(`../wasm/built/${name}`, import.meta.url)),
};

export const golden = JSON.parse(
  readFileSync(new URL("data/wasm/golden.json", import.meta.url), "utf8"),
) as {
  vectors: string;
  queries: string;
  answers: Record<string, { ids: number[] } & Record<Strategy, [number[][], number[][]]>>;
};
export const DIM = 16;
export const goldenNames = Object.keys(golden.answers);
export const vectors = floatsOf(golden.vectors);
export const queries = floatsOf(golden.queries);
export const PLENTY: Effort = { rerank: 200, beam: 200, ratio: 1 };

export function row(rows: Float32Array, i: number): Float32Array {
  return rows.slice(i * DIM, (i + 1) * DIM);
}

export function goldenFile(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.gossamer`, GOLDEN)));
}

/** The model pack of the file that has no codebook of its own. */
export function sharedPack(): Uint8Array {
  const bytes = new Uint8Array(readFileSync(new URL("shared.codebook", GOLDEN)));
  return writeContainer([{ kind: 2, bytes }]);
}

/** The parts of a whole file. What its table says is taken as it is, as far as there are bytes. */
export function partsOf(file: Uint8Array, without: readonly number[] = []): EngineParts {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const sections = new Map<number, Uint8Array>();
  const count = file.length < HEADER ? 0 : Math.min(view.getUint32(12, true), 64);
  const end = Math.min(HEADER + count * ENTRY, file.length);
  for (let at = HEADER; at + ENTRY <= end; at += ENTRY) {
    const start = Number(view.getBigUint64(at + 8, true));
    const length = Number(view.getBigUint64(at + 16, true));
    const kind = view.getUint32(at, true);
    if (!without.includes(kind)) sections.set(kind, file.slice(start, start + length));
  }
  return { head: file.slice(0, end), fileSize: file.length, sections };
}

export function openGolden(engine: Engine, name: string, file = goldenFile(name)): EngineIndex {
  const options = name === "shared-codebook" ? { pack: sharedPack() } : {};
  return engine.open(partsOf(file), options);
}

/** Runs a search to its end, supplying the golden vectors. */
export function nearest(index: EngineIndex, name: string, query: number, strategy: Strategy) {
  const request = { k: 5, recall: 0.9, strategy, effort: PLENTY };
  const search = index.search(row(queries, query), request);
  for (let ids = search.wanted(); ids.length > 0; ids = search.wanted()) {
    search.supply(vectorsOf(ids, name));
  }
  const found = search.nearest();
  search.free();
  return found;
}

export function vectorsOf(ids: readonly number[], name: string): Float32Array {
  const wanted = new Float32Array(ids.length * DIM);
  const scale = name === "coarse" ? 10 ** 10 : 1;
  ids.forEach((id, i) => wanted.set(row(vectors, Math.floor(id / scale)), i * DIM));
  return wanted;
}

function floatsOf(base64: string): Float32Array {
  return new Float32Array(new Uint8Array(Buffer.from(base64, "base64")).buffer);
}
