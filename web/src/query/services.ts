import { loadBuilder, loadChunks, loadEngine, loadFilters, loadText } from "../core/load.ts";
import type { WasmFiles } from "../core/load.ts";
import type { ChunkCore } from "../core/chunks.ts";
import type { Engine } from "../core/engine.ts";
import type { FilterCore } from "../core/filters.ts";
import type { StaticModel, TextCore } from "../core/text.ts";
import { GossamerError } from "../errors.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { lazyPromise } from "./promises.ts";

/** A model file, and what the text core made of it. */
export interface LoadedModel {
  readonly file: Uint8Array;
  readonly model: StaticModel;
}

/** What all indexes of a worker share. */
export interface Services {
  /** Models that were loaded, by fingerprint: indexes of one model share it, as do all states of one. */
  readonly models: Map<string, LoadedModel>;
  storage(): Promise<Storage>;
  text(): Promise<TextCore>;
  chunks(): Promise<ChunkCore>;
  filters(): Promise<FilterCore>;
  /** A new engine: its memory goes when the index that it is for is closed. */
  newEngine(): Promise<Engine>;
  /** A new engine that also builds. */
  newBuilder(): Promise<Engine>;
}

/** Services that load Wasm from `wasm` and keep indexes in `storage`; the best there is without it. */
export function makeServices(wasm: WasmFiles, storage?: Storage): Services {
  return {
    models: new Map(),
    storage: lazyPromise(async () => storage ?? openStorage()),
    text: lazyPromise(() => loadText(wasm)),
    chunks: lazyPromise(() => loadChunks(wasm)),
    filters: lazyPromise(() => loadFilters(wasm)),
    newEngine: () => loadEngine(wasm),
    newBuilder: () => loadBuilder(wasm),
  };
}

/** Wasm files from a folder on the page's server; fetched once each. */
export function wasmFrom(folder: string): WasmFiles {
  const files = new Map<string, Promise<ArrayBuffer>>();
  const load = async (name: string): Promise<ArrayBuffer> => {
    const url = new URL(name, folder).href;
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return response.arrayBuffer();
    const said = response ? `answered ${response.status}` : "did not answer";
    throw new GossamerError("Unreachable", `${url} ${said}; serve the Wasm files beside worker.js`);
  };
  return {
    fetch: (name) => {
      const known = files.get(name) ?? load(name);
      files.set(name, known);
      known.catch(() => files.delete(name));
      return known;
    },
  };
}
