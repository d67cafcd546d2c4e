// Tables of numbers as columns, in memory: with planes.ts the twin of python/gossamer/store/columns.py. A
// row of a table may own rows of another one; the column of that name says how many, and the child's rows
// stand in the parent's order.
import { GossamerError } from "../errors.ts";

/** How a column of numbers is written. */
export interface Column {
  readonly name: string;
  /** The distance is written from the row before plus this column of it ("": from the row before). */
  readonly after?: string;
  readonly isSigned?: boolean; // numbers may be below zero
  readonly width?: number; // for hashes: so many bytes each, as they are
  readonly isWide?: boolean; // numbers beyond 2^53, kept as bigints
}

/** The columns of a table, and the tables that its rows own rows of. */
export interface Schema {
  readonly columns: readonly Column[];
  readonly children: readonly (readonly [name: string, schema: Schema])[];
  readonly isBytes?: boolean; // one column of bytes: texts, end to end
}

/** Columns of one length, and child tables. Never changed once made. */
export interface Table {
  readonly schema: Schema;
  readonly count: number;
  readonly columns: ReadonlyMap<string, Float64Array>; // those of children included
  readonly wide: ReadonlyMap<string, BigInt64Array>;
  readonly children: ReadonlyMap<string, Table>;
  readonly content: Uint8Array; // of a table of bytes
}

/** A column by its name. */
export function columnOf(table: Table, name: string): Float64Array {
  const column = table.columns.get(name);
  if (!column) throw new GossamerError("InvalidArgument", `there is no column ${name}`);
  return column;
}

/** A column of bigints by its name. */
export function wideOf(table: Table, name: string): BigInt64Array {
  const column = table.wide.get(name);
  if (!column) throw new GossamerError("InvalidArgument", `there is no wide column ${name}`);
  return column;
}

/** A child table by its name. */
export function childOf(table: Table, name: string): Table {
  const child = table.children.get(name);
  if (!child) throw new GossamerError("InvalidArgument", `there is no child table ${name}`);
  return child;
}

/** The same table with other columns in place of some. */
export function withColumns(table: Table, columns: Readonly<Record<string, Float64Array>>): Table {
  return { ...table, columns: new Map([...table.columns, ...Object.entries(columns)]) };
}

/** The same table with another child. */
export function withChild(table: Table, name: string, child: Table): Table {
  return { ...table, children: new Map([...table.children, [name, child]]) };
}

/** A table without rows. */
export function emptyTable(schema: Schema): Table {
  const columns = columnsInOrder(schema);
  return {
    schema,
    count: 0,
    columns: new Map(columns.filter((c) => !c.isWide).map((c) => [c.name, new Float64Array()])),
    wide: new Map(columns.filter((c) => c.isWide).map((c) => [c.name, new BigInt64Array()])),
    children: new Map(schema.children.map(([name, child]) => [name, emptyTable(child)])),
    content: new Uint8Array(),
  };
}

/** All columns of a table as they are written, those that count children last. */
export function columnsInOrder(schema: Schema): readonly Column[] {
  return [...schema.columns, ...schema.children.map(([name]) => ({ name }))];
}

/** Where the children of each row begin, and as a last number where they end. */
export function startsOf(counts: Float64Array): Float64Array {
  const starts = new Float64Array(counts.length + 1);
  for (let row = 0, sum = 0; row < counts.length; ++row) starts[row + 1] = sum += counts[row]!;
  return starts;
}

/** These rows, in this order, and all they own. */
export function takeRows(table: Table, rows: ArrayLike<number>): Table {
  if (table.schema.isBytes) {
    const content = new Uint8Array(rows.length);
    for (let i = 0; i < rows.length; ++i) content[i] = table.content[rows[i]!]!;
    return { ...table, count: rows.length, content };
  }
  const columns = mapValues(table.columns, (column) => picked(column, rows, new Float64Array(rows.length)));
  const wide = mapValues(table.wide, (column) => {
    const values = new BigInt64Array(rows.length);
    for (let i = 0; i < rows.length; ++i) values[i] = column[rows[i]!]!;
    return values;
  });
  const children = new Map<string, Table>();
  for (const [name, child] of table.children) {
    children.set(name, takeRows(child, ownedBy(columnOf(table, name), rows)));
  }
  return { ...table, count: rows.length, columns, wide, children };
}

/** The rows of the first table and then those of the others; all have one schema. */
export function joinTables(tables: readonly [Table, ...Table[]]): Table {
  const [first] = tables;
  const count = tables.reduce((sum, table) => sum + table.count, 0);
  const isBytes = first.schema.isBytes === true;
  return {
    schema: first.schema,
    count,
    columns: mapValues(first.columns, (_, name) =>
      joined(tables.map((table) => columnOf(table, name)), new Float64Array(count)),
    ),
    wide: mapValues(first.wide, (_, name) =>
      joined(tables.map((table) => wideOf(table, name)), new BigInt64Array(count)),
    ),
    children: mapValues(first.children, (_, name) => {
      const [head, ...rest] = tables;
      return joinTables([childOf(head, name), ...rest.map((table) => childOf(table, name))]);
    }),
    content: isBytes ? joined(tables.map((table) => table.content), new Uint8Array(count)) : first.content,
  };
}

/** The rows that these rows own, one after the other, the counts being these. */
function ownedBy(counts: Float64Array, rows: ArrayLike<number>): Float64Array {
  const starts = startsOf(counts);
  let total = 0;
  for (let i = 0; i < rows.length; ++i) total += counts[rows[i]!]!;
  const owned = new Float64Array(total);
  for (let i = 0, at = 0; i < rows.length; ++i) {
    const row = rows[i]!;
    for (let child = starts[row]!; child < starts[row + 1]!; ++child) owned[at++] = child;
  }
  return owned;
}

function picked(column: Float64Array, rows: ArrayLike<number>, into: Float64Array): Float64Array {
  for (let i = 0; i < rows.length; ++i) into[i] = column[rows[i]!]!;
  return into;
}

function joined<T extends { set(part: T, at: number): void; readonly length: number }>(
  parts: readonly T[],
  into: T,
): T {
  let at = 0;
  for (const part of parts) {
    into.set(part, at);
    at += part.length;
  }
  return into;
}

function mapValues<V, W>(map: ReadonlyMap<string, V>, change: (value: V, name: string) => W): Map<string, W> {
  return new Map([...map].map(([name, value]) => [name, change(value, name)]));
}
