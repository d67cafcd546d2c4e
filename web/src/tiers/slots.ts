import type { ResidentRows } from "../core/engine.ts";
import { worthOf } from "./eviction.ts";
import type { Eviction, Slots } from "./eviction.ts";
import type { Slab } from "./slab.ts";

/** Brings the rows that are in memory along to another instance of the index. */
export function copyRows(from: ResidentRows, to: ResidentRows): void {
  to.resize(from.capacity);
  for (let slot = 0; slot < from.capacity; slot++) {
    const node = from.nodeAt(slot);
    if (node < 0) continue;
    to.bytesOf(slot).set(from.bytesOf(slot));
    to.place(slot, node);
  }
}

/** Who has which slot of Wasm memory: empty slots first, then those whose rows make room. */
export class SlotKeeper implements Slots {
  evictions = 0;
  demotions = 0; // rows that the slab let go for others
  private free: number[] = [];
  private nodes = new Int32Array(0); // for each slot its node: evictions ask often
  private busy = new Uint32Array(0); // for each slot the round that needs its row
  private round = 0;

  constructor(
    private rows: ResidentRows,
    private readonly slab: Slab,
    private readonly eviction: Eviction,
  ) {
    this.resize(rows.capacity);
  }

  get capacity(): number {
    return this.rows.capacity;
  }
  get freeCount(): number {
    return this.free.length;
  }
  nodeAt(slot: number): number {
    return this.nodes[slot] ?? -1;
  }
  stamps(): Uint32Array {
    return this.rows.stamps();
  }
  degreeOf(node: number): number {
    return this.rows.degreeOf(node);
  }
  levelOf(node: number): number {
    return this.rows.levelOf(node);
  }
  isBusy(slot: number): boolean {
    return this.busy[slot] === this.round;
  }

  /** Rows of these nodes stay where they are until the round is over. */
  beginRound(nodes: Uint32Array): void {
    this.round++;
    for (const node of nodes) {
      const slot = this.rows.slotOf(node);
      if (slot >= 0) this.busy[slot] = this.round;
    }
  }

  /** A slot to be place()d or given back at once, busy from now on; -1 if the round itself needs all rows that are in memory. */
  take(): number {
    const slot = this.free.pop() ?? this.evict();
    if (slot >= 0) this.busy[slot] = this.round;
    return slot;
  }

  /** An empty slot, if there is one. */
  takeFree(): number | undefined {
    return this.free.pop();
  }

  /** The slot is empty again, whatever became of the row that was there. */
  giveBack(slot: number): void {
    this.rows.forget(slot);
    this.free.push(slot);
  }

  /** The slot holds the row of this node now. */
  place(slot: number, node: number): void {
    this.rows.place(slot, node);
    this.nodes[slot] = node;
  }

  /** Another number of slots; rows of those that go move to empty ones, or to the slab. */
  resize(capacity: number): void {
    const { rows } = this;
    if (capacity !== rows.capacity) {
      for (let slot = capacity; slot < rows.capacity; slot++) this.moveDown(slot, capacity);
      try {
        rows.resize(capacity);
      } catch (error) {
        this.look(); // without memory for it, slots are as many as before
        throw error;
      }
    }
    this.look();
  }

  /** Takes over what the slots hold. */
  private look(): void {
    const { rows } = this;
    this.busy = new Uint32Array(rows.capacity);
    this.nodes = Int32Array.from({ length: rows.capacity }, (_, slot) => rows.nodeAt(slot));
    this.round = 0;
    this.free = [];
    for (let slot = rows.capacity - 1; slot >= 0; slot--) {
      if (this.nodeAt(slot) < 0) this.free.push(slot);
    }
  }

  /** The slots of another instance of the index, which holds the same rows. */
  moveTo(rows: ResidentRows): void {
    this.rows = rows;
    this.look();
  }

  /** Nodes without a slot, as many as have room: hubs first, but in the order of the file. */
  nodesToFill(nodeCount: number): Uint32Array {
    const absent: number[] = [];
    for (let node = 0; node < nodeCount; node++) if (this.rows.slotOf(node) < 0) absent.push(node);
    if (absent.length > this.free.length) {
      const worth = new Map(absent.map((node) => [node, worthOf(this.rows, node)]));
      absent.sort((a, b) => (worth.get(b) ?? 0) - (worth.get(a) ?? 0));
    }
    return Uint32Array.from(absent.slice(0, this.free.length)).sort();
  }

  private evict(): number {
    const { rows } = this;
    if (rows.capacity === 0) return -1;
    let slot = this.eviction.choose(this);
    const isChoice = Number.isInteger(slot) && slot >= 0 && slot < rows.capacity;
    if (!isChoice || this.isBusy(slot)) slot = this.busy.findIndex((round) => round !== this.round);
    if (slot < 0) return -1;
    const node = this.nodeAt(slot);
    if (node >= 0) this.demote(node, slot);
    this.evictions++; // place() forgets the row that was there
    this.nodes[slot] = -1;
    return slot;
  }

  /** A row that leaves Wasm memory goes to JavaScript's. */
  private demote(node: number, slot: number): void {
    if (this.slab.capacity === 0) return;
    if (this.slab.put(node, this.rows.bytesOf(slot))) this.demotions++;
  }

  /** A slot that goes gives its row to an empty one that stays, or to JavaScript's memory. */
  private moveDown(slot: number, capacity: number): void {
    const node = this.rows.nodeAt(slot);
    if (node < 0) return;
    let empty = this.free.pop();
    while (empty !== undefined && empty >= capacity) empty = this.free.pop();
    if (empty === undefined) {
      this.demote(node, slot);
    } else {
      this.rows.bytesOf(empty).set(this.rows.bytesOf(slot));
      this.place(empty, node);
    }
  }
}
