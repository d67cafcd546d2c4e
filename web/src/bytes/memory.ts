import { throwIfAborted } from "../errors.ts";
import { checkRange } from "./ranges.ts";
import type { ByteSource } from "./source.ts";

/** Bytes that are in memory. What is read are views: nobody may change them. */
export function memorySource(bytes: Uint8Array): ByteSource {
  const view = (at: number, length: number) => {
    checkRange("what is in memory", bytes.length, at, length);
    return bytes.subarray(at, at + length);
  };
  return {
    size: bytes.length,
    async read(at, length, signal) {
      throwIfAborted(signal);
      return view(at, length);
    },
    async readMany(ranges, signal) {
      throwIfAborted(signal);
      return ranges.map((range) => view(range.at, range.length));
    },
    readNow: (at, into) => into.set(view(at, into.length)),
    close: () => {},
  };
}
