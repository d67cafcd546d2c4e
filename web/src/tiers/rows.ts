import { mergeRanges, readMerged } from "../bytes/ranges.ts";
import type { ByteSource } from "../bytes/source.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";

/** Where rows of vectors are read that are not in memory. Rows are as the file keeps them. */
export interface RowSource {
  readonly isSync: boolean; // whether readRowsNow is there
  /** Reads the row of each node into `into(i)`. Nodes rise. */
  readRowsNow?(nodes: ArrayLike<number>, into: (i: number) => Uint8Array): void;
  /** The rows of these nodes, end to end, in one go: one transaction, one batch of requests. */
  readRows(nodes: Uint32Array, signal?: AbortSignal): Promise<Uint8Array>;
}

// What lies between two rows is read with them up to so many bytes: less than what a read costs.
const GAP_NOW = 2048;
const GAP_LATER = 8192;
const MOST_TOGETHER = 128 * 1024;

/** The rows of the vectors section that begins at byte `at` of a source: a file in storage, a file
 * that the user picked, or one on a server. Rows that lie close together are read together. */
export function storedRows(source: ByteSource, at: number, rowBytes: number): RowSource {
  const rangeOf = (node: number) => ({ at: at + node * rowBytes, length: rowBytes });
  const readRows = async (nodes: Uint32Array, signal?: AbortSignal) => {
    throwIfAborted(signal);
    const ranges = Array.from(nodes, rangeOf);
    const rows = new Uint8Array(nodes.length * rowBytes);
    const read = source.readMany
      ? await source.readMany(ranges, signal)
      : await readMerged(ranges, mergeRanges(ranges, GAP_LATER, MOST_TOGETHER), (range) =>
          source.read(range.at, range.length, signal),
        );
    read.forEach((row, i) => rows.set(checkRow(row, rowBytes), i * rowBytes));
    return rows;
  };
  const { readNow } = source;
  if (!readNow) return { isSync: false, readRows };
  const readBytes = (from: number, into: Uint8Array) => readNow.call(source, from, into);
  return { isSync: true, readRowsNow: readerOfRows(readBytes, at, rowBytes), readRows };
}

/** Reads rows by runs of nodes that lie close together: a run of one straight to where it belongs. */
function readerOfRows(
  readBytes: (at: number, into: Uint8Array) => void,
  at: number,
  rowBytes: number,
): (nodes: ArrayLike<number>, into: (i: number) => Uint8Array) => void {
  const together = new Uint8Array(Math.max(MOST_TOGETHER, rowBytes));
  const mostNodes = Math.max(1, Math.floor(together.length / rowBytes));
  const gap = 1 + Math.floor(GAP_NOW / rowBytes);
  return (nodes, into) => {
    for (let first = 0; first < nodes.length; ) {
      const start = nodes[first] as number;
      let end = first + 1;
      for (; end < nodes.length; end++) {
        const node = nodes[end] as number;
        const before = nodes[end - 1] as number;
        if (node <= before || node - before > gap || node - start >= mostNodes) break;
      }
      if (end === first + 1) {
        readBytes(at + start * rowBytes, into(first));
      } else {
        const length = ((nodes[end - 1] as number) - start + 1) * rowBytes;
        readBytes(at + start * rowBytes, together.subarray(0, length));
        for (let i = first; i < end; i++) {
          const from = ((nodes[i] as number) - start) * rowBytes;
          into(i).set(together.subarray(from, from + rowBytes));
        }
      }
      first = end;
    }
  };
}

function checkRow(row: Uint8Array, rowBytes: number): Uint8Array {
  if (row.length === rowBytes) return row;
  throw new GossamerError(
    "Truncated",
    `a vector has ${rowBytes} bytes and ${row.length} came: open the index again`,
  );
}
