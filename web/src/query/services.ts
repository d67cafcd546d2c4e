import { isPage } from "../bytes/answer.ts";
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

/** Wasm files from where `addressOf` says that they are; fetched once each. */
export function wasmFrom(addressOf: (name: string) => string): WasmFiles {
  const files = new Map<string, Promise<ArrayBuffer>>();
  const load = async (name: string): Promise<ArrayBuffer> => {
    const url = addressOf(name);
    const response = await fetch(url).catch(() => null);
    if (!response?.ok) throw notWasm(url, response ? `answered ${response.status}` : "did not answer");
    const bytes = await response.arrayBuffer();
    if (isWasm(bytes)) return bytes;
    const what = isPage(new Uint8Array(bytes)) ? "a web page" : "something else";
    throw notWasm(url, `came as ${what}, not as WebAssembly`);
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

/** Whether this begins as every module does: with a zero byte and "asm". */
function isWasm(bytes: ArrayBuffer): boolean {
  return bytes.byteLength >= 4 && new DataView(bytes).getUint32(0) === 0x0061736d;
}

function notWasm(url: string, said: string): GossamerError {
  const how =
    "serve the .wasm files of gossamer-web there, or run `npx gossamer-web copy public/gossamer` and call " +
    'start({ wasm: "/gossamer/" })';
  return new GossamerError("Unreachable", `${url} ${said}: ${how}`);
}
