// Three tiers of vectors: rows in Wasm memory, rows in JavaScript's memory, all rows in storage
// (or on a server). A search names the rows it lacks, all of one phase at once (WebANNS,
// algorithm 1); they are read in one go and stay until others need their place.

import type { EngineIndex, EngineSearch, ResidentRows } from "../core/engine.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { EvictionName } from "../records.ts";
import { evictionOf } from "./eviction.ts";
import type { Eviction } from "./eviction.ts";
import { optimiseTiers } from "./optimise_tiers.ts";
import type { CacheReport, OptimiseOptions } from "./optimise_tiers.ts";
import type { CacheWatch } from "./optimiser.ts";
import type { RowSource } from "./rows.ts";
import { makeSlab } from "./slab.ts";
import type { Slab } from "./slab.ts";
import { SlotKeeper } from "./slots.ts";
import type { TierStats } from "./stats.ts";

export interface TierOptions {
  readonly budget: number; // bytes of rows in memory, Wasm and JavaScript together
  /** Bytes of rows that Wasm memory takes at most; JavaScript's memory takes the rest. */
  readonly wasmLimit?: number;
  readonly eviction?: EvictionName | Eviction; // "lru"
  /** Milliseconds since some time; for tests. */
  readonly now?: () => number;
}

/** The vectors of a detached index, wherever their rows are. */
export interface VectorTiers {
  /** Supplies rows until the search wants no more. Searches may be under way side by side. */
  run(search: EngineSearch, signal?: AbortSignal): Promise<void>;
  /** Another budget; rows that have room in it stay in memory. It stands: what optimise() found is
   * not watched any longer. */
  setBudget(bytes: number): void;
  readonly budget: number;
  readonly stats: TierStats;
  /** Reads rows into empty slots before they are asked for: those that most searches pass first. */
  warm(signal?: AbortSignal): Promise<void>;
  /** Finds how little memory does, by test queries, and takes it: see optimiser.ts. Watches what
   * comes after, and takes more again when searches read more than they may. */
  optimise(queries: readonly Float32Array[], options: OptimiseOptions): Promise<CacheReport>;
  /** Lets go of JavaScript's rows; those in Wasm memory go with the index. */
  close(): void;
}

// A 32-bit Wasm memory has 4 GiB at most, which codes and graph share.
const WASM_LIMIT = 2 ** 30;
const WARM_ROWS = 512; // read at a time

/** Tiers over the slots of an index whose vectors stay outside (WrongState for another). */
export function openVectors(index: EngineIndex, rows: RowSource, options: TierOptions): VectorTiers {
  const { resident } = index;
  if (!index.isDetached || !resident) {
    throw new GossamerError(
      "WrongState",
      "the vectors of this index do not stay outside: open it with residentBytes",
    );
  }
  return new Tiers(index, resident, rows, options);
}

/** A row that a round wants and that is not in Wasm memory. */
interface Absent {
  readonly node: number;
  slot: number; // where it goes; -1 if there is no room
  row: Uint8Array | null; // where it goes instead
}

class Tiers implements VectorTiers {
  budget = 0;
  private readonly slab: Slab;
  private readonly slots: SlotKeeper;
  private readonly now: () => number;
  private readonly wasmLimit: number;
  private watch: CacheWatch | null = null;
  private searches = 0;
  private readonly wasm = { hits: 0, misses: 0 };
  private readonly js = { hits: 0, misses: 0 };
  private readonly storage = { reads: 0, rows: 0, bytes: 0, ms: 0 };
  private rounds = 0;

  constructor(
    private readonly index: EngineIndex,
    private readonly resident: ResidentRows,
    private readonly rows: RowSource,
    options: TierOptions,
  ) {
    const { eviction = "lru", wasmLimit = WASM_LIMIT, now = () => performance.now() } = options;
    this.wasmLimit = wasmLimit;
    this.now = now;
    this.slab = makeSlab(index.rowBytes, 0);
    const policy = typeof eviction === "string" ? evictionOf(eviction) : eviction;
    this.slots = new SlotKeeper(resident, this.slab, policy);
    this.setBudget(options.budget);
  }

