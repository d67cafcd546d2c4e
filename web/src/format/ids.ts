// Which ids an engine's file has: its sections 8 and 9 (docs/format.md). The engine reads them itself;
// this is for those who take a file in without one.

import { GossamerError } from "../errors.ts";
import { byteReader } from "./varint.ts";

/** The ids of nodes that are not deleted, in the order of nodes. Damaged unless there are `count` of
 * them: nothing larger is made. */
export function liveIds(
  nodes: number,
  count: number,
  sections: { readonly ids?: Uint8Array | undefined; readonly deleted?: Uint8Array | undefined },
): Float64Array {
  const { ids, deleted } = sections;
  const isGone = (node: number) => deleted !== undefined && ((deleted[node >>> 3]! >>> (node & 7)) & 1) === 1;
  if (deleted && deleted.length !== 8 * Math.ceil(nodes / 64)) throw damaged("deleted nodes do not fit");
  let gone = 0;
  for (let node = 0; deleted && node < nodes; ++node) gone += +isGone(node);
  if (nodes - gone !== count) throw damaged(`${nodes - gone} vectors do not belong to ${count} chunks`);
  const next = ids ? readerOf(ids, nodes) : (node: number) => node;
  const live = new Float64Array(count);
  let place = 0;
  for (let node = 0; node < nodes; ++node) {
    const id = next(node);
    if (!isGone(node)) live[place++] = id;
  }
  return live;
}

/** Gives the id of each node, asked for one after the other. Ids above 2^53 come out rounded. */
function readerOf(bytes: Uint8Array, nodes: number): (node: number) => number {
  const width = bytes[0] ?? 255;
  if (width === 0) return runsOf(bytes.subarray(1));
  if (width > 63 || bytes.length !== 1 + Math.ceil((nodes * width) / 8)) throw damaged("ids do not fit");
  return (node) => {
    let id = 0;
    for (let done = 0; done < width; ) {
      const bit = node * width + done;
      const part = Math.min(8 - (bit % 8), width - done);
      const byte = bytes[1 + Math.floor(bit / 8)]!;
      id += ((byte >>> bit % 8) & ((1 << part) - 1)) * 2 ** done;
      done += part;
    }
    return id;
  };
}

function runsOf(bytes: Uint8Array): () => number {
  const numbers = byteReader(bytes, "the ids");
  let left = 0;
  let id = 0;
  return () => {
    if (left === 0) {
      left = numbers.varint();
      const folded = numbers.varint();
      if (left === 0) throw damaged("a run of ids is empty");
      id += folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
    }
    left -= 1;
    return id++;
  };
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `${what}; get the file again`);
}
