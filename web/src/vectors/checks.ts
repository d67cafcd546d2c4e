// What is checked before an index is changed: a change that fails on its way may have been made in part.

import type { EngineIndex } from "../core/engine.ts";
import { checkRows } from "../core/wasm_checks.ts";
import { GossamerError } from "../errors.ts";

const MOST_NUMBER = 1e15; // in longer vectors the core may find what it refuses only on its way

/** Vectors of whole rows, all of numbers that can be computed with. WrongDimension, NotFinite. */
export function checkNumbers(vectors: Float32Array, dim: number): void {
  checkRows(vectors, dim);
  const bad = vectors.findIndex((value) => !(Math.abs(value) <= MOST_NUMBER));
  if (bad < 0) return;
  const row = Math.floor(bad / dim);
  const expected = `numbers of ${MOST_NUMBER} at most were expected`;
  throw new GossamerError("NotFinite", `vector ${row} has ${vectors[bad]} in it: ${expected}`);
}

/** What somebody's function gave as rows. InvalidArgument. */
export function checkGiven(rows: unknown): Float32Array {
  if (rows instanceof Float32Array) return rows;
  throw new GossamerError("InvalidArgument", "vectorsOf gives a Float32Array of rows end to end; got something else");
}

/** Refuses to add to a graph whose vectors are not here to be linked with. */
export function checkLinkable({ keep, graph }: Pick<EngineIndex, "keep" | "graph">): void {
  if (keep === "all" || graph === "none") return;
  const what = "vectors cannot be added here to an index with a graph that does not keep all of its vectors";
  throw new GossamerError("WrongState", `${what}: add them in Python, or build one with keep: "all"`);
}

/** Options of these names only: one that is mistyped would be passed over. InvalidArgument. */
export function checkOptions(call: string, given: object, known: readonly string[]): void {
  const strange = Object.keys(given).find((name) => !known.includes(name));
  if (strange === undefined) return;
  throw new GossamerError("InvalidArgument", `${call} has no option "${strange}"; it has ${known.join(", ")}`);
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
