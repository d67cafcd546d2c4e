// Three tiers of vectors: rows in Wasm memory, rows in JavaScript's memory, all rows in storage
// (or on a server). A search names the rows it lacks, all of one phase at once (WebANNS,
// algorithm 1); they are read in one go and stay until others need their place.

import type { EngineIndex, EngineSearch, ResidentRows } from "../core/engine.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { nextTurn } from "../turns.ts";
import { evictionOf } from "./eviction.ts";
import type { TierOptions, VectorTiers } from "./interface.ts";
import { optimiseTiers } from "./optimise_tiers.ts";
import type { CacheReport, OptimiseOptions } from "./optimise_tiers.ts";
import type { CacheWatch } from "./optimiser.ts";
import type { RowSource } from "./rows.ts";
import { makeSlab } from "./slab.ts";
import type { Slab } from "./slab.ts";
import { SlotKeeper, copyRows } from "./slots.ts";
import type { TierStats } from "./stats.ts";

export type { TierOptions, VectorTiers } from "./interface.ts";

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
  watch: CacheWatch | null = null;
  private optimising: AbortController | null = null;
  private searches = 0;
  private readonly wasm = { hits: 0, misses: 0 };
  private readonly js = { hits: 0, misses: 0 };
  private readonly storage = { reads: 0, rows: 0, bytes: 0, ms: 0 };
  private rounds = 0;

  constructor(
    private index: EngineIndex,
    private resident: ResidentRows,
    private readonly rows: RowSource,
    options: TierOptions,
  ) {
    const { eviction = "lru", wasmLimit = WASM_LIMIT, now = () => performance.now() } = options;
    this.wasmLimit = wasmLimit;
    this.now = now;
    this.slab = makeSlab(index.rowBytes, 0);
    const policy = typeof eviction === "string" ? evictionOf(eviction) : eviction;
    this.slots = new SlotKeeper(resident, this.slab, policy);
    this.applyBudget(options.budget);
    this.watch = options.watch ?? null;
  }

  run(search: EngineSearch, signal?: AbortSignal): Promise<void> {
    return this.supply(search, true, signal);
  }

  setBudget(bytes: number): void {
    this.optimising?.abort();
    this.watch = null;
    this.applyBudget(bytes);
  }

  /** Supplies a search; what it reads stays in memory only if `keeps`. */
  private async supply(search: EngineSearch, keeps: boolean, signal?: AbortSignal): Promise<void> {
    const readsBefore = this.storage.reads;
    let asked = 0;
    for (let nodes = search.wantedNodes(); nodes.length > 0; nodes = search.wantedNodes()) {
      throwIfAborted(signal);
      asked += nodes.length;
      this.rounds++;
      if (keeps && this.rows.readRowsNow) {
        this.supplyNow(search, nodes);
      } else {
        await this.supplyLater(search, nodes, keeps, signal);
      }
    }
    this.searches++;
    this.wasm.misses += asked;
    this.wasm.hits += Math.max(0, search.counters().distances - asked);
    const rowsNow = this.watch?.observe(this.storage.reads - readsBefore);
    if (rowsNow !== undefined) this.applyBudget(rowsNow * this.index.rowBytes);
  }

  private applyBudget(bytes: number): void {
    if (!(bytes >= 0)) {
      throw new GossamerError("InvalidArgument", `a memory budget is a number of bytes, not ${bytes}`);
    }
    const { rowBytes, nodeCount } = this.index;
    const all = Math.min(Math.floor(bytes / rowBytes), nodeCount);
    const wasmRows = Math.min(all, Math.floor(this.wasmLimit / rowBytes));
    const before = this.slab.capacity;
    if (all - wasmRows > before) this.slab.resize(all - wasmRows);
    try {
      this.slots.resize(wasmRows);
    } catch (error) {
      this.slab.resize(before);
      throw error;
    }
    if (all - wasmRows < before) this.slab.resize(all - wasmRows);
    this.budget = bytes;
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
      if (!read) await nextTurn();
    }
  }

  async optimise(queries: readonly Float32Array[], options: OptimiseOptions): Promise<CacheReport> {
    if (this.optimising) throw new GossamerError("WrongState", "the cache is being optimised already");
    const overruled = new AbortController();
    this.optimising = overruled;
    this.watch = null;
    const tested = {
      index: this.index,
      source: this.rows,
      now: this.now,
      overruled: overruled.signal,
      budget: () => this.budget,
      setBudget: (bytes: number) => this.applyBudget(bytes),
      accesses: () => this.storage,
      fill: (signal?: AbortSignal) => this.warm(signal),
      run: (search: EngineSearch, keeps: boolean, signal?: AbortSignal) => this.supply(search, keeps, signal),
    };
    try {
      const { report, watch } = await optimiseTiers(tested, queries, options);
      this.watch = watch;
      return report;
    } finally {
      this.optimising = null;
    }
  }

  moveTo(index: EngineIndex): void {
    const { resident } = index;
    if (!resident) throw new GossamerError("WrongState", "the vectors of this index do not stay outside");
    copyRows(this.resident, resident);
    this.index = index;
    this.resident = resident;
    this.slots.moveTo(resident);
  }

  close(): void {
    this.optimising?.abort();
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
    keeps: boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    const { resident, index } = this;
    const held = await this.hold(nodes, keeps, signal);
    this.slots.beginRound(nodes);
    const absent = nodes.reduce((count, node) => count + Number(resident.slotOf(node) < 0), 0);
    const left = new Uint8Array(absent * index.rowBytes);
    let leftCount = 0;
    nodes.forEach((node, i) => {
      if (resident.slotOf(node) >= 0) return;
      const slot = keeps ? this.slots.take() : -1;
      const target = slot < 0 ? this.rowAt(left, leftCount++) : resident.bytesOf(slot);
      target.set(this.rowAt(held, i));
      if (slot >= 0) this.slots.place(slot, node);
    });
    search.supplyRows(left.subarray(0, leftCount * index.rowBytes));
  }

  /** Copies of rows, wherever they are. Those of JavaScript's memory move on if `keeps`. */
  private async hold(nodes: Uint32Array, keeps: boolean, signal?: AbortSignal): Promise<Uint8Array> {
    const { resident, slab } = this;
    const held = new Uint8Array(nodes.length * this.index.rowBytes);
    const absent: number[] = [];
    nodes.forEach((node, i) => {
      const slot = resident.slotOf(node);
      const row = this.rowAt(held, i);
      if (slot >= 0) {
        row.set(resident.bytesOf(slot));
      } else if (slab.take(node, row)) {
        if (!keeps) slab.put(node, row);
        this.js.hits++;
      } else {
        this.js.misses++;
        absent.push(i);
      }
    });
    if (absent.length === 0) return held;
    const started = this.now();
    const asked = Uint32Array.from(absent, (i) => nodes[i] as number);
    if (this.rows.readRowsNow) {
      this.rows.readRowsNow(asked, (at) => this.rowAt(held, absent[at] as number));
    } else {
      const read = await this.rows.readRows(asked, signal);
      this.checkRead(read, asked.length);
      absent.forEach((i, at) => this.rowAt(held, i).set(this.rowAt(read, at)));
    }
    this.noteRead(asked.length, this.now() - started);
    return held;
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
