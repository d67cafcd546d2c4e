// Fetches and compiles the Wasm modules; each is compiled once in a worker.

import { GossamerError } from "../errors.ts";
import { loadPart } from "../lazy.ts";
import type { Engine } from "./engine.ts";
import type { ChunkCore } from "./chunks.ts";
import { wasmFilters, type FilterCore } from "./filters.ts";
import { Core } from "./memory.ts";
import type { TextCore } from "./text.ts";
import { wasmEngine } from "./wasm_engine.ts";
import { wasmText } from "./wasm_text.ts";

/** Where the modules come from: a folder on a server, files in a package. */
export interface WasmFiles {
  fetch(name: string): Promise<BufferSource | Response>;
}

/** The engine that opens and searches. */
export async function loadEngine(wasm: WasmFiles): Promise<Engine> {
  return wasmEngine(await searchModule(wasm), kernels(), null);
}

/** The engine that also makes and changes indexes. */
export async function loadBuilder(wasm: WasmFiles): Promise<Engine> {
  const [module, { builder }] = await Promise.all([
    compiled(wasm, "gossamer-build.wasm"),
    loadPart(import("./builder.ts")),
  ]);
  return wasmEngine(module, "simd", builder);
}

/** The engine that opens and searches vectors of the page's own, without texts. */
export async function loadVectors(wasm: WasmFiles): Promise<Engine> {
  return wasmEngine(await fastModule(wasm, "gossamer-vectors"), kernels(), null);
}

/** The same that also makes and changes indexes. Its kernels are the fastest here: codes and links may
 * differ in the last bit from those that Python makes. */
export async function loadVectorBuilder(wasm: WasmFiles): Promise<Engine> {
  const [module, { builder }] = await Promise.all([
    fastModule(wasm, "gossamer-build"),
    loadPart(import("./builder.ts")),
  ]);
  return wasmEngine(module, kernels(), builder);
}

/** Tokens and token-table models, by the module that searches. */
export async function loadText(wasm: WasmFiles): Promise<TextCore> {
  const module = await searchModule(wasm);
  return wasmText(new Core(module), () => new Core(module, 1));
}

/** What filters. */
export async function loadFilters(wasm: WasmFiles): Promise<FilterCore> {
  const module = await compiled(wasm, "gossamer-filters.wasm");
  return wasmFilters(() => new Core(module, 1));
}

/** The module that searches. */
function searchModule(wasm: WasmFiles): Promise<WebAssembly.Module> {
  return fastModule(wasm, "gossamer");
}

/** The module of a name with relaxed SIMD, where the browser has it. */
function fastModule(wasm: WasmFiles, name: string): Promise<WebAssembly.Module> {
  return compiled(wasm, hasRelaxedSimd() ? `${name}-relaxed.wasm` : `${name}.wasm`);
}

function kernels(): Engine["kernels"] {
  return hasRelaxedSimd() ? "relaxed" : "simd";
}

/** What cuts documents into chunks. */
export async function loadChunks(wasm: WasmFiles): Promise<ChunkCore> {
  const [module, { wasmChunks }] = await Promise.all([
    compiled(wasm, "gossamer-chunks.wasm"),
    loadPart(import("./chunks.ts")),
  ]);
  return wasmChunks(() => new Core(module, 1));
}

// The smallest module with an instruction of relaxed SIMD.
// prettier-ignore
const RELAXED_PROBE = new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, // header
  1, 5, 1, 0x60, 0, 1, 0x7b, // a function without arguments gives a v128
  3, 2, 1, 0,
  10, 15, 1, 13, 0, 0x41, 0, 0xfd, 0x0f, 0x41, 0, 0xfd, 0x0f, 0xfd, 0x80, 2, 0x0b, // relaxed swizzle
]);

/** Whether this browser has relaxed SIMD. */
export function hasRelaxedSimd(): boolean {
  return WebAssembly.validate(RELAXED_PROBE);
}

const modules = new WeakMap<WasmFiles, Map<string, Promise<WebAssembly.Module>>>();

function compiled(wasm: WasmFiles, name: string): Promise<WebAssembly.Module> {
  const known = modules.get(wasm) ?? new Map<string, Promise<WebAssembly.Module>>();
  modules.set(wasm, known);
  const before = known.get(name);
  if (before !== undefined) return before;
  const module = compile(wasm, name);
  known.set(name, module);
  module.catch(() => known.delete(name)); // the next call tries again
  return module;
}

async function compile(wasm: WasmFiles, name: string): Promise<WebAssembly.Module> {
  const given = await wasm.fetch(name).catch((error: unknown) => {
    if (error instanceof GossamerError) throw error;
    throw new GossamerError("Unreachable", `${name} could not be fetched: ${String(error)}`);
  });
  try {
    if (!(given instanceof Response)) return await WebAssembly.compile(given);
    if (!given.ok) {
      throw new GossamerError(
        "Unreachable",
        `${name} could not be fetched: the server answered ${given.status}; put it beside the worker`,
      );
    }
    const isStreamed = given.headers.get("content-type")?.startsWith("application/wasm") ?? false;
    if (isStreamed) return await WebAssembly.compileStreaming(given);
    return await WebAssembly.compile(await given.arrayBuffer());
  } catch (error) {
    if (error instanceof GossamerError) throw error;
    // Not Damaged: that is said of indexes, which are then opened anew.
    throw new GossamerError("Unavailable", `${name} is no module that this browser runs: ${String(error)}`);
  }
}
