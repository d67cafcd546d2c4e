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
      const at = current().rows + checkSlot(slot) * rowBytes;
      return new Uint8Array(core.buffer(), at, rowBytes);
    },
    place: (slot, node) => void core.call("resident_place", handle, checkSlot(slot), node),
    forget: (slot) => void core.call("resident_forget", handle, checkSlot(slot)),
    stamps: () => current().stamps,
    resize: (capacity) => {
      core.call("resident_resize", handle, capacity);
      views = viewsOf(core, handle);
    },
    degreeOf: (node) => readHubs().degrees[node] ?? 0,
    levelOf: (node) => readHubs().levels[node] ?? 0,
  };
}

interface Views {
  readonly buffer: ArrayBuffer;
  readonly capacity: number;
  readonly rows: number; // address
  readonly slots: Uint32Array; // of each node
  readonly nodes: Uint32Array; // of each slot
  readonly stamps: Uint32Array; // of each slot
}

function viewsOf(core: Core, handle: number): Views {
  core.call("resident_layout", handle);
  const layout = core.numbers(6) as unknown as [number, number, number, number, number, number];
  const [capacity, rows, slots, nodes, stamps, nodeCount] = layout;
  const buffer = core.buffer();
  return {
    buffer,
    capacity,
    rows,
    slots: new Uint32Array(buffer, slots, nodeCount),
    nodes: new Uint32Array(buffer, nodes, capacity),
    stamps: new Uint32Array(buffer, stamps, capacity),
  };
}

function placeAt(table: Uint32Array, at: number): number {
  const place = table[at] ?? NONE;
  return place === NONE ? -1 : place;
}
