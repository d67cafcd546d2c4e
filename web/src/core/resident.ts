import type { ResidentRows } from "./engine.ts";
import { GossamerError } from "../errors.ts";
import type { Core } from "./memory.ts";

const NONE = 0xffffffff; // kNoSlot and kNoNode of C++

/** The slots of an index whose vectors stay outside. `handle` is the index in `core`. */
export function residentRows(core: Core, handle: number, rowBytes: number): ResidentRows {
  let views = viewsOf(core, handle);
  let hubs: { degrees: Uint32Array; levels: Uint8Array } | null = null;
  // Memory that grew has another buffer, and views of the old one are empty.
  const current = (): Views => {
    if (views.buffer !== core.buffer()) views = viewsOf(core, handle);
    return views;
  };
  const readHubs = () => {
    if (hubs) return hubs;
    const count = core.call("resident_hubs", handle);
    const [degrees, levels] = count === 0 ? [0, 0] : [core.first(), core.second()];
    hubs = { degrees: core.words(count, degrees), levels: core.bytes(count, levels) };
    return hubs;
  };
  const checkSlot = (slot: number): number => {
    const { capacity } = views;
    if (Number.isInteger(slot) && slot >= 0 && slot < capacity) return slot;
    throw new GossamerError("InvalidArgument", `there are ${capacity} slots, and ${slot} is none of them`);
  };
  return {
    get capacity() {
      return views.capacity;
    },
    get used() {
      return core.call("resident_used", handle);
    },
    slotOf: (node) => placeAt(current().slots, node),
    nodeAt: (slot) => placeAt(current().nodes, slot),
    bytesOf: (slot) => {
      const { blocks, shift } = current();
      const block = blocks[checkSlot(slot) >>> shift] as number;
      return new Uint8Array(core.buffer(), block + (slot & ((1 << shift) - 1)) * rowBytes, rowBytes);
    },
    place: (slot, node) => void core.call("resident_place", handle, checkSlot(slot), node),
    forget: (slot) => void core.call("resident_forget", handle, checkSlot(slot)),
    stamps: () => current().stamps,
    resize: (capacity) => {
      try {
        core.call("resident_resize", handle, capacity);
      } finally {
        // One that failed for want of memory may have moved rows, or let memory grow.
        if (!core.isBroken()) views = viewsOf(core, handle);
      }
    },
    degreeOf: (node) => readHubs().degrees[node] ?? 0,
    levelOf: (node) => readHubs().levels[node] ?? 0,
  };
}

interface Views {
  readonly buffer: ArrayBuffer;
  readonly capacity: number;
  readonly blocks: Uint32Array; // addresses of blocks of 1 << shift rows
  readonly shift: number;
  readonly slots: Uint32Array; // of each node
  readonly nodes: Uint32Array; // of each slot
  readonly stamps: Uint32Array; // of each slot
}

function viewsOf(core: Core, handle: number): Views {
  core.call("resident_layout", handle);
  const layout = core.numbers(7) as unknown as [number, number, number, number, number, number, number];
  const [capacity, slots, nodes, stamps, nodeCount, blockCount, shift] = layout;
  const blocks = core.words(blockCount, core.second());
  const buffer = core.buffer();
  return {
    buffer,
    capacity,
    blocks,
    shift,
    slots: new Uint32Array(buffer, slots, nodeCount),
    nodes: new Uint32Array(buffer, nodes, capacity),
    stamps: new Uint32Array(buffer, stamps, capacity),
  };
}

function placeAt(table: Uint32Array, at: number): number {
  const place = table[at] ?? NONE;
  return place === NONE ? -1 : place;
}
