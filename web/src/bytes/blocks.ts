import type { ByteRange } from "./source.ts";

/** Numbers of the blocks of `blockBytes` that hold the ranges, rising. */
export function blocksOf(ranges: readonly ByteRange[], blockBytes: number): number[] {
  const numbers = new Set<number>();
  for (const { at, length } of ranges) {
    for (let n = Math.floor(at / blockBytes); n * blockBytes < at + length; ++n) numbers.add(n);
  }
  return [...numbers].sort((a, b) => a - b);
}

/** A range put together from the blocks that hold it. */
export function cutBlocks(
  { at, length }: ByteRange,
  blockBytes: number,
  block: (number: number) => Uint8Array,
): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {
    const number = Math.floor((at + done) / blockBytes);
    const start = at + done - number * blockBytes;
    const part = block(number).subarray(start, start + length - done);
    bytes.set(part, done);
    done += part.length;
  }
  return bytes;
}
