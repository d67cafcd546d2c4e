// What an entry takes besides its numbers.
const ENTRY_BYTES = 128;

/** Vectors of chunks that were computed or asked for, by id; the least lately used ones go. */
export class VectorCache {
  readonly #vectors = new Map<number, Float32Array>(); // oldest first
  #bytes = 0;
  #budget: number;

  constructor(budget: number) {
    this.#budget = budget;
  }

  /** Taken now. */
  get bytes(): number {
    return this.#bytes;
  }

  get(id: number): Float32Array | null {
    const vector = this.#vectors.get(id);
    if (!vector) return null;
    this.#vectors.delete(id);
    this.#vectors.set(id, vector);
    return vector;
  }

  put(id: number, vector: Float32Array): void {
    this.#drop(id);
    this.#vectors.set(id, vector.slice());
    this.#bytes += vector.byteLength + ENTRY_BYTES;
    this.#shrink();
  }

  setBudget(bytes: number): void {
    this.#budget = bytes;
    this.#shrink();
  }

  clear(): void {
    this.#vectors.clear();
    this.#bytes = 0;
  }

  #drop(id: number): void {
    const vector = this.#vectors.get(id);
    if (vector && this.#vectors.delete(id)) this.#bytes -= vector.byteLength + ENTRY_BYTES;
  }

  #shrink(): void {
    for (const id of this.#vectors.keys()) {
      if (this.#bytes <= this.#budget) return;
      this.#drop(id);
    }
  }
}
