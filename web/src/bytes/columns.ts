// Tables of numbers as columns, which the core gives. A row of a table may own rows of another one; the
// column of that name says how many, and the child's rows stand in the parent's order.
import { GossamerError } from "../errors.ts";

/** Columns of one length, and child tables. Never changed once made. */
export interface Table {
  readonly count: number;
  readonly columns: ReadonlyMap<string, Float64Array>; // those of children included
  readonly wide: ReadonlyMap<string, BigInt64Array>; // numbers beyond 2^53
  readonly children: ReadonlyMap<string, Table>;
  readonly content: Uint8Array; // of a table of letters
}

/** A column by its name. */
export function columnOf(table: Table, name: string): Float64Array {
  return known(table.columns.get(name), name);
}

/** A column of bigints by its name. */
export function wideOf(table: Table, name: string): BigInt64Array {
  return known(table.wide.get(name), name);
}

/** A child table by its name. */
export function childOf(table: Table, name: string): Table {
  return known(table.children.get(name), name);
}

/** Where the children of each row begin, and as a last number where they end. */
export function startsOf(counts: Float64Array): Float64Array {
  const starts = new Float64Array(counts.length + 1);
  for (let row = 0, sum = 0; row < counts.length; ++row) starts[row + 1] = sum += counts[row]!;
  return starts;
}

function known<T>(found: T | undefined, name: string): T {
  if (found !== undefined) return found;
  throw new GossamerError("InvalidArgument", `the catalogue has nothing called ${name}`);
}
