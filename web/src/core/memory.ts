// One instance of a Wasm module: how its functions are called, how bytes go in and out, and what
// becomes of its failures. Views of its memory never leave this file: it may grow and move.

import { unzstd } from "../bytes/zstd.ts";
import { CORE_REASONS, GossamerError } from "../errors.ts";

/** What is lent to a call: copied into the memory of the module. */
export type Lent = Uint8Array | Uint32Array | Float32Array | Float64Array | null;

export interface Core {
  has(name: string): boolean;
  /** Calls a function of the module. Throws what it fails with as GossamerError; after a failure
   * that is not one of its own it is broken, and every later call fails with WrongState. */
  call(name: string, ...values: number[]): number;
  /** Copies arrays in for as long as `use` runs; null is address 0. */
  lend<T>(arrays: readonly Lent[], use: (...addresses: number[]) => T): T;
  /** While `use` runs, the module may ask where the tokens of a text begin. What `tokenStarts` throws
   * comes out as it is, and the call counts as failed. */
  whileAsking<T>(tokenStarts: (text: Uint8Array) => Uint32Array, use: () => T): T;
  /** Copies bytes in for good: whoever is given the address frees it. */
  give(bytes: Uint8Array): number;
  /** Copies of what the last call gave: see given() in web/wasm/exports.h. */
  bytes(count: number, address?: number): Uint8Array;
  words(count: number, address?: number): Uint32Array;
  floats(count: number, address?: number): Float32Array;
  numbers(count: number, address?: number): Float64Array;
  /** Where the last call left what it gave. */
  first(): number;
  second(): number;
  /** The memory as it is now, for views that are used at once. */
  buffer(): ArrayBuffer;
  /** From now on every call fails with WrongState and this message. */
  break(message: string): void;
  /** Whether every call fails. */
  isBroken(): boolean;
  memoryBytes(): number;
}

const ALIGNMENT = 16;
// A larger block is not kept for the next call.
const MOST_SCRATCH = 1 << 20;
const NOT_SUPPORTED = 52; // ENOSYS

/** Starts an instance of a module. A call that fails leaves behind what it had allocated: after
 * `mostFailures` of them the instance is broken, so that another one is started. */
export function startCore(module: WebAssembly.Module, mostFailures = Infinity): Core {
  const host: Host = { memory: null, findTokens: null };
  const instance = new WebAssembly.Instance(module, importsOf(module, host));
  host.memory = instance.exports["memory"] as WebAssembly.Memory;
  return coreOf(instance, host, mostFailures);
}

/** What the module finds on our side while it runs. */
interface Host {
  memory: WebAssembly.Memory | null;
  findTokens: ((address: number, size: number) => number) | null;
}

/** Frees once, however often it is called. */
export function once(free: () => void): () => void {
  let isFree = false;
  return () => {
    if (!isFree) free();
    isFree = true;
  };
}

type Exported = (...values: number[]) => number;

function coreOf(instance: WebAssembly.Instance, host: Host, mostFailures: number): Core {
  const memory = host.memory as WebAssembly.Memory;
  let broken: string | null = null;
  let failures = 0;
  const exported = instance.exports as Record<string, Exported>;
  const stack = instance.exports["__stack_pointer"] as unknown as { value: number };

  const call = (name: string, ...values: number[]): number => {
    if (broken !== null) throw new GossamerError("WrongState", broken);
    const top = stack.value;
    try {
      return (exported[name] as Exported)(...values) >>> 0;
    } catch (error) {
      stack.value = top; // frames were left without being unwound
      if (error instanceof GossamerError) {
        if (++failures >= mostFailures) broken = `${failures} calls failed; open the index again`;
        throw error;
      }
      broken = "the engine stopped unexpectedly before; open the index again";
      throw unexpected(error);
    }
  };
  const give = (array: Uint8Array | Uint32Array): number => {
    const address = call("alloc", array.byteLength);
    copyIn(memory, address, array);
    return address;
  };
  const scratch = scratchOf(call);
  const at = (address: number | undefined): number => address ?? call("first");
  exported["_initialize"]?.();
  return {
    call,
    has: (name) => typeof exported[name] === "function",
    lend: (arrays, use) => {
      const addresses = scratch.room(arrays);
      arrays.forEach((array, i) => copyIn(memory, addresses[i] as number, array));
      try {
        return use(...addresses);
      } finally {
        if (broken === null) scratch.trim();
      }
    },
    whileAsking: (tokenStarts, use) => {
      const before = host.findTokens;
      let thrown: { error: unknown } | null = null;
      const ask = (text: Uint8Array): Uint32Array => {
        try {
          return tokenStarts(text);
        } catch (error) {
          thrown = { error };
          throw error;
        }
      };
      host.findTokens = (address, size) => {
        const starts = ask(new Uint8Array(memory.buffer, address >>> 0, size).slice());
        const answer = new Uint32Array(1 + starts.length);
        answer[0] = starts.length;
        answer.set(starts, 1);
        return give(answer);
      };
      try {
        return use();
      } catch (error) {
        throw thrown ? (thrown as { error: unknown }).error : error;
      } finally {
        host.findTokens = before;
      }
    },
    give,
    bytes: (count, address) => new Uint8Array(memory.buffer, at(address), count).slice(),
    words: (count, address) => new Uint32Array(memory.buffer, at(address), count).slice(),
    floats: (count, address) => new Float32Array(memory.buffer, at(address), count).slice(),
    numbers: (count, address) => new Float64Array(memory.buffer, at(address), count).slice(),
    first: () => call("first"),
    second: () => call("second"),
    buffer: () => memory.buffer,
    break: (message) => {
      broken = message;
    },
    isBroken: () => broken !== null,
    memoryBytes: () => memory.buffer.byteLength,
  };
}

