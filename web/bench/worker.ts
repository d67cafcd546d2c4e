// Our side of the benchmark: the package's engine and tiers, as its own worker uses them.

import type { ByteSource } from "../src/bytes/source.ts";
import type { BuildEngineOptions, EngineIndex, EngineRequest } from "../src/core/engine.ts";
import { loadBuilder, loadEngine } from "../src/core/load.ts";
import { openContainer, SECTIONS } from "../src/format/container.ts";
import type { Container } from "../src/format/container.ts";
import { openEngineParts } from "../src/format/parts.ts";
import type { EvictionName } from "../src/records.ts";
import { openStorage } from "../src/storage/open.ts";
import { storedRows } from "../src/tiers/rows.ts";
import { openVectors } from "../src/tiers/vectors.ts";
import type { VectorTiers } from "../src/tiers/vectors.ts";

const FOLDER = "bench";
const wasm = { fetch: (name: string) => fetch(name) };

interface Opened {
  readonly index: EngineIndex;
  readonly tiers: VectorTiers | null;
  readonly source: ByteSource;
  readonly vectorBytes: number;
}

/** How an index is opened; without a share its vectors are all in memory. */
export interface Opening {
  readonly file: string;
  readonly storage: "opfs" | "indexeddb";
  readonly share?: number; // of the vectors that memory holds
  readonly eviction?: EvictionName;
}

const opened = new Map<string, Opened>();

const STEPS = {
  /** Puts a file of the site into storage; the milliseconds that writing took. */
  async put(url: string, storage: Opening["storage"], file: string): Promise<number> {
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
    const started = performance.now();
    const folder = await (await openStorage(storage)).folder(FOLDER);
    const sink = await folder.create(file);
    await sink.write(bytes);
    await sink.close();
    return performance.now() - started;
  },

  async open(name: string, opening: Opening) {
    const started = performance.now();
    const folder = await (await openStorage(opening.storage)).folder(FOLDER);
    const source = await folder.open(opening.file);
    const container = await openContainer(source);
    const engine = await loadEngine(wasm);
    const { share } = opening;
    const parts = await openEngineParts(container, { withVectors: share === undefined });
    const place = container.sectionAt(SECTIONS.vectors) ?? { at: 0, length: 0 };
    const budget = Math.ceil(place.length * (share ?? 1));
    const index = engine.open(parts, share === undefined ? {} : { residentBytes: budget });
    const tiers = share === undefined ? null : tiersOf(index, source, place.at, budget, opening);
    opened.set(name, { index, tiers, source, vectorBytes: place.length });
    return {
      ms: performance.now() - started,
      kernels: engine.kernels,
      bytes: sizesOf(container),
      wasmBytes: engine.memoryBytes(),
    };
  },

  async search(name: string, query: Float32Array, request: EngineRequest) {
    const started = performance.now();
    const { index, tiers } = find(name);
    const search = index.search(query, request);
    try {
      if (tiers) await tiers.run(search);
      const { ids } = search.nearest();
      return { ids, innerMs: performance.now() - started };
    } finally {
      search.free();
    }
  },

  /** What a search does, on average over these queries; an array of queries end to end. */
  async counters(name: string, queries: Float32Array, request: EngineRequest) {
    const { index, tiers } = find(name);
    const sums: Record<string, number> = {};
    const count = queries.length / index.dim;
    let strategy = "";
    for (let i = 0; i < count; i++) {
      const search = index.search(queries.subarray(i * index.dim, (i + 1) * index.dim), request);
      if (tiers) await tiers.run(search);
      strategy = search.strategy;
      for (const [key, value] of Object.entries(search.counters())) {
        sums[key] = (sums[key] ?? 0) + value / count;
      }
      search.free();
    }
    return { ...sums, strategy };
  },

  /** The way here and back, and nothing else. */
  echo: async (query: Float32Array) => ({ ids: [query.length], innerMs: 0 }),
  warm: async (name: string) => find(name).tiers?.warm(),
  stats: async (name: string) => find(name).tiers?.stats ?? null,

  async optimise(
    name: string,
    queries: Float32Array,
    request: EngineRequest,
    target: { share?: number; accessMs?: number },
  ) {
    const { index, tiers } = find(name);
    const { dim } = index;
    const count = queries.length / dim;
    const rows = Array.from({ length: count }, (_, i) => queries.slice(i * dim, (i + 1) * dim));
    return tiers?.optimise(rows, { ...target, request });
  },

  /** A graph built here; the milliseconds that took. */
  async build(name: string, vectors: Float32Array, dim: number, options: BuildEngineOptions) {
    const engine = await loadBuilder(wasm);
    const started = performance.now();
    const index = engine.build(vectors, dim, options);
    const ms = performance.now() - started;
    const source: ByteSource = { size: 0, read: async () => new Uint8Array(0), close: () => {} };
    opened.set(name, { index, tiers: null, source, vectorBytes: 0 });
    return ms;
  },

  async close(name: string) {
    const { index, tiers, source } = find(name);
    opened.delete(name);
    tiers?.close();
    index.free();
    source.close();
  },
};

export type Steps = typeof STEPS;

interface Call {
  readonly id: number;
  readonly step: keyof Steps;
  readonly given: readonly unknown[];
}

self.onmessage = async ({ data }: MessageEvent<Call>) => {
  const step = STEPS[data.step] as (...given: unknown[]) => Promise<unknown>;
  try {
    self.postMessage({ id: data.id, value: await step(...data.given) });
  } catch (error) {
    self.postMessage({ id: data.id, error: error instanceof Error ? (error.stack ?? "") : String(error) });
  }
};

function find(name: string): Opened {
  const found = opened.get(name);
  if (!found) throw new Error(`${name} is not open`);
  return found;
}

function tiersOf(
  index: EngineIndex,
  source: ByteSource,
  at: number,
  budget: number,
  opening: Opening,
): VectorTiers {
  const eviction = opening.eviction === undefined ? {} : { eviction: opening.eviction };
  return openVectors(index, storedRows(source, at, index.rowBytes), { budget, ...eviction });
}

function sizesOf(container: Container): Record<string, number> {
  const names = ["codebook", "codes", "vectors", "graph", "ids", "calibration"] as const;
  return Object.fromEntries(names.map((name) => [name, container.sectionAt(SECTIONS[name])?.length ?? 0]));
}
