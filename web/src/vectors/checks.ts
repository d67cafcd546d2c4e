// What is checked before an index is changed: a change that fails on its way may have been made in part.

import { checkRows } from "../core/wasm_checks.ts";
import { GossamerError } from "../errors.ts";

/** Vectors of whole rows, all of numbers. WrongDimension, NotFinite. */
export function checkNumbers(vectors: Float32Array, dim: number): void {
  checkRows(vectors, dim);
  const bad = vectors.findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return;
  const row = Math.floor(bad / dim);
  throw new GossamerError("NotFinite", `vector ${row} has ${vectors[bad]} in it: numbers were expected`);
}

/** Ids that are new, each once. DuplicateId. */
export function checkNew(ids: readonly number[], known: ReadonlySet<number>): void {
  const seen = new Set<number>();
  for (const id of ids) {
    if (known.has(id)) {
      throw new GossamerError("DuplicateId", `the id ${id} is in use: remove it first, or give another`);
    }
    if (seen.has(id)) throw new GossamerError("DuplicateId", `the id ${id} was given twice`);
    seen.add(id);
  }
}