/** One block that is used again from call to call. */
function scratchOf(call: Core["call"]) {
  let address = 0;
  let size = 0;
  const resize = (bytes: number): void => {
    if (address !== 0) call("release", address);
    address = size = 0;
    if (bytes === 0) return;
    address = call("alloc", bytes);
    size = bytes;
  };
  return {
    room(arrays: readonly Lent[]): number[] {
      let end = 0;
      const offsets = arrays.map((array) => {
        const start = end;
        end += Math.ceil((array?.byteLength ?? 0) / ALIGNMENT) * ALIGNMENT;
        return start;
      });
      // Room for one more, so that an empty array has an address of its own too.
      if (end + ALIGNMENT > size) resize(end + ALIGNMENT);
      return offsets.map((offset, i) => (arrays[i] === null ? 0 : address + offset));
    },
    trim(): void {
      if (size > MOST_SCRATCH) resize(0);
    },
  };
}

function copyIn(memory: WebAssembly.Memory, address: number, array: Lent): void {
  if (array === null || array.byteLength === 0) return;
  const from = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  new Uint8Array(memory.buffer).set(from, address);
}

function unexpected(error: unknown): GossamerError {
  const cause = error instanceof Error ? error.message : String(error);
  return new GossamerError(
    "Damaged",
    `the engine stopped unexpectedly (${cause}): the index is most likely damaged; ` +
      "open it again, and if that fails too, fetch or build it anew",
  );
}

/** What the module asks its host for: a way to fail, a clock, and files that are not there. */
function importsOf(module: WebAssembly.Module, own: Host): WebAssembly.Imports {
  const memory = (): WebAssembly.Memory => own.memory as WebAssembly.Memory;
  const imports: Record<string, Record<string, (...values: never[]) => unknown>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = () => NOT_SUPPORTED;
  }
  const host = (imports["host"] ??= {});
  host["fail"] = (reason: number, address: number, length: number) => {
    const bytes = new Uint8Array(memory().buffer, address >>> 0, length).slice();
    throw new GossamerError(CORE_REASONS[reason] ?? "Damaged", new TextDecoder().decode(bytes));
  };
  host["unpack"] = (packed: number, packedSize: number, out: number, size: number) => {
    const view = (at: number, length: number) => new Uint8Array(memory().buffer, at >>> 0, length);
    try {
      view(out, size).set(unzstd(view(packed, packedSize), size));
      return 1;
    } catch {
      return 0;
    }
  };
  host["find_tokens"] = (address: number, size: number) => own.findTokens?.(address, size) ?? 0;
  const system = imports["wasi_snapshot_preview1"];
  if (system?.["clock_time_get"] !== undefined) {
    system["clock_time_get"] = (_clock: number, _precision: bigint, address: number) => {
      const nanoseconds = BigInt(Math.round(performance.now() * 1e6));
      new DataView(memory().buffer).setBigUint64(address >>> 0, nanoseconds, true);
      return 0;
    };
  }
  return imports as WebAssembly.Imports;
}
