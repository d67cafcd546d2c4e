// Tables of numbers as columns, in memory and as bytes: the twin of python/gossamer/store/columns.py. A
// row of a table may own rows of another one; the column of that name says how many, and the child's rows
// stand in the parent's order.
import { GossamerError } from "../errors.ts";
import { byteWriter } from "./varint.ts";
import type { ByteWriter } from "./varint.ts";
import { unzstd } from "./zstd.ts";

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

/** Writes a table as bytes: its length, its columns, its children. */
export function packTable(table: Table): Uint8Array {
  const writer = byteWriter();
  writer.u64(table.count);
  const unpacked = packInto(writer, table);
  const least = Math.floor((unpacked - ALLOWED_BASE) / ALLOWED_RATIO) + 1;
  if (least > writer.length) writer.bytes(new Uint8Array(least - writer.length));
  return writer.finish();
}

/** Reads what packTable wrote; Damaged for anything else. Nothing is believed of the numbers, save that
 * counts of children are not negative and fit the children. */
export function unpackTable(bytes: Uint8Array, schema: Schema): Table {
  const reader = planeReader(bytes);
  return unpackRows(reader, reader.number(8), schema);
}

const RAW = 0;
const ZSTD = 1;
// What a file may unpack to: hostile bytes must not fill the memory. Writers pad up to it.
const ALLOWED_BASE = 2 ** 24;
const ALLOWED_RATIO = 256;
const MOST_CHILDREN = 2 ** 40;

/** Writes columns and children; gives the bytes they take in memory. */
function packInto(writer: ByteWriter, table: Table): number {
  if (table.schema.isBytes) {
    packPlane(writer, table.content);
    return table.count;
  }
  let unpacked = 0;
  for (const column of columnsInOrder(table.schema)) {
    if (column.width) writer.bytes(fixedBytes(table, column));
    else packColumn(writer, zigzagged(table, column));
    unpacked += 8 * table.count;
  }
  for (const [name] of table.schema.children) unpacked += packInto(writer, childOf(table, name));
  return unpacked;
}

function fixedBytes(table: Table, { name, width, isWide }: Column): Uint8Array {
  if (isWide) return bytesOf(wideOf(table, name));
  if (width !== 4) throw new GossamerError("InvalidArgument", `no column is of ${width} bytes`);
  return bytesOf(Uint32Array.from(columnOf(table, name)));
}

/** What is written of each number, as 64 bits. */
function zigzagged(table: Table, column: Column): BigUint64Array {
  const { name, after } = column;
  const values = column.isWide ? wideOf(table, name) : columnOf(table, name);
  const written = new BigUint64Array(table.count);
  const isSigned = column.isSigned === true || after !== undefined;
  const extra = after ? columnOf(table, after) : null;
  let expected = 0n;
  for (let row = 0; row < table.count; ++row) {
    const value = BigInt(values[row]!);
    const distance = BigInt.asIntN(64, value - expected);
    written[row] = isSigned ? BigInt.asUintN(64, (distance << 1n) ^ (distance >> 63n)) : distance;
    if (after !== undefined) expected = value + (extra ? BigInt(extra[row]!) : 0n);
  }
  return written;
}

/** Writes byte planes, the lowest bytes of all numbers first. */
function packColumn(writer: ByteWriter, values: BigUint64Array): void {
  const rows = bytesOf(values);
  let width = 0;
  for (let at = 0; at < rows.length; ++at) if (rows[at] !== 0 && at % 8 >= width) width = (at % 8) + 1;
  writer.bytes(Uint8Array.of(width));
  for (let plane = 0; plane < width; ++plane) {
    const bytes = new Uint8Array(values.length);
    for (let row = 0; row < bytes.length; ++row) bytes[row] = rows[8 * row + plane]!;
    packPlane(writer, bytes);
  }
}

function packPlane(writer: ByteWriter, plane: Uint8Array): void {
  const head = new Uint8Array(6);
  new DataView(head.buffer).setUint32(1, plane.length, true);
  head[0] = RAW;
  head[5] = Math.floor(plane.length / 2 ** 32);
  writer.bytes(head);
  writer.bytes(plane);
}

