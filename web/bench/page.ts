// What benchmarks/browser/ drives in a page: `window.bench`.

import type { EngineRequest } from "../src/core/engine.ts";
import type { Contender, Turns } from "./contender.ts";
import { takeTurns } from "./contender.ts";
import { clientVectorSearch, hnswlib, mememo, voy } from "./rivals.ts";
import type { Steps } from "./worker.ts";

const contenders = new Map<string, Contender>();
const floats = new Map<string, Promise<Float32Array>>();
const longTasks: number[] = [];
let graphs: Awaited<ReturnType<typeof hnswlib>>;
let worker = startWorker();

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

  /** An index that the worker has opened, searched like this. */
  addOurs: (name: string, opened: string, request: Omit<EngineRequest, "k">) =>
    void contenders.set(name, {
      search: (query, k) => worker.call("search", opened, query, { ...request, k }),
    }),

  /** Nothing but the way to the worker and back. */
  addEcho: (name: string) => void contenders.set(name, { search: (query) => worker.call("echo", query) }),

  remove: (name: string) => void contenders.delete(name),

  async turns(url: string, dim: number, turns: Turns) {
    return takeTurns(contenders, await floatsAt(url), dim, turns);
  },

  call: <Name extends keyof Steps>(step: Name, ...given: Parameters<Steps[Name]>) =>
    worker.call(step, ...given),

  /** The same with numbers `from` to `to` of the queries at an address. */
  async callWithQueries(
    step: "counters" | "optimise",
    name: string,
    url: string,
    from: number,
    to: number,
    ...rest: unknown[]
  ) {
    const queries = (await floatsAt(url)).slice(from, to);
    const call = worker.call as (...given: unknown[]) => Promise<unknown>;
    return call(step, name, queries, ...rest);
  },

  async build(name: string, url: string, dim: number, options: object) {
    return worker.call("build", name, await floatsAt(url), dim, options);
  },

  restartWorker() {
    worker.end();
    worker = startWorker();
  },

  /** From a new worker to the first answer, in milliseconds. */
  async reopen(url: string, dim: number, opening: Parameters<Steps["open"]>[1], request: EngineRequest) {
    const query = (await floatsAt(url)).slice(0, dim);
    bench.restartWorker();
    const started = performance.now();
    await worker.call("open", "reopened", opening);
    const openMs = performance.now() - started;
    const { ids } = await worker.call("search", "reopened", query, request);
    return { ms: performance.now() - started, openMs, ids };
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

function startWorker() {
  const own = new Worker("worker.js", { type: "module" });
  const waiting = new Map<number, (answer: { value: unknown; error?: string }) => void>();
  let last = 0;
  own.onmessage = ({ data }) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  return {
    call<Name extends keyof Steps>(step: Name, ...given: Parameters<Steps[Name]>): ReturnType<Steps[Name]> {
      const id = ++last;
      const answered = new Promise<unknown>((resolve, reject) => {
        waiting.set(id, ({ value, error }) => {
          if (error === undefined) resolve(value);
          else reject(new Error(error));
        });
      });
      own.postMessage({ id, step, given });
      return answered as ReturnType<Steps[Name]>;
    },
    end: () => own.terminate(),
  };
}
