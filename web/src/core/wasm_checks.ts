// What is checked before a value crosses into Wasm, where numbers have no other form.

import { GossamerError } from "../errors.ts";

/** Expects an id for each vector. */
export function checkPairs(ids: number, vectors: number): void {
  if (ids === vectors) return;
  fail("InvalidArgument", `expected one id for each vector: ${ids} ids and ${vectors} vectors came`);
}

/** How many queries these are, one at least. WrongDimension. */
export function checkQueries(queries: Float32Array, dim: number): number {
  if (queries.length > 0) return checkRows(queries, dim);
  return fail("WrongDimension", `expected vectors of ${dim} dimensions, got none`);
}

/** How many vectors these are. WrongDimension. */
export function checkRows(vectors: Float32Array, dim: number): number {
  const count = vectors.length / dim;
  if (Number.isInteger(count)) return count;
  return fail("WrongDimension", `expected vectors of ${dim} dimensions, got ${vectors.length} numbers`);
}

/** Ids as C++ takes them. InvalidArgument. */
export function idsOf(ids: readonly number[]): Float64Array {
  for (const id of ids) {
    if (!Number.isSafeInteger(id) || id < 0) {
      fail("InvalidArgument", `ids are whole numbers from 0 to 2^53 - 1, got ${id}`);
    }
  }
  return Float64Array.from(ids);
}

/** A whole number from 0 on. InvalidArgument. */
export function wholeNumber(value: number, name: string): number {
  if (Number.isInteger(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value;
  return fail("InvalidArgument", `${name} must be a whole number from 0 on, got ${value}`);
}

/** The number of a name in an enum of C++. InvalidArgument. */
export function placeOf<T extends string>(names: readonly T[], name: T, what: string): number {
  const place = names.indexOf(name);
  if (place >= 0) return place;
  return fail("InvalidArgument", `unknown ${what} '${name}'; it is one of ${names.join(", ")}`);
}

/** Throws. */
export function fail(reason: ConstructorParameters<typeof GossamerError>[0], message: string): never {
  throw new GossamerError(reason, message);
}
