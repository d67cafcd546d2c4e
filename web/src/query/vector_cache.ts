/** Vectors of chunks that were computed or asked for, by id; the least lately used ones go. */
export interface VectorCache {
  readonly bytes: number; // taken now
  get(id: number): Float32Array | null;
  put(id: number, vector: Float32Array): void;
  setBudget(bytes: number): void;
  clear(): void;
}

// What an entry takes besides its numbers.
const ENTRY_BYTES = 128;

/** A cache of at most `budget` bytes. */
export function vectorCache(budget: number): VectorCache {
  const vectors = new Map<number, Float32Array>(); // oldest first
  let bytes = 0;
  let most = budget;

  const drop = (id: number) => {
    const vector = vectors.get(id);
    if (vector && vectors.delete(id)) bytes -= vector.byteLength + ENTRY_BYTES;
  };
  const shrink = () => {
    for (const id of vectors.keys()) {
      if (bytes <= most) return;
      drop(id);
    }
  };
  return {
    get bytes() {
      return bytes;
    },
    get: (id) => {
      const vector = vectors.get(id);
      if (!vector) return null;
      vectors.delete(id);
      vectors.set(id, vector);
      return vector;
    },
    put: (id, vector) => {
      drop(id);
      vectors.set(id, vector.slice());
      bytes += vector.byteLength + ENTRY_BYTES;
      shrink();
    },
    setBudget: (wanted) => {
      most = wanted;
      shrink();
    },
    clear: () => {
      vectors.clear();
      bytes = 0;
    },
  };
}
