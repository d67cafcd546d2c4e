// The Wasm modules of vectors, and the worker. Bundlers find both, and follow, by how the addresses are written.

import { diskSource, isOnDisk } from "../bytes/disk.ts";
import type { WasmFiles } from "../core/load.ts";
import { fetchWasm, wasmFrom } from "../core/wasm_files.ts";
import { GossamerError } from "../errors.ts";
import type { Places } from "../worker/messages.ts";

const files: Readonly<Record<string, string>> = {
  "gossamer-vectors.wasm": new URL("./gossamer-vectors.wasm", import.meta.url).href,
  "gossamer-vectors-relaxed.wasm": new URL("./gossamer-vectors-relaxed.wasm", import.meta.url).href,
  "gossamer-build.wasm": new URL("./gossamer-build.wasm", import.meta.url).href,
  "gossamer-build-relaxed.wasm": new URL("./gossamer-build-relaxed.wasm", import.meta.url).href,
};

const known = new Map<string | null, WasmFiles>();

/** Where the modules are: in a folder, or beside this file. */
export function placesOf(folder: string | null): Places {
  return { wasm: folder, files };
}

/** The modules; each is compiled once. */
export function vectorWasm({ wasm, files }: Places): WasmFiles {
  const before = known.get(wasm);
  if (before) return before;
  const addressOf = (name: string) => (wasm === null ? (files[name] as string) : new URL(name, wasm).href);
  const made = wasmFrom(addressOf, readWasm);
  known.set(wasm, made);
  return made;
}

/** Where the worker of vectors is. */
export const WORKER_URL = new URL("./vectors-worker.js", import.meta.url);

/** Starts the worker of vectors. */
export function startWorker(): Worker {
  return new Worker(new URL("./vectors-worker.js", import.meta.url), { type: "module", name: "gossamer vectors" });
}

async function readWasm(url: string): Promise<ArrayBuffer> {
  if (!isOnDisk(url)) return fetchWasm(url);
  try {
    const file = diskSource(new URL(url));
    const bytes = await file.read(0, file.size).finally(() => file.close());
    return bytes.buffer as ArrayBuffer;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new GossamerError("Unreachable", `${why}; install gossamer-web again, or give the folder of its .wasm files as wasm`);
  }
}
