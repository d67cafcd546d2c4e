/** Bytes somewhere: in memory, in a file the user picked, in storage, on a server. */
export interface ByteSource {
  readonly size: number;
  /** Exactly `length` bytes from `at` on. Truncated if the source ends before, Unreachable if it does
   * not answer, Damaged if it is another file than the one that was opened. */
  read(at: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** Many ranges at once: what lies close together is read in one go. Same order as asked. */
  readMany?(ranges: readonly ByteRange[], signal?: AbortSignal): Promise<Uint8Array[]>;
  /** The same without waiting, where storage can (OPFS, memory); into `into`, all of it. */
  readNow?(at: number, into: Uint8Array): void;
  close(): void;
}

export interface ByteRange {
  readonly at: number;
  readonly length: number;
}

/** Reads ranges together where the source can, else one by one. */
export function readMany(
  source: ByteSource,
  ranges: readonly ByteRange[],
  signal?: AbortSignal,
): Promise<Uint8Array[]> {
  if (source.readMany) return source.readMany(ranges, signal);
  return Promise.all(ranges.map((range) => source.read(range.at, range.length, signal)));
}
