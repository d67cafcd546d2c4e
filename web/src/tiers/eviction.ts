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

// So many slots, taken at random, stand for all: the worst of them is bad enough.
const SAMPLE = 4;

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
      return leastOf(slots, random, (slot) => stamps[slot] ?? 0);
    },
  };
}

/** Keeps what every search passes: nodes of upper layers, and those that many links lead to. The
 * least of a hub among some rows taken at random goes first. */
export function hub(seed = 1): Eviction {
  const random = numbers(seed);
  return {
    name: "hub",
    choose: (slots) => leastOf(slots, random, (slot) => worthOf(slots, slots.nodeAt(slot))),
  };
}

/** How much a node is worth keeping: upper layers before all others, then links that lead to it. */
export function worthOf(slots: Pick<Slots, "degreeOf" | "levelOf">, node: number): number {
  return slots.levelOf(node) * 2 ** 32 + slots.degreeOf(node);
}

const makers: Record<EvictionName, () => Eviction> = { fifo, lru, hub };

export const evictionNames: readonly string[] = Object.keys(makers);

/** The eviction of that name. */
export function evictionOf(name: string): Eviction {
  if (Object.hasOwn(makers, name)) return makers[name as EvictionName]();
  throw new GossamerError("InvalidArgument", `eviction is "fifo", "lru" or "hub", not "${name}"`);
}

/** The slot of the least worth among some taken at random; -1 if all of them are busy. */
function leastOf(slots: Slots, random: () => number, worthAt: (slot: number) => number): number {
  let least = -1;
  let leastWorth = Infinity;
  const { capacity } = slots;
  for (let tried = 0, found = 0; tried < 2 * SAMPLE && found < SAMPLE; tried++) {
    const slot = Math.floor(random() * capacity);
    if (slots.isBusy(slot)) continue;
    found++;
    const worth = worthAt(slot);
    if (worth >= leastWorth) continue;
    least = slot;
    leastWorth = worth;
  }
  return least;
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