  async run(search: EngineSearch, signal?: AbortSignal): Promise<void> {
    const readsBefore = this.storage.reads;
    let asked = 0;
    for (let nodes = search.wantedNodes(); nodes.length > 0; nodes = search.wantedNodes()) {
      throwIfAborted(signal);
      asked += nodes.length;
      this.rounds++;
      if (this.rows.readRowsNow) {
        this.supplyNow(search, nodes);
      } else {
        await this.supplyLater(search, nodes, signal);
      }
    }
    this.searches++;
    this.wasm.misses += asked;
    this.wasm.hits += Math.max(0, search.counters().distances - asked);
    const rowsNow = this.watch?.observe(this.storage.reads - readsBefore);
    if (rowsNow !== undefined) this.applyBudget(rowsNow * this.index.rowBytes);
  }

  setBudget(bytes: number): void {
    this.applyBudget(bytes);
    this.watch = null;
  }

  private applyBudget(bytes: number): void {
    if (!(bytes >= 0)) {
      throw new GossamerError("InvalidArgument", `a memory budget is a number of bytes, not ${bytes}`);
    }
    const { rowBytes, nodeCount } = this.index;
    const all = Math.min(Math.floor(bytes / rowBytes), nodeCount);
    const wasmRows = Math.min(all, Math.floor(this.wasmLimit / rowBytes));
    this.budget = bytes;
    if (all - wasmRows > this.slab.capacity) this.slab.resize(all - wasmRows);
    this.slots.resize(wasmRows);
    if (all - wasmRows < this.slab.capacity) this.slab.resize(all - wasmRows);
  }

  get stats(): TierStats {
    const { rowBytes } = this.index;
    const use = ({ capacity, used }: ResidentRows | Slab) => ({
      capacity,
      used,
      bytes: capacity * rowBytes,
    });
    return {
      searches: this.searches,
      rounds: this.rounds,
      bytes: (this.resident.capacity + this.slab.capacity) * rowBytes,
      rowsCached: this.wasm.hits + this.js.hits,
      rowsRead: this.storage.rows,
      wasm: { ...use(this.resident), ...this.wasm, evictions: this.slots.evictions },
      js: { ...use(this.slab), ...this.js, evictions: this.slots.demotions },
      storage: { ...this.storage },
    };
  }

  async warm(signal?: AbortSignal): Promise<void> {
    const nodes = this.slots.nodesToFill(this.index.nodeCount);
    for (let at = 0; at < nodes.length && this.slots.freeCount > 0; at += WARM_ROWS) {
      throwIfAborted(signal);
      const some = nodes.subarray(at, at + WARM_ROWS);
      const read = this.rows.readRowsNow ? null : await this.rows.readRows(some, signal);
      if (read) this.checkRead(read, some.length);
      const filled: Absent[] = [];
      some.forEach((node, i) => {
        if (this.resident.slotOf(node) >= 0) return;
        const slot = this.slots.takeFree();
        if (slot === undefined) return;
        filled.push({ node, slot, row: null });
        if (read) this.resident.bytesOf(slot).set(this.rowAt(read, i));
      });
      if (!read) this.readInto(filled);
      else for (const { node, slot } of filled) this.slots.place(slot, node);
    }
  }

  optimise(queries: readonly Float32Array[], options: OptimiseOptions): Promise<CacheReport> {
    this.watch = null;
    return optimiseTiers(this.index, this, this.rows, queries, options, this.now).then((found) => {
      this.watch = found.watch;
      return found.report;
    });
  }

  close(): void {
    this.watch = null;
    this.slab.resize(0);
  }

