// Numbers in groups of 7 bits, lowest first, each in a byte whose highest bit says that another follows.
import { GossamerError } from "../errors.ts";

/** Bytes that are taken from the front; Damaged where there are none left. */
export interface ByteReader {
  readonly at: number;
  varint(): number; // below 2^53
  u32(): number;
  bytes(count: number): Uint8Array; // a view
}

export function byteReader(bytes: Uint8Array, what: string): ByteReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const advance = (count: number) => {
    if (count > bytes.length - at) {
      throw new GossamerError("Damaged", `${what} end too early; get the file again`);
    }
    at += count;
    return at - count;
  };
  return {
    get at() {
      return at;
    },
    varint: () => {
      let value = 0;
      for (let scale = 1; ; scale *= 128) {
        const byte = bytes[advance(1)] as number;
        value += (byte & 127) * scale;
        if (value > Number.MAX_SAFE_INTEGER || scale > 2 ** 49) {
          throw new GossamerError("Damaged", `${what} hold a number beyond 2^53; get the file again`);
        }
        if (byte < 128) return value;
      }
    },
    u32: () => view.getUint32(advance(4), true),
    bytes: (count) => {
      const start = advance(count);
      return bytes.subarray(start, start + count);
    },
  };
}

/** Bytes that grow. */
export interface ByteWriter {
  readonly length: number;
  varint(value: number): void;
  u32(value: number): void;
  u64(value: number | bigint): void;
  f64(value: number): void;
  bytes(bytes: Uint8Array): void;
  finish(): Uint8Array;
}

export function byteWriter(): ByteWriter {
  let whole = new Uint8Array(1024);
  let length = 0;
  const grow = (count: number) => {
    if (length + count > whole.length) {
      const larger = new Uint8Array(Math.max(2 * whole.length, length + count));
      larger.set(whole.subarray(0, length));
      whole = larger;
    }
    length += count;
    return length - count;
  };
  const put = (count: number, write: (view: DataView, at: number) => void) => {
    const at = grow(count);
    write(new DataView(whole.buffer), at);
  };
  return {
    get length() {
      return length;
    },
    varint: (value) => {
      let rest = value;
      for (; rest >= 128; rest = Math.floor(rest / 128)) {
        const at = grow(1);
        whole[at] = 128 | (rest % 128);
      }
      const at = grow(1);
      whole[at] = rest;
    },
    u32: (value) => put(4, (view, at) => view.setUint32(at, value, true)),
    u64: (value) => put(8, (view, at) => view.setBigUint64(at, BigInt(value), true)),
    f64: (value) => put(8, (view, at) => view.setFloat64(at, value, true)),
    bytes: (bytes) => {
      const at = grow(bytes.length);
      whole.set(bytes, at);
    },
    finish: () => whole.slice(0, length),
  };
}
