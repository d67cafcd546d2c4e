// One instance of a Wasm module: how its functions are called, how bytes go in and out, and what
// becomes of its failures. Views of its memory never leave this file: it may grow and move.

import { unzstd } from "../bytes/zstd.ts";
import { CORE_REASONS, GossamerError } from "../errors.ts";

/** What is lent to a call: copied into the memory of the module. */
export type Lent = Uint8Array | Uint32Array | Float32Array | Float64Array | null;

const ALIGNMENT = 16;
// A larger block is not kept for the next call.
const MOST_SCRATCH = 1 << 20;
const NOT_SUPPORTED = 52; // ENOSYS

/** What the module finds on our side while it runs. */
interface Host {
  memory: WebAssembly.Memory | null;
  findTokens: ((address: number, size: number) => number) | null;
}

/** Frees once, however often it is called. */
export function freeOnce(free: () => void): () => void {
  let isFree = false;
  return () => {
    if (!isFree) free();
    isFree = true;
  };
}

type Exported = (...values: number[]) => number;

/** An instance of a module. */
export class Core {
  readonly #host: Host = { memory: null, findTokens: null };
  readonly #memory: WebAssembly.Memory;
  readonly #exported: Record<string, Exported>;
  readonly #stack: { value: number };
  readonly #mostFailures: number;
  #failures = 0;
  #broken: string | null = null;
  // One block that is used again from call to call.
  #scratch = 0;
  #scratchBytes = 0;

  /** Starts an instance. A call that fails leaves behind what it had allocated: after `mostFailures` of
   * them the instance is broken, so that another one is started. */
  constructor(module: WebAssembly.Module, mostFailures = Infinity) {
    const { exports } = new WebAssembly.Instance(module, importsOf(module, this.#host));
    this.#memory = exports["memory"] as WebAssembly.Memory;
    this.#host.memory = this.#memory;
    this.#exported = exports as Record<string, Exported>;
    this.#stack = exports["__stack_pointer"] as unknown as { value: number };
    this.#mostFailures = mostFailures;
    this.#exported["_initialize"]?.();
  }

  /** Calls a function of the module; arrays are copied in for as long as it runs, and it is given their
   * addresses. Throws what it fails with as GossamerError; after a failure that is not one of its own it is
   * broken, and every later call fails with WrongState. */
  call(name: string, ...values: (number | Lent)[]): number {
    // Most calls have none, and some are made for each row of a search.
    if (values.every(isNumber)) return this.#run(name, values);
    const arrays = values.filter((value): value is Lent => !isNumber(value));
    return this.lend(arrays, (...addresses) => {
      let next = 0;
      return this.#run(
        name,
        values.map((value) => (typeof value === "number" ? value : (addresses[next++] as number))),
      );
    });
  }

  /** Copies arrays in for as long as `use` runs; null is address 0. */
  lend<T>(arrays: readonly Lent[], use: (...addresses: number[]) => T): T {
    const addresses = this.#room(arrays);
    arrays.forEach((array, i) => copyIn(this.#memory, addresses[i] as number, array));
    try {
      return use(...addresses);
    } finally {
      if (this.#broken === null && this.#scratchBytes > MOST_SCRATCH) this.#resizeScratch(0);
    }
  }

  /** While `use` runs, the module may ask where the tokens of a text begin. What `tokenStarts` throws
   * comes out as it is, and the call counts as failed. */
  whileAsking<T>(tokenStarts: (text: Uint8Array) => Uint32Array, use: () => T): T {
    const before = this.#host.findTokens;
    let thrown: { error: unknown } | null = null;
    this.#host.findTokens = (address, size) => {
      try {
        const starts = tokenStarts(this.bytes(size, address >>> 0));
        const answer = new Uint32Array(1 + starts.length);
        answer[0] = starts.length;
        answer.set(starts, 1);
        return this.give(answer);
      } catch (error) {
        thrown = { error };
        throw error;
      }
    };
    try {
      return use();
    } catch (error) {
      throw thrown ? (thrown as { error: unknown }).error : error;
    } finally {
      this.#host.findTokens = before;
    }
  }

  /** Copies an array in for good: whoever is given the address frees it. */
  give(array: Uint8Array | Uint32Array): number {
    const address = this.#run("alloc", [array.byteLength]);
    copyIn(this.#memory, address, array);
    return address;
  }

  /** Copies of what the last call gave: see given() in web/wasm/exports.h. */
  bytes(count: number, address = this.first()): Uint8Array {
    return new Uint8Array(this.#memory.buffer, address, count).slice();
  }

  words(count: number, address = this.first()): Uint32Array {
    return new Uint32Array(this.#memory.buffer, address, count).slice();
  }

  floats(count: number, address = this.first()): Float32Array {
    return new Float32Array(this.#memory.buffer, address, count).slice();
  }

  numbers(count: number, address = this.first()): Float64Array {
    return new Float64Array(this.#memory.buffer, address, count).slice();
  }

  /** Where the last call left what it gave. */
  first(): number {
    return this.#run("first", []);
  }

  second(): number {
    return this.#run("second", []);
  }

  /** The memory as it is now, for views that are used at once. */
  buffer(): ArrayBuffer {
    return this.#memory.buffer;
  }

  /** From now on every call fails with WrongState and this message. */
  break(message: string): void {
    this.#broken = message;
  }

  /** Whether every call fails. */
  isBroken(): boolean {
    return this.#broken !== null;
  }

  memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  #run(name: string, values: readonly number[]): number {
    if (this.#broken !== null) throw new GossamerError("WrongState", this.#broken);
    const top = this.#stack.value;
    try {
      return (this.#exported[name] as Exported)(...values) >>> 0;
    } catch (error) {
      this.#stack.value = top; // frames were left without being unwound
      if (error instanceof GossamerError) {
        if (++this.#failures >= this.#mostFailures) {
          this.#broken = `${this.#failures} calls failed; open the index again`;
        }
        throw error;
      }
      this.#broken = "the engine stopped unexpectedly before; open the index again";
      throw unexpected(error);
    }
  }

  /** Where arrays go in the block that is used again. */
  #room(arrays: readonly Lent[]): number[] {
    let end = 0;
    const offsets = arrays.map((array) => {
      const start = end;
      end += Math.ceil((array?.byteLength ?? 0) / ALIGNMENT) * ALIGNMENT;
      return start;
    });
    // Room for one more, so that an empty array has an address of its own too.
    if (end + ALIGNMENT > this.#scratchBytes) this.#resizeScratch(end + ALIGNMENT);
    return offsets.map((offset, i) => (arrays[i] === null ? 0 : this.#scratch + offset));
  }

  #resizeScratch(bytes: number): void {
    if (this.#scratch !== 0) this.#run("release", [this.#scratch]);
    this.#scratch = this.#scratchBytes = 0;
    if (bytes === 0) return;
    this.#scratch = this.#run("alloc", [bytes]);
    this.#scratchBytes = bytes;
  }
}

function isNumber(value: number | Lent): value is number {
  return typeof value === "number";
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