function unpackRows(reader: PlaneReader, count: number, schema: Schema): Table {
  if (schema.isBytes) {
    reader.spend(count);
    return { ...emptyTable(schema), count, content: reader.plane(count) };
  }
  const columns = new Map<string, Float64Array>();
  const wide = new Map<string, BigInt64Array>();
  for (const column of columnsInOrder(schema)) {
    if (column.isWide) wide.set(column.name, readWide(reader, count, column));
    else columns.set(column.name, readColumn(reader, count, column));
  }
  for (const { name, after, isWide } of schema.columns) {
    if (after === undefined || isWide) continue;
    undoDistances(columns.get(name)!, after ? columns.get(after)! : null);
  }
  const children = new Map<string, Table>();
  for (const [name, child] of schema.children) {
    children.set(name, unpackRows(reader, sumOfCounts(columns.get(name)!, name), child));
  }
  return { schema, count, columns, wide, children, content: new Uint8Array() };
}

function sumOfCounts(counts: Float64Array, name: string): number {
  let sum = 0;
  for (const count of counts) {
    if (!(count >= 0 && count < MOST_CHILDREN)) throw damaged(`it says it has ${count} ${name}`);
    sum += count;
  }
  return sum;
}

function readColumn(reader: PlaneReader, count: number, column: Column): Float64Array {
  reader.spend(8 * count);
  if (column.width) return Float64Array.from(copied(reader.take(count * column.width), Uint32Array));
  const values = new Float64Array(count);
  reader.planes(count, (bytes, plane) => {
    const scale = 256 ** plane;
    for (let row = 0; row < count; ++row) values[row]! += bytes[row]! * scale;
  });
  const isSigned = column.isSigned === true || column.after !== undefined;
  for (let row = 0; row < count; ++row) {
    const value = values[row]!;
    if (value > Number.MAX_SAFE_INTEGER) throw tooLarge(column.name);
    if (isSigned) values[row] = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  return values;
}

function readWide(reader: PlaneReader, count: number, column: Column): BigInt64Array {
  reader.spend(8 * count);
  if (column.width) return copied(reader.take(count * column.width), BigInt64Array);
  const values = new BigUint64Array(count);
  const rows = bytesOf(values);
  reader.planes(count, (bytes, plane) => {
    for (let row = 0; row < count; ++row) rows[8 * row + plane] = bytes[row]!;
  });
  const signed = new BigInt64Array(count);
  let sum = 0n;
  for (let row = 0; row < count; ++row) {
    const bits = values[row]!;
    const distance = (bits >> 1n) ^ -(bits & 1n);
    sum = BigInt.asIntN(64, sum + distance);
    signed[row] = sum;
  }
  return signed;
}

function undoDistances(values: Float64Array, extra: Float64Array | null): void {
  let expected = 0;
  for (let row = 0; row < values.length; ++row) {
    const value = expected + values[row]!;
    if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) throw tooLarge("distances");
    values[row] = value;
    expected = value + (extra ? extra[row]! : 0);
  }
}

/** Bytes that are taken from the front, and how much memory they may still fill. */
interface PlaneReader {
  take(count: number): Uint8Array;
  number(width: number): number;
  spend(bytes: number): void;
  plane(count: number): Uint8Array;
  planes(count: number, use: (bytes: Uint8Array, plane: number) => void): void;
}

function planeReader(bytes: Uint8Array): PlaneReader {
  let at = 0;
  let allowed = ALLOWED_BASE + ALLOWED_RATIO * bytes.length;
  const take = (count: number) => {
    if (count > bytes.length - at) throw damaged("it ends too early");
    at += count;
    return bytes.subarray(at - count, at);
  };
  const number = (width: number) => take(width).reduceRight((value, byte) => value * 256 + byte, 0);
  const plane = (count: number) => {
    const [method, stored] = [number(1), number(5)];
    const packed = take(stored);
    if (method === RAW && stored === count) return packed;
    if (method !== ZSTD) throw damaged(`it has ${stored} bytes where ${count} belong`);
    return unzstd(packed, count, "a column of the catalogue");
  };
  return {
    take,
    number,
    plane,
    spend: (count) => {
      allowed -= count;
      if (!(allowed >= 0)) throw damaged("it says it holds more than its bytes can");
    },
    planes: (count, use) => {
      const width = number(1);
      if (width > 8) throw damaged(`it has numbers of ${width} bytes; 8 are the most`);
      for (let i = 0; i < width; ++i) use(plane(count), i);
    },
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

function bytesOf(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Numbers from bytes that may begin anywhere. */
function copied<T>(bytes: Uint8Array, make: new (buffer: ArrayBuffer) => T): T {
  return new make(bytes.slice().buffer as ArrayBuffer);
}

function tooLarge(what: string): GossamerError {
  return damaged(`it has numbers (${what}) beyond 2^53`);
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `the catalogue is damaged: ${what}; get the index again`);
}
