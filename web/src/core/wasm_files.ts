// Where the Wasm modules come from, and whether what comes is one.

import { isPage } from "../bytes/answer.ts";
import { GossamerError } from "../errors.ts";
import type { WasmFiles } from "./load.ts";

/** Wasm files from where `addressOf` says that they are; read once each. */
export function wasmFrom(addressOf: (name: string) => string, read = fetchWasm): WasmFiles {
  const files = new Map<string, Promise<ArrayBuffer>>();
  const load = async (name: string): Promise<ArrayBuffer> => {
    const url = addressOf(name);
    const bytes = await read(url);
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

/** The bytes at an address. Unreachable if they do not come. */
export async function fetchWasm(url: string): Promise<ArrayBuffer> {
  const response = await fetch(url).catch(() => null);
  if (response?.ok) return response.arrayBuffer();
  throw notWasm(url, response ? `answered ${response.status}` : "did not answer");
}

/** Whether this begins as every module does: with a zero byte and "asm". */
function isWasm(bytes: ArrayBuffer): boolean {
  return bytes.byteLength >= 4 && new DataView(bytes).getUint32(0) === 0x0061736d;
}

function notWasm(url: string, said: string): GossamerError {
  const how =
    "serve the .wasm files of gossamer-web there, or run `npx gossamer-web copy public/gossamer` and give wasm: " +
    '"/gossamer/"';
  return new GossamerError("Unreachable", `${url} ${said}: ${how}`);
}
