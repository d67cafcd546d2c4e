// Bytes that grow.

export interface ByteWriter {
  u64(value: bigint): void;
  f64(value: number): void;
  bytes(bytes: Uint8Array): void;
  finish(): Uint8Array;
}

export function byteWriter(): ByteWriter {
  let whole = new Uint8Array(1024);
  let view = new DataView(whole.buffer);
  let length = 0;
  const grow = (count: number): number => {
    if (length + count > whole.length) {
      const larger = new Uint8Array(Math.max(2 * whole.length, length + count));
      larger.set(whole.subarray(0, length));
      whole = larger;
      view = new DataView(whole.buffer);
    }
    length += count;
    return length - count;
  };
  return {
    u64: (value) => {
      const at = grow(8);
      view.setBigUint64(at, value, true);
    },
    f64: (value) => {
      const at = grow(8);
      view.setFloat64(at, value, true);
    },
    bytes: (bytes) => {
      const at = grow(bytes.length);
      whole.set(bytes, at);
    },
    finish: () => whole.slice(0, length),
  };
}
