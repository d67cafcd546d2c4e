import type { EvictionName } from "../records.ts";
import { GossamerError } from "../errors.ts";

/** What an eviction may look at. */
export interface Slots {
  readonly capacity: number; // at least one of them may be chosen
  nodeAt(slot: number): number;
  /** When each slot was last looked at: the number of the search. */
  stamps(): Uint32Array;
  /** Links that lead to a node on the base layer of the graph; 0 without a graph. */
  degreeOf(node: number): number;
  /** The highest layer of the graph that a node is on. */
  levelOf(node: number): number;
  /** Whether a slot's row is needed by the search under way. */
  isBusy(slot: number): boolean;
}

/** Says which row makes room for another once all slots are full. */
export interface Eviction {
  readonly name: string;
  /** The slot to empty. One that is busy, or none at all, is passed over for the next that is not. */
  choose(slots: Slots): number;
}

// So many slots, taken at random, stand for all: the oldest of them is old enough.
const LRU_SAMPLE = 8;
const HUB_SAMPLE = 16;

/** The slot that was filled first goes first. */
export function fifo(): Eviction {
  let hand = 0;
  return {
    name: "fifo",
    choose(slots) {
      for (let tried = 0; tried < slots.capacity; tried++) {
        const slot = hand % slots.capacity;
        hand = slot + 1;
        if (!slots.isBusy(slot)) return slot;
      }
      return -1;
    },
  };
}

/** The row that no search has looked at for longest goes first, among some taken at random. */
export function lru(seed = 1): Eviction {
  const random = numbers(seed);
  return {
    name: "lru",
    choose(slots) {
      const stamps = slots.stamps();
      let oldest = -1;
      for (const slot of sample(slots, LRU_SAMPLE, random)) {
        if (oldest < 0 || stampOf(stamps, slot) < stampOf(stamps, oldest)) oldest = slot;
      }
      return oldest;
    },
  };
}

/** Keeps what every search passes: nodes of upper layers, and those that many links lead to. Of
 * some rows taken at random the older half is looked at; the least of a hub among them goes. */
export function hub(seed = 1): Eviction {
  const random = numbers(seed);
  return {
    name: "hub",
    choose(slots) {
      const stamps = slots.stamps();
      const found = sample(slots, HUB_SAMPLE, random);
      found.sort((a, b) => stampOf(stamps, a) - stampOf(stamps, b));
      let least = -1;
      let leastWorth = Infinity;
      for (const slot of found.slice(0, Math.ceil(found.length / 2))) {
        const worth = worthOf(slots, slots.nodeAt(slot));
        if (worth < leastWorth) [least, leastWorth] = [slot, worth];
      }
      return least;
    },
  };
}

/** How much a node is worth keeping: upper layers before all others, then links that lead to it. */
export function worthOf(slots: Pick<Slots, "degreeOf" | "levelOf">, node: number): number {
  return slots.levelOf(node) * 2 ** 32 + slots.degreeOf(node);
}

/** The eviction of that name. */
export function evictionOf(name: EvictionName): Eviction {
  const makers: Record<EvictionName, () => Eviction> = { fifo, lru, hub };
  if (!Object.hasOwn(makers, name)) {
    throw new GossamerError("InvalidArgument", `eviction is "fifo", "lru" or "hub", not "${name}"`);
  }
  return makers[name]();
}

function sample(slots: Slots, count: number, random: () => number): number[] {
  const found: number[] = [];
  for (let tried = 0; tried < 2 * count && found.length < count; tried++) {
    const slot = Math.floor(random() * slots.capacity);
    if (!slots.isBusy(slot)) found.push(slot);
  }
  return found;
}

function stampOf(stamps: Uint32Array, slot: number): number {
  return stamps[slot] ?? 0;
}

/** Numbers between 0 and 1, the same ones each time: what is evicted can be repeated. */
function numbers(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
