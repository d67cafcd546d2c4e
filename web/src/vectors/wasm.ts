// Where the Wasm modules of vectors lie. Bundlers find them, and follow, by how the addresses are written.

import { diskSource, isOnDisk } from "../bytes/disk.ts";
import type { WasmFiles } from "../core/load.ts";

const BESIDE: Readonly<Record<string, URL>> = {
  "gossamer-vectors.wasm": new URL("./gossamer-vectors.wasm", import.meta.url),
  "gossamer-vectors-relaxed.wasm": new URL("./gossamer-vectors-relaxed.wasm", import.meta.url),
  "gossamer-build.wasm": new URL("./gossamer-build.wasm", import.meta.url),
  "gossamer-build-relaxed.wasm": new URL("./gossamer-build-relaxed.wasm", import.meta.url),
};

const known = new Map<string, WasmFiles>();

/** The modules in a folder, or beside this one; each is compiled once. */
export function vectorWasm(folder: string | null): WasmFiles {
  const before = known.get(folder ?? "");
  if (before) return before;
  const files = {
    fetch: async (name: string) => {
      const url = folder === null ? (BESIDE[name] as URL) : new URL(name, folder);
      if (!isOnDisk(url)) return fetch(url);
      const file = diskSource(url);
      return file.read(0, file.size).finally(() => file.close()) as Promise<Uint8Array<ArrayBuffer>>;
    },
  };
  known.set(folder ?? "", files);
  return files;
}
