import { GossamerError, throwIfAborted } from "../errors.ts";
import { checkRange, mergeRanges, readMerged } from "./ranges.ts";
import type { ByteRange, ByteSource } from "./source.ts";

const GAP = 64 * 1024; // each read of a file is a round trip to another process

/** A file that the user picked, or any blob. Unreadable if it changed or went since. */
export function blobSource(blob: Blob): ByteSource {
  const what = "name" in blob ? `the file ${String(blob.name)}` : "the file";

  async function slice({ at, length }: ByteRange): Promise<Uint8Array> {
    try {
      return new Uint8Array(await blob.slice(at, at + length).arrayBuffer());
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new GossamerError("Unreadable", `${what} cannot be read any more (${why}); pick it again`);
    }
  }

  return {
    size: blob.size,
    async read(at, length, signal) {
      throwIfAborted(signal);
      checkRange(what, blob.size, at, length);
      return slice({ at, length });
    },
    async readMany(ranges, signal) {
      throwIfAborted(signal);
      for (const range of ranges) checkRange(what, blob.size, range.at, range.length);
      return readMerged(ranges, mergeRanges(ranges, GAP), slice);
    },
    close: () => {},
  };
}
