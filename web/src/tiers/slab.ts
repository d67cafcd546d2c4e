/** Rows in JavaScript's memory: the second tier, for what has no room in Wasm memory. */
export interface Slab {
  readonly capacity: number; // rows
  readonly used: number;
  has(node: number): boolean;
  /** Copies a node's row and lets go of it; false if it is not here. */
  take(node: number, into: Uint8Array): boolean;
  /** Keeps a copy of a row; the one kept longest makes room. Says whether one had to. */
  put(node: number, row: Uint8Array): boolean;
  /** Another number of rows; the ones kept last stay. */
  resize(capacity: number): void;
}

/** An empty slab. Its memory is one buffer, so that rows do not burden the garbage collector. */
export function makeSlab(rowBytes: number, rows: number): Slab {
  let capacity = rows;
  let buffer = new Uint8Array(capacity * rowBytes);
  let placeOf = new Map<number, number>(); // in the order of put()
  let free = count(capacity);
  const bytesAt = (place: number) => buffer.subarray(place * rowBytes, (place + 1) * rowBytes);
  const drop = (node: number, place: number) => {
    placeOf.delete(node);
    free.push(place);
  };
  return {
    get capacity() {
      return capacity;
    },
    get used() {
      return placeOf.size;
    },
    has: (node) => placeOf.has(node),
    take(node, into) {
      const place = placeOf.get(node);
      if (place === undefined) return false;
      into.set(bytesAt(place));
      drop(node, place);
      return true;
    },
    put(node, row) {
      if (capacity === 0) return false;
      const known = placeOf.get(node);
      if (known !== undefined) drop(node, known);
      const oldest = free.length === 0 ? placeOf.entries().next().value : undefined;
      if (oldest) drop(oldest[0], oldest[1]);
      const place = free.pop() as number; // full slabs have just dropped one
      bytesAt(place).set(row);
      placeOf.set(node, place);
      return oldest !== undefined;
    },
    resize(wanted) {
      const kept = wanted === 0 ? [] : [...placeOf].slice(-wanted);
      const next = new Uint8Array(wanted * rowBytes);
      kept.forEach(([, place], i) => next.set(bytesAt(place), i * rowBytes));
      placeOf = new Map(kept.map(([node], i) => [node, i]));
      free = count(wanted).slice(0, wanted - kept.length);
      [buffer, capacity] = [next, wanted];
    },
  };
}

/** The places from the last to the first. */
function count(places: number): number[] {
  return Array.from({ length: places }, (_, i) => places - 1 - i);
}
