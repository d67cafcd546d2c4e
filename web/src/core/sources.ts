// Catalogues in the core: read as columns, changed, and written again.

import { joinBytes } from "../bytes/join.ts";
import { GossamerError } from "../errors.ts";
import type { Table } from "../format/columns.ts";
import { decodeText, encodeText } from "../format/text.ts";
import type { Core } from "./memory.ts";

/** What a catalogue holds: roots, kinds, units and reasons, which the columns name by number. */
export interface SourceTables {
  readonly words: readonly string[];
  readonly tables: Table;
}

export interface SourceReader {
  /** Reads a catalogue; NotGossamer, UnknownVersion, Truncated or Damaged for anything else. One that was
   * not made here may take less memory for its size. */
  readSources(bytes: Uint8Array, isOwn?: boolean): SourceTables;
}

/** A catalogue in the memory of the core, while it is edited. Each step gives another one. */
export interface SourceList {
  /** Its rows in the order of their names. */
  order(): Uint32Array;
  /** These rows in this order. */
  take(rows: ArrayLike<number>): SourceList;
  /** Its rows and then those of another one. */
  join(other: SourceList): SourceList;
  /** With texts elsewhere: a segment and an offset for each document. */
  placeTexts(segments: ArrayLike<number>, offsets: ArrayLike<number>): SourceList;
  touch(touches: readonly { row: number; mtimeNs: bigint; readerVersion: number }[]): SourceList;
  /** With other roots: one name for each word. */
  renameRoots(names: readonly string[]): SourceList;
  /** As bytes that every reader takes; columns are not compressed. */
  pack(): Uint8Array;
  /** The bytes that tell this content from any other, wherever its texts are. */
  content(): Uint8Array;
}

export interface SourceLists {
  /** Of what readSources read, and of what was made here. */
  read(bytes: Uint8Array): SourceList;
  /** Of records as format/put.ts writes them. */
  make(records: Uint8Array): SourceList;
}

export interface SourceEditor extends SourceReader {
  /** What `use` makes of lists, all of which are gone afterwards. */
  edit<T>(use: (lists: SourceLists) => T): T;
  /** The ids of so many nodes of an engine that are not deleted, by its sections of ids and of deleted
   * nodes. */
  liveIds(nodes: number, ids?: Uint8Array, deleted?: Uint8Array): Float64Array;
}

/** Reads a catalogue with a module that can. */
export function readSources(core: Core, bytes: Uint8Array, isOwn: boolean): SourceTables {
  const list = readList(core, bytes, isOwn);
  try {
    return { words: wordsOf(core, list), tables: tablesOf(core, list) };
  } finally {
    if (!core.isBroken()) core.call("sources_free", list);
  }
}

/** Edits lists with a module that can. */
export function editSources<T>(core: Core, use: (lists: SourceLists) => T): T {
  const opened: number[] = [];
  const keep = (address: number): SourceList => {
    opened.push(address);
    return listAt(core, address, keep);
  };
  try {
    return use({
      read: (bytes) => keep(readList(core, bytes, true)),
      make: (records) =>
        keep(core.lend([records], (at) => core.call("sources_make", at as number, records.length))),
    });
  } finally {
    if (!core.isBroken()) for (const address of opened) core.call("sources_free", address);
  }
}

/** What SourceEditor.liveIds gives, by a module that can. */
export function liveIds(
  core: Core,
  nodes: number,
  ids: Uint8Array = new Uint8Array(),
  deleted: Uint8Array = new Uint8Array(),
): Float64Array {
  return core.lend([joinBytes([ids, deleted])], (at) =>
    core.numbers(core.call("live_ids", at as number, ids.length, deleted.length, nodes)),
  );
}

const ADDRESS = Symbol("address");

