// Engine over gossamer.wasm: an instance for each index, so that its memory goes with it.

import type {
  BuildEngineOptions,
  Engine,
  EngineIndex,
  EngineParts,
  EngineRequest,
  EngineSearch,
  Nearest,
  OpenCollection,
  OpenEngineOptions,
  Strategy,
} from "./engine.ts";
import { Core, freeOnce } from "./memory.ts";
import { collectionAt, type Collection } from "./query.ts";
import { residentRows } from "./resident.ts";
import { openCollection } from "./sources.ts";
import { checkQueries, fail, idsOf, placeOf, wholeNumber } from "./wasm_checks.ts";

// In the order of the enums in C++.
const STRATEGIES = ["auto", "scan", "walk", "two-level", "best-first", "lazy", "exact"] as const;
export const METRICS = ["ip", "cosine", "l2"] as const;
export const SCALARS = ["f32", "f16", "int8"] as const;
export const KEEPS = ["none", "hot", "all"] as const;
export const GRAPHS = ["none", "full", "hub", "slim"] as const;
export const MOST = 0xffffffff;
// What a failed call leaves in memory is some bytes for each id that it was given.
const MOST_FAILURES = 256;

// What changes an index.
const CHANGES = ["add", "addCodes", "codesOf", "remove", "compact", "applyDelta", "save"] as const;
export type Changes = Pick<EngineIndex, (typeof CHANGES)[number]>;

/** What only the module that builds can do. */
export interface Builder {
  /** The address of a new index. */
  build(core: Core, vectors: Float32Array, dim: number, options: BuildEngineOptions): number;
  changesOf(core: Core, handle: number, dim: number): Changes;
}

/** An engine over a compiled module; one without a builder only searches. */
export function wasmEngine(
  module: WebAssembly.Module,
  kernels: "simd" | "relaxed",
  builder: Builder | null,
): Engine {
  const cores = new Set<Core>();
  /** Starts an instance for what `make` gives the address of. */
  const start = (make: (core: Core) => number): EngineIndex => {
    const { core, free } = begin();
    return indexOf(core, make(core), free, builder);
  };
  const begin = () => {
    const core = new Core(module, MOST_FAILURES);
    cores.add(core);
    const free = () => {
      core.break("this index was closed; open it again");
      cores.delete(core);
    };
    return { core, free };
  };
  const building = (): Builder =>
    builder ?? fail("WrongState", "this engine only searches; load the one that builds for changes");
  return {
    kernels,
    canBuild: builder !== null,
    openCollection: (origin) => {
      const { core, free } = begin();
      try {
        const collection = collectionAt(core, openCollection(core, origin));
        return openedCollection(core, collection, free);
      } catch (error) {
        free();
        throw error;
      }
    },
    open: (parts, options) => start((core) => openParts(core, parts, options ?? {})),
    create: (pack) => {
      building();
      return start((core) => core.call("index_create", pack, pack.length));
    },
    build: (vectors, dim, options) => {
      const { build } = building();
      return start((core) => build(core, vectors, dim, options));
    },
    memoryBytes: () => [...cores].reduce((sum, core) => sum + core.memoryBytes(), 0),
  };
}

function openedCollection(core: Core, collection: Collection, free: () => void): OpenCollection {
  return Object.defineProperties(collection, {
    openIndex: {
      value: (parts: EngineParts, options: OpenEngineOptions = {}) => {
        const handle = openParts(core, parts, options);
        return indexOf(core, handle, () => void core.call("index_free", handle), null);
      },
    },
    isBroken: { get: () => core.isBroken() },
    free: { value: free },
  }) as OpenCollection;
}

function openParts(core: Core, parts: EngineParts, options: OpenEngineOptions): number {
  const head = core.give(parts.head);
  const handle = core.call("parts_new", head, parts.head.length, parts.fileSize);
  for (const [kind, bytes] of parts.sections) {
    core.call("parts_attach", handle, kind, core.give(bytes), bytes.length);
  }
  const pack = options.pack ?? null;
  core.call("index_open", handle, pack, pack?.length ?? 0, options.residentBytes ?? -1);
  return handle;
}

