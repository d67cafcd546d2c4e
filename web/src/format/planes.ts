// Tables of numbers as bytes: each column as planes, first the lowest byte of every number, then the next.
import { GossamerError } from "../errors.ts";
import { childOf, columnOf, columnsInOrder, emptyTable, wideOf } from "./columns.ts";
import type { Column, Schema, Table } from "./columns.ts";
import { byteWriter } from "./varint.ts";
import type { ByteWriter } from "./varint.ts";
import { unzstd } from "./zstd.ts";

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

/** Numbers as i64, little-endian. */
export function i64Bytes(values: Float64Array): Uint8Array {
  const halves = new Int32Array(2 * values.length);
  for (let row = 0; row < values.length; ++row) {
    halves[2 * row] = values[row]!; // modulo 2^32
    halves[2 * row + 1] = Math.floor(values[row]! / 2 ** 32);
  }
  return bytesOf(halves);
}

const RAW = 0;
const ZSTD = 1;
// What a file may unpack to: hostile bytes must not fill the memory. Writers pad up to it.
const ALLOWED_BASE = 2 ** 24;
const ALLOWED_RATIO = 256;
const MOST_CHILDREN = 2 ** 40;
const MOST_DISTANCE = 2 ** 52;

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

/** What is written of each number: 8 bytes for each. */
function zigzagged(table: Table, column: Column): Uint8Array {
  if (column.isWide) return zigzaggedWide(wideOf(table, column.name));
  const { name, after } = column;
  const values = columnOf(table, name);
  const extra = after ? columnOf(table, after) : null;
  const isSigned = column.isSigned === true || after !== undefined;
  const written = new Float64Array(table.count);
  let expected = 0;
  for (let row = 0; row < table.count; ++row) {
    const distance = values[row]! - expected;
    if (!(Math.abs(distance) < MOST_DISTANCE)) throw tooLarge(name);
    written[row] = !isSigned ? distance : distance >= 0 ? 2 * distance : -2 * distance - 1;
    if (after !== undefined) expected = values[row]! + (extra ? extra[row]! : 0);
  }
  return i64Bytes(written);
}

/** The same for bigints, which are written by their distance from the row before. */
function zigzaggedWide(values: BigInt64Array): Uint8Array {
  const written = new BigUint64Array(values.length);
  let before = 0n;
  for (let row = 0; row < values.length; ++row) {
    const distance = BigInt.asIntN(64, values[row]! - before);
    written[row] = BigInt.asUintN(64, (distance << 1n) ^ (distance >> 63n));
    before = values[row]!;
  }
  return bytesOf(written);
}

/** Writes byte planes, the lowest bytes of all numbers first. */
function packColumn(writer: ByteWriter, rows: Uint8Array): void {
  let width = 0;
  for (let at = 0; at < rows.length; ++at) if (rows[at] !== 0 && at % 8 >= width) width = (at % 8) + 1;
  writer.bytes(Uint8Array.of(width));
  for (let plane = 0; plane < width; ++plane) {
    const bytes = new Uint8Array(rows.length / 8);
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
