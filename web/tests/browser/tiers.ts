// For tests/test_web_tiers.py: an index whose vectors stay in storage, in a worker of a real browser.
import type { EngineIndex, Strategy } from "../../src/core/engine.ts";
import { loadEngine } from "../../src/core/load.ts";
import type { ByteSource } from "../../src/bytes/source.ts";
import { GossamerError } from "../../src/errors.ts";
import { SECTIONS, openContainer } from "../../src/format/container.ts";
import { openEngineParts } from "../../src/format/parts.ts";
import type { EvictionName } from "../../src/records.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Folder, Storage } from "../../src/storage/storage.ts";
import { storedRows } from "../../src/tiers/rows.ts";
import type { RowSource } from "../../src/tiers/rows.ts";
import { openVectors } from "../../src/tiers/vectors.ts";
import type { VectorTiers } from "../../src/tiers/vectors.ts";

type Step = readonly [name: string, ...given: (string | number | number[])[]];

const FILE = "vectors-1.gsm";
const wasm = { fetch: (name: string) => fetch(name) };
let folder: Folder;
let source: ByteSource;
let whole: EngineIndex;
let outside: EngineIndex;
let tiers: VectorTiers;
let place = { at: 0, length: 0 };

self.onmessage = async ({ data }: MessageEvent<Step>) => {
  const [name, ...given] = data;
  const step = (STEPS as Record<string, unknown>)[name] as (...given: unknown[]) => Promise<unknown>;
  const answer = await step(...given).then(
    (value) => ({ value: value ?? null }),
    (error: unknown) => ({
      reason: error instanceof GossamerError ? error.reason : "",
      message: error instanceof Error ? `${error.message}\n${error.stack}` : String(error),
    }),
  );
  self.postMessage(answer);
};

/** Rows of the file as it is now: a step may open it again. */
function currentRows(rowBytes: number): RowSource {
  const rows = () => storedRows(source, place.at, rowBytes);
  const now: RowSource["readRowsNow"] = (nodes, into) => rows().readRowsNow?.(nodes, into);
  return {
    isSync: source.readNow !== undefined,
    readRows: (nodes, signal) => rows().readRows(nodes, signal),
    ...(source.readNow ? { readRowsNow: now } : {}),
  };
}

async function answerOf(index: EngineIndex, query: number[], k: number, strategy: Strategy) {
  const search = index.search(Float32Array.from(query), { k, recall: 0.95, strategy });
  try {
    if (index === outside) await tiers.run(search);
    return { ...search.nearest(), strategy: search.strategy };
  } finally {
    search.free();
  }
}

const STEPS = {
  /** Puts the file into storage; opens it twice: in memory, and with so much of its vectors there. */
  async open(kind: Storage["kind"], url: string, share: number, eviction: EvictionName) {
    const storage = await openStorage(kind);
    folder = await storage.folder("tiers");
    const sink = await folder.create(FILE);
    await sink.write(new Uint8Array(await (await fetch(url)).arrayBuffer()));
    await sink.close();
    source = await folder.open(FILE);
    const container = await openContainer(source);
    place = container.sectionAt(SECTIONS.vectors) ?? place;
    whole = (await loadEngine(wasm)).open(await openEngineParts(container, { withVectors: true }));
    const engine = await loadEngine(wasm);
    const parts = await openEngineParts(container, { withVectors: false });
    const budget = place.length * share;
    outside = engine.open(parts, { residentBytes: budget });
    tiers = openVectors(outside, currentRows(outside.rowBytes), { budget, eviction });
    return { isSync: source.readNow !== undefined, isDetached: outside.isDetached };
  },
  whole: (query: number[], k: number, strategy: Strategy) => answerOf(whole, query, k, strategy),
  outside: (query: number[], k: number, strategy: Strategy) => answerOf(outside, query, k, strategy),
  async setBudget(share: number) {
    tiers.setBudget(place.length * share);
  },
  warm: () => tiers.warm(),
  stats: async () => tiers.stats,
  optimise: (queries: number[][], accessMs: number) =>
    tiers.optimise(queries.map((query) => Float32Array.from(query)), { accessMs }),
  /** Cuts the file off in the middle of its vectors. */
  async cut() {
    source.close();
    const root = await navigator.storage.getDirectory();
    const gossamer = await root.getDirectoryHandle("gossamer");
    for await (const directory of gossamer.values()) {
      const file = await (directory as FileSystemDirectoryHandle).getFileHandle(FILE);
      const stream = await file.createWritable({ keepExistingData: true });
      await stream.truncate(place.at + 1000);
      await stream.close();
    }
    source = await folder.open(FILE);
  },
};