function indexOf(core: Core, handle: number, free: () => void, builder: Builder | null): EngineIndex {
  const info = (field: number): number => {
    core.call("index_info", handle);
    return core.numbers(10)[field] as number;
  };
  const dim = info(0);
  const rowBytes = info(7);
  const isDetached = info(9) === 1;
  return {
    dim,
    metric: METRICS[info(1)] as EngineIndex["metric"],
    scalar: SCALARS[info(2)] as EngineIndex["scalar"],
    keep: KEEPS[info(3)] as EngineIndex["keep"],
    graph: GRAPHS[info(4)] as EngineIndex["graph"],
    get count() {
      return info(5);
    },
    get nodeCount() {
      return info(6);
    },
    rowBytes,
    codeBytes: info(8),
    isDetached,
    get isBroken() {
      return core.isBroken();
    },
    resident: isDetached ? residentRows(core, handle, rowBytes) : null,
    search: (queries, request) => startSearch(core, handle, queries, checkQueries(queries, dim), request),
    ids: () => Array.from(core.numbers(core.call("index_ids", handle))),
    nodesOf: (ids) => core.words(core.call("index_nodes_of", handle, idsOf(ids), ids.length)),
    verify: () => void core.call("index_verify", handle),
    handle,
    searchAt: (address) => searchOf(core, address, () => undefined),
    free: freeOnce(() => {
      if (!core.isBroken()) free();
    }),
    ...(builder?.changesOf(core, handle, dim) ?? noChanges()),
  };
}

function noChanges(): Changes {
  const refuse = () => fail("WrongState", "this engine only searches; open the index with the one that builds");
  return Object.fromEntries(CHANGES.map((name) => [name, refuse])) as unknown as Changes;
}

function startSearch(
  core: Core,
  index: number,
  queries: Float32Array,
  count: number,
  request: EngineRequest,
): EngineSearch {
  const strategy = placeOf(STRATEGIES, request.strategy ?? "auto", "strategy");
  const allowed = request.allowed === undefined ? null : idsOf(request.allowed);
  const k = Math.min(wholeNumber(request.k, "k"), MOST);
  const effort = effortOf(request);
  const { recall } = request;
  const { length } = allowed ?? { length: 0 };
  const search = core.call("search_new", index, queries, count, k, recall, strategy, effort, allowed, length);
  return searchOf(core, search, freeOnce(() => core.call("search_free", search)));
}

function searchOf(core: Core, search: number, free: () => void): EngineSearch {
  const supply = (name: string, values: Uint8Array | Float32Array, missing?: Uint8Array): void => {
    core.call(name, search, values, values.length, missing ?? null, missing?.length ?? 0);
  };
  return {
    strategy: STRATEGIES[core.call("search_strategy", search)] as Strategy,
    wanted: () => Array.from(core.numbers(core.call("search_wanted", search))),
    wantedNodes: () => core.words(core.call("search_wanted_nodes", search)),
    supply: (vectors, missing) => supply("search_supply", vectors, missing),
    supplyRows: (rows, missing) => supply("search_supply_rows", rows, missing),
    nearest: (query = 0) => nearestOf(core, core.call("search_nearest", search, query)),
    counters: () => {
      core.call("search_counters", search);
      const [rounds, vectorsAsked, distances, codesTouched, hops] = core.numbers(5) as unknown as [
        number, number, number, number, number,
      ];
      return { rounds, vectorsAsked, distances, codesTouched, hops };
    },
    free,
  };
}

function nearestOf(core: Core, count: number): Nearest {
  const ids = Array.from(core.numbers(count));
  return { ids, distances: Array.from(core.floats(count, core.second())) };
}

/** The effort as C++ takes it; null leaves it to the recall. */
function effortOf(request: EngineRequest): Float64Array | null {
  if (request.effort === undefined) return null;
  const { rerank = 0, margin = 4, beam = 64, ratio = 0.1, batch = 16 } = request.effort;
  return Float64Array.of(
    Math.min(wholeNumber(rerank, "rerank"), MOST),
    margin,
    Math.min(wholeNumber(beam, "beam"), MOST),
    ratio,
    Math.min(wholeNumber(batch, "batch"), MOST),
  );
}
