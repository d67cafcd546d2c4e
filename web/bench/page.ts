// What benchmarks/browser/ drives in a page: `window.bench`.

import type { BuildVectorsOptions, OptimiseVectorsOptions, SearchVectorsOptions, StorageKind } from "../src/vectors/index.ts";
import type { Contender, Turns } from "./contender.ts";
import { takeTurns } from "./contender.ts";
import * as ours from "./ours.ts";
import type { Opening } from "./ours.ts";
import { clientVectorSearch, hnswlib, mememo, rowsOf, voy } from "./rivals.ts";

const contenders = new Map<string, Contender>();
const floats = new Map<string, Promise<Float32Array>>();
const longTasks: number[] = [];
let graphs: Awaited<ReturnType<typeof hnswlib>>;

const bench = {
  /** Sets up one rival; the milliseconds that took. */
  async addRival(name: string, kind: keyof typeof RIVALS, url: string, dim: number, extra: RivalExtra) {
    const vectors = await floatsAt(url);
    const started = performance.now();
    contenders.set(name, await RIVALS[kind](vectors, dim, extra));
    return performance.now() - started;
  },

  /** Builds hnswlib-wasm's graph and sends its file to `keep`; the milliseconds of the build. */
  async buildHnswlib(url: string, dim: number, keep: string) {
    const vectors = await floatsAt(url);
    graphs = await hnswlib(dim, vectors.length / dim);
    const ms = graphs.build(vectors);
    await fetch(keep, { method: "PUT", body: (await graphs.save()) as Uint8Array<ArrayBuffer> });
    return ms;
  },

  async loadHnswlib(url: string, dim: number, count: number) {
    graphs = await hnswlib(dim, count);
    await graphs.load(new Uint8Array(await (await fetch(url)).arrayBuffer()));
  },

  addHnswlib: (name: string, ef: number) => void contenders.set(name, graphs.contender(ef)),

  put: (file: string, storage: StorageKind) => ours.put(file, storage),
  openOurs: (name: string, opening: Opening) => ours.open(name, opening),

  /** An index that is open, searched like this: a query at a time, or many in one call. */
  addOurs: (name: string, opened: string, asked: SearchVectorsOptions, isBatched: boolean) =>
    void contenders.set(name, ours.contender(opened, asked, isBatched)),

  remove: (name: string) => void contenders.delete(name),

  async turns(url: string, dim: number, turns: Turns) {
    return takeTurns(contenders, await floatsAt(url), dim, turns);
  },

  /** Searches for so many queries, whose rows memory then holds. */
  async fill(name: string, url: string, dim: number, count: number, asked: SearchVectorsOptions) {
    const queries = (await floatsAt(url)).slice(0, count * dim);
    for (const query of rowsOf(queries, dim)) await ours.find(name).search(query, asked);
  },

  warm: (name: string) => ours.find(name).warm(),
  status: (name: string) => ours.find(name).status(),
  closeOurs: (name: string) => ours.close(name),

  async optimise(name: string, url: string, dim: number, count: number, asked: OptimiseVectorsOptions) {
    const queries = (await floatsAt(url)).slice(0, count * dim);
    return ours.find(name).optimiseCache(rowsOf(queries, dim), asked);
  },

  build: async (url: string, dim: number, options: BuildVectorsOptions) =>
    ours.build(await floatsAt(url), dim, options),

  async reopen(url: string, dim: number, opening: Opening, asked: SearchVectorsOptions) {
    return ours.reopen((await floatsAt(url)).slice(0, dim), opening, asked);
  },

  /** Durations of tasks of the page's thread over 50 ms since the last call. */
  async takeLongTasks(): Promise<number[]> {
    await new Promise((resolve) => setTimeout(resolve, 100)); // entries come a little later
    return longTasks.splice(0);
  },
};

interface RivalExtra {
  readonly graph?: string;
  readonly wasm?: string;
  readonly ef?: number;
}

const RIVALS = {
  mememo: async (vectors: Float32Array, dim: number, extra: RivalExtra) =>
    mememo(await (await fetch(extra.graph ?? "")).json(), vectors, dim, false, extra.ef ?? 100),
  mememoStored: async (vectors: Float32Array, dim: number, extra: RivalExtra) =>
    mememo(await (await fetch(extra.graph ?? "")).json(), vectors, dim, true, extra.ef ?? 100),
  voy: async (vectors: Float32Array, dim: number, extra: RivalExtra) =>
    voy(await (await fetch(extra.wasm ?? "")).arrayBuffer(), vectors, dim),
  clientVectorSearch: async (vectors: Float32Array, dim: number) => clientVectorSearch(vectors, dim),
};

declare global {
  interface Window {
    bench: typeof bench;
  }
}
window.bench = bench;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) longTasks.push(entry.duration);
}).observe({ type: "longtask", buffered: true });

function floatsAt(url: string): Promise<Float32Array> {
  const load = async () => new Float32Array(await (await fetch(url)).arrayBuffer());
  const known = floats.get(url) ?? load();
  floats.set(url, known);
  return known;
}