function listAt(core: Core, address: number, keep: (address: number) => SourceList): SourceList {
  const list = {
    [ADDRESS]: address,
    order: () => core.words(core.call("sources_order", address)),
    take: (rows: ArrayLike<number>) =>
      keep(
        core.lend([Uint32Array.from(rows)], (at) =>
          core.call("sources_take", address, at as number, rows.length),
        ),
      ),
    join: (other: SourceList) =>
      keep(core.call("sources_join", address, (other as SourceList & { [ADDRESS]: number })[ADDRESS])),
    placeTexts: (segments: ArrayLike<number>, offsets: ArrayLike<number>) => {
      if (segments.length !== offsets.length) {
        throw new GossamerError("InvalidArgument", "places are a segment and an offset for each document");
      }
      return keep(
        core.lend([Float64Array.from(segments), Float64Array.from(offsets)], (one, other) =>
          core.call("sources_place_texts", address, one as number, other as number, segments.length),
        ),
      );
    },
    touch: (touches: readonly { row: number; mtimeNs: bigint; readerVersion: number }[]) => {
      const times = BigInt64Array.from(touches, ({ mtimeNs }) => mtimeNs);
      const lent = [
        Float64Array.from(touches, ({ row }) => row),
        new Uint8Array(times.buffer),
        Float64Array.from(touches, ({ readerVersion }) => readerVersion),
      ];
      return keep(core.lend(lent, (...at) => core.call("sources_touch", address, ...at, touches.length)));
    },
    renameRoots: (names: readonly string[]) => {
      const encoded = names.map(encodeText);
      const lengths = Uint32Array.from(encoded, ({ length }) => length);
      return keep(
        core.lend([joinBytes(encoded), lengths], (...at) =>
          core.call("sources_rename_roots", address, ...at, names.length),
        ),
      );
    },
    pack: () => core.bytes(core.call("sources_pack", address)),
    content: () => core.bytes(core.call("sources_content", address)),
  };
  return list;
}

function readList(core: Core, bytes: Uint8Array, isOwn: boolean): number {
  return core.lend([bytes], (at) => core.call("sources_read", at as number, bytes.length, isOwn ? 1 : 0));
}

function wordsOf(core: Core, list: number): string[] {
  const lengths = core.words(core.call("sources_strings", list));
  const letters = core.bytes(lengths.reduce((sum, length) => sum + length, 0), core.second());
  let at = 0;
  return Array.from(lengths, (length) => {
    const word = decodeText(letters.subarray(at, at + length));
    at += length;
    if (word !== null) return word;
    throw new GossamerError("Damaged", "a word in the catalogue is no text; get the index again");
  });
}

/** What a table is, in the words of the core; a star stands before columns of 64 bits. */
interface Described {
  readonly count: number;
  readonly columns: readonly string[];
  readonly children: Readonly<Record<string, Described>>;
}

function tablesOf(core: Core, list: number): Table {
  const described = JSON.parse(
    new TextDecoder().decode(core.bytes(core.call("sources_describe", list))),
  ) as Described;
  const numbers = core.numbers(core.call("sources_columns", list));
  const letters = core.bytes(lettersIn(described), core.second());
  let [at, letter] = [0, 0];
  const fill = ({ count, columns, children }: Described): Table => {
    const narrow = new Map<string, Float64Array>();
    const wide = new Map<string, BigInt64Array>();
    for (const name of columns) {
      const values = numbers.subarray(at, (at += count));
      if (!name.startsWith("*")) narrow.set(name, values);
      else wide.set(name.slice(1), new BigInt64Array(values.buffer, values.byteOffset, count));
    }
    const content = columns.length ? letters.subarray(0, 0) : letters.subarray(letter, (letter += count));
    const below = Object.entries(children).map(([name, child]) => [name, fill(child)] as const);
    return { count, columns: narrow, wide, children: new Map(below), content };
  };
  return fill(described);
}

/** How many letters there are in the tables that have no columns. */
function lettersIn({ count, columns, children }: Described): number {
  const own = columns.length ? 0 : count;
  return Object.values(children).reduce((sum, child) => sum + lettersIn(child), own);
}