  // Rows go from storage straight to their slots. Those of JavaScript's memory change places with
  // those that they evict, before rows that are read push them out.
  private supplyNow(search: EngineSearch, nodes: Uint32Array): void {
    const { resident, index } = this;
    this.slots.beginRound(nodes);
    const absent: Absent[] = [];
    for (const node of nodes) if (resident.slotOf(node) < 0) absent.push({ node, slot: -1, row: null });
    const read = absent.filter((one) => !this.exchange(one));
    this.js.hits += absent.length - read.length;
    this.js.misses += read.length;
    for (const one of read) one.slot = this.slots.take();
    const left = absent.filter((one) => one.slot < 0);
    const rows = new Uint8Array(left.length * index.rowBytes);
    left.forEach((one, i) => {
      const row = this.rowAt(rows, i);
      if (one.row) row.set(one.row);
      one.row = row;
    });
    if (read.length > 0) this.readInto(read);
    search.supplyRows(rows);
  }

  /** Moves a row from JavaScript's memory to a slot, or holds it apart; false if it is not there. */
  private exchange(absent: Absent): boolean {
    if (!this.slab.has(absent.node)) return false;
    const row = new Uint8Array(this.index.rowBytes);
    this.slab.take(absent.node, row);
    absent.slot = this.slots.take();
    if (absent.slot < 0) {
      absent.row = row;
    } else {
      this.resident.bytesOf(absent.slot).set(row);
      this.slots.place(absent.slot, absent.node);
    }
    return true;
  }

  private readInto(read: readonly Absent[]): void {
    const { resident } = this;
    const started = this.now();
    try {
      const nodes = read.map(({ node }) => node);
      this.rows.readRowsNow?.(nodes, (i) => {
        const { slot, row } = read[i] as Absent;
        return row ?? resident.bytesOf(slot);
      });
    } catch (error) {
      for (const { slot } of read) if (slot >= 0) this.slots.giveBack(slot);
      throw error;
    }
    this.noteRead(read.length, this.now() - started);
    for (const { node, slot } of read) if (slot >= 0) this.slots.place(slot, node);
  }

  // While rows are on their way other searches may change the tiers: all rows of the round are
  // held apart until they are supplied.
  private async supplyLater(
    search: EngineSearch,
    nodes: Uint32Array,
    signal?: AbortSignal,
  ): Promise<void> {
    const { resident, index } = this;
    const held = new Uint8Array(nodes.length * index.rowBytes);
    const absent: number[] = [];
    nodes.forEach((node, i) => {
      const slot = resident.slotOf(node);
      if (slot >= 0) {
        this.rowAt(held, i).set(resident.bytesOf(slot));
      } else if (this.slab.take(node, this.rowAt(held, i))) {
        this.js.hits++;
      } else {
        this.js.misses++;
        absent.push(i);
      }
    });
    if (absent.length > 0) {
      const started = this.now();
      const asked = Uint32Array.from(absent, (i) => nodes[i] as number);
      const read = await this.rows.readRows(asked, signal);
      this.checkRead(read, asked.length);
      this.noteRead(asked.length, this.now() - started);
      absent.forEach((i, at) => this.rowAt(held, i).set(this.rowAt(read, at)));
    }
    this.slots.beginRound(nodes);
    const left = new Uint8Array(Math.max(0, nodes.length - resident.capacity) * index.rowBytes);
    let leftCount = 0;
    nodes.forEach((node, i) => {
      if (resident.slotOf(node) >= 0) return;
      const slot = this.slots.take();
      const target = slot < 0 ? this.rowAt(left, leftCount++) : resident.bytesOf(slot);
      target.set(this.rowAt(held, i));
      if (slot >= 0) this.slots.place(slot, node);
    });
    search.supplyRows(left);
  }

  private rowAt(rows: Uint8Array, i: number): Uint8Array {
    return rows.subarray(i * this.index.rowBytes, (i + 1) * this.index.rowBytes);
  }

  private checkRead(read: Uint8Array, count: number): void {
    const expected = count * this.index.rowBytes;
    if (read.length === expected) return;
    throw new GossamerError(
      "Truncated",
      `${count} vectors have ${expected} bytes and ${read.length} came: open the index again`,
    );
  }

  private noteRead(rows: number, ms: number): void {
    this.storage.reads++;
    this.storage.rows += rows;
    this.storage.bytes += rows * this.index.rowBytes;
    this.storage.ms += ms;
  }
}
