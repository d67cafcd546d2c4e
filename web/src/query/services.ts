import { loadBuilder, loadChunks, loadEngine, loadFilters, loadText } from "../core/load.ts";
import type { WasmFiles } from "../core/load.ts";
import type { ChunkCore } from "../core/chunks.ts";
import type { Engine } from "../core/engine.ts";
import type { FilterCore } from "../core/filters.ts";
import type { StaticModel, TextCore } from "../core/text.ts";
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
  /** The address of another file of the package. */
  addressOf(name: string): string;
}

/** Services that load Wasm from `wasm` and keep indexes in `storage`; the best there is without it. `addressOf` says
 * where other files of the package are. */
export function makeServices(wasm: WasmFiles, storage?: Storage, addressOf = (name: string) => name): Services {
  return {
    models: new Map(),
    addressOf,
    storage: lazyPromise(async () => storage ?? openStorage()),
    text: lazyPromise(() => loadText(wasm)),
    chunks: lazyPromise(() => loadChunks(wasm)),
    filters: lazyPromise(() => loadFilters(wasm)),
    newEngine: () => loadEngine(wasm),
    newBuilder: () => loadBuilder(wasm),
  };
}
