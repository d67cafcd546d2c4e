import { GossamerError } from "../errors.ts";
import type { ByteRange } from "./source.ts";

/** Throws unless `at` and `length` are a range within `size` bytes: Truncated if it ends after. */
export function checkRange(what: string, size: number, at: number, length: number): void {
  if (!Number.isSafeInteger(at) || !Number.isSafeInteger(length) || at < 0 || length < 0) {
    throw new GossamerError("InvalidArgument", `bytes ${at} and ${length} more are no range of ${what}`);
  }
  if (at + length > size) {
    const asked = `${length} bytes from ${at} on were asked for`;
    throw new GossamerError("Truncated", `${what} has ${size} bytes, ${asked}: it was cut short`);
  }
}

/** A range that is read in one go, and which of those asked for lie in it. */
export interface MergedRange extends ByteRange {
  readonly members: readonly number[]; // places in what was asked for
}

/** Joins ranges with gaps of at most `gap` bytes between them, unless that makes one of more than
 * `most` bytes. In rising order; empty ranges are in none. */
export function mergeRanges(
  ranges: readonly ByteRange[],
  gap: number,
  most = Number.MAX_SAFE_INTEGER,
): MergedRange[] {
  const order = ranges.map((_, i) => i).filter((i) => lengthOf(ranges, i) > 0);
  order.sort((a, b) => startOf(ranges, a) - startOf(ranges, b));
  const merged: { at: number; length: number; members: number[] }[] = [];
  for (const i of order) {
    const at = startOf(ranges, i);
    const end = at + lengthOf(ranges, i);
    const last = merged.at(-1);
    const fits = last && at - (last.at + last.length) <= gap && end - last.at <= most;
    if (last && (fits || end <= last.at + last.length)) {
      last.length = Math.max(last.length, end - last.at);
      last.members.push(i);
    } else {
      merged.push({ at, length: end - at, members: [i] });
    }
  }
  return merged;
}

/** Cuts what was asked for out of merged ranges; `read` gives all bytes of one. Those that were in
 * one range share its memory. */
export async function readMerged(
  ranges: readonly ByteRange[],
  merged: readonly MergedRange[],
  read: (range: ByteRange) => Promise<Uint8Array>,
): Promise<Uint8Array[]> {
  const found: Uint8Array[] = ranges.map(() => new Uint8Array(0));
  await Promise.all(
    merged.map(async (range) => {
      const bytes = await read(range);
      for (const i of range.members) {
        const at = startOf(ranges, i) - range.at;
        found[i] = bytes.subarray(at, at + lengthOf(ranges, i));
      }
    }),
  );
  return found;
}

function startOf(ranges: readonly ByteRange[], i: number): number {
  return (ranges[i] as ByteRange).at;
}

function lengthOf(ranges: readonly ByteRange[], i: number): number {
  return (ranges[i] as ByteRange).length;
}
