// An index whose vectors stay outside, without an engine: rows are four bytes that name their node.

import type { EngineIndex, EngineSearch, ResidentRows } from "../src/core/engine.ts";
import { memorySource } from "../src/bytes/memory.ts";
import { storedRows } from "../src/tiers/rows.ts";
import type { RowSource } from "../src/tiers/rows.ts";

export const ROW = 4;

/** What a search must have been given of a node. */
export function rowOf(node: number): Uint8Array {
  return Uint8Array.of(node & 255, node >> 8, 7, 7);
}

export function allRows(count: number): Uint8Array {
  const rows = new Uint8Array(count * ROW);
  for (let node = 0; node < count; node++) rows.set(rowOf(node), node * ROW);
  return rows;
}

/** Rows that are read without waiting, or one batch at a time; what was read is noted. */
export function countedRows(count: number, isSync: boolean): RowSource & { log: number[][] } {
  const stored = storedRows(memorySource(allRows(count)), 0, ROW);
  const log: number[][] = [];
  const readRows: RowSource["readRows"] = (nodes, signal) => {
    log.push([...nodes]);
    return stored.readRows(nodes, signal);
  };
  if (!isSync) return { isSync, readRows, log };
  return {
    isSync,
    log,
    readRows,
    readRowsNow(nodes, into) {
      log.push(Array.from(nodes));
      stored.readRowsNow?.(nodes, into);
    },
  };
}

export interface SimulatedSearch extends EngineSearch {
  readonly seen: Uint8Array[]; // the row of each node looked at
}

export class SimulatedIndex {
  readonly resident: ResidentRows;
  readonly engine: EngineIndex;
  private rows: Uint8Array;
  private nodes: number[];
  private stamp: Uint32Array;
  private epoch = 0;

  constructor(
    readonly nodeCount: number,
    capacity: number,
    private readonly phases: (query: Float32Array) => number[][] = () => [],
  ) {
    this.rows = new Uint8Array(capacity * ROW);
    this.nodes = new Array<number>(capacity).fill(-1);
    this.stamp = new Uint32Array(capacity);
    this.resident = this.makeResident();
    const known = { nodeCount, rowBytes: ROW, isDetached: true, resident: this.resident };
    const search = (query: Float32Array) => this.search(this.phases(query));
    this.engine = { ...known, search } as unknown as EngineIndex;
  }

  /** A search that looks at these nodes, phase by phase. */
  search(phases: number[][]): SimulatedSearch {
    this.epoch++;
    const seen: Uint8Array[] = [];
    const left = phases.map((nodes) => [...new Set(nodes)].sort((a, b) => a - b));
    const look = (node: number, given?: Uint8Array) => {
      const slot = this.nodes.indexOf(node);
      if (slot >= 0) this.stamp[slot] = this.epoch;
      seen.push((slot >= 0 ? this.resident.bytesOf(slot) : (given ?? new Uint8Array(0))).slice());
    };
    let wanted: number[] = [];
    const advance = () => {
      for (let nodes = left.shift(); nodes; nodes = left.shift()) {
        wanted = nodes.filter((node) => !this.nodes.includes(node));
        nodes.filter((node) => !wanted.includes(node)).forEach((node) => look(node));
        if (wanted.length > 0) return;
      }
      wanted = [];
    };
    advance();
    const simulated = {
      seen,
      wantedNodes: () => Uint32Array.from(wanted),
      supplyRows: (rows: Uint8Array) => {
        const others = wanted.filter((node) => !this.nodes.includes(node));
        if (rows.length !== others.length * ROW) throw new Error("another number of rows");
        wanted.forEach((node) => {
          const at = others.indexOf(node) * ROW;
          look(node, at < 0 ? undefined : rows.subarray(at, at + ROW));
        });
        advance();
      },
      counters: () => ({ rounds: 0, vectorsAsked: 0, distances: seen.length, codesTouched: 0, hops: 0 }),
      free: () => {},
    };
    return simulated as unknown as SimulatedSearch;
  }

  private makeResident(): ResidentRows {
    const self = this;
    return {
      get capacity() {
        return self.nodes.length;
      },
      get used() {
        return self.nodes.filter((node) => node >= 0).length;
      },
      slotOf: (node) => this.nodes.indexOf(node),
      nodeAt: (slot) => this.nodes[slot] ?? -1,
      bytesOf: (slot) => this.rows.subarray(slot * ROW, (slot + 1) * ROW),
      place: (slot, node) => {
        const before = this.nodes.indexOf(node);
        if (before >= 0) this.nodes[before] = -1;
        this.nodes[slot] = node;
        this.stamp[slot] = this.epoch;
      },
      forget: (slot) => {
        this.nodes[slot] = -1;
      },
      stamps: () => this.stamp,
      resize: (capacity) => {
        const rows = new Uint8Array(capacity * ROW);
        rows.set(this.rows.subarray(0, Math.min(rows.length, this.rows.length)));
        const stamp = new Uint32Array(capacity);
        stamp.set(this.stamp.subarray(0, capacity));
        this.nodes = Array.from({ length: capacity }, (_, slot) => this.nodes[slot] ?? -1);
        [this.rows, this.stamp] = [rows, stamp];
      },
      degreeOf: (node) => node % 10,
      levelOf: (node) => (node % 100 === 0 ? 1 : 0),
    };
  }
}
