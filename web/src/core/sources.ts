// Catalogues in the core: read as columns, renamed, and written again.

import type { Table } from "../bytes/columns.ts";
import { joinBytes } from "../bytes/join.ts";
import { GossamerError } from "../errors.ts";
import { decodeText, encodeText } from "../text/text.ts";
import type { Core } from "./memory.ts";

/** What a catalogue holds: roots, kinds, units and reasons, which the columns name by number. */
export interface SourceTables {
  readonly words: readonly string[];
  readonly tables: Table;
}

/** A file of a segment, as far as it is here: that is enough to read its catalogue. */
export interface SegmentFile {
  readonly number: number; // by which catalogues name it
  readonly head: Uint8Array; // header and table of sections
  readonly fileSize: number;
  readonly sections: ReadonlyMap<number, Uint8Array>;
}

/** Of each block of text: its bytes, those as packed, their checksum, 1 if it is packed. */
export type Blocks = Float64Array;

/** Where the blocks of texts lie. */
export interface BlockReader {
  /** Those of a segment's file; Truncated or Damaged for something else. */
  blocksOf(file: SegmentFile): Blocks;
  /** Those of texts of version 1: by what stands before them, and what behind. */
  oldBlocks(head: Uint8Array, tail: Uint8Array, fileSize: number): Blocks;
}

/** What a catalogue is read from: segments of a folder, oldest first, one of a stranger, or one piece as
 * packages and version 1 have it. */
export type CatalogueOrigin =
  | { readonly files: readonly SegmentFile[] }
  | { readonly file: SegmentFile }
  | { readonly bytes: Uint8Array; readonly isOwn?: boolean };

/** A catalogue in the memory of the core, while it is edited. Each step gives another one. */
export interface SourceList {
  /** Its rows in the order of their names. */
  order(): Uint32Array;
  /** These rows in this order. */
  take(rows: ArrayLike<number>): SourceList;
  /** With other roots: one name for each word. */
  renameRoots(names: readonly string[]): SourceList;
  /** In one piece, which every reader takes; columns are not compressed. */
  pack(): Uint8Array;
  /** The file of a segment without its texts, which stay where they are. Rows are in the order of names. */
  packSegment(): Uint8Array;
  /** The bytes that tell this content from any other, wherever its texts are. */
  content(): Uint8Array;
}

export interface SourceEditor extends BlockReader {
  /** Reads what a catalogue holds, whatever it is read from. */
  readTables(origin: CatalogueOrigin): SourceTables;
  /** Reads a catalogue in one piece. One that was not made here may take less memory for its size. */
  readSources(bytes: Uint8Array, isOwn?: boolean): SourceTables;
  /** What `use` makes of a list; all lists are gone afterwards. */
  edit<T>(origin: CatalogueOrigin, use: (list: SourceList) => T): T;
  /** The ids of so many nodes of an engine that are not deleted, by its sections of ids and of deleted
   * nodes. */
  liveIds(nodes: number, ids?: Uint8Array, deleted?: Uint8Array): Float64Array;
}

/** What BlockReader gives, each call by an instance of its own: what a failed one leaves in memory goes. */
export function blockReader(core: () => Core): BlockReader {
  return {
    blocksOf: (file) => {
      const now = core();
      return using(now, "segment_free", giveFile(now, file), (segment) =>
        now.numbers(now.call("segment_blocks", segment)),
      );
    },
    oldBlocks: (head, tail, fileSize) => {
      const now = core();
      return now.lend([joinBytes([head, tail])], (at) =>
        now.numbers(now.call("old_blocks", at as number, head.length, tail.length, fileSize)),
      );
    },
  };
}

/** The address of a collection of what a catalogue holds. */
export function openCollection(core: Core, origin: CatalogueOrigin): number {
  if (!("files" in origin)) return core.call("collection_of_list", openList(core, origin));
  return lendFiles(core, "collection_of_segments", origin.files);
}

/** What SourceEditor gives, by a module that can. */
export function sourceEditor(core: () => Core): SourceEditor {
  return {
    ...blockReader(core),
    readTables: (origin) => {
      const now = core();
      return tablesAt(now, openList(now, origin));
    },
    readSources: (bytes, isOwn = false) => {
      const now = core();
      return tablesAt(now, readList(now, bytes, isOwn));
    },
    edit: (origin, use) => editList(core(), origin, use),
    liveIds: (nodes, ids = new Uint8Array(), deleted = new Uint8Array()) => {
      const now = core();
      return now.lend([joinBytes([ids, deleted])], (at) =>
        now.numbers(now.call("live_ids", at as number, ids.length, deleted.length, nodes)),
      );
    },
  };
}

/** The catalogue of segments in the memory of a module; `catalogue_free` frees it. */
export function openCatalogue(core: Core, files: readonly SegmentFile[]): number {
  return lendFiles(core, "catalogue_open", files);
}

/** Calls a function with files, which it takes over. */
export function lendFiles(
  core: Core,
  name: string,
  files: readonly SegmentFile[],
  ...more: number[]
): number {
  const addresses = Uint32Array.from(files, (file) => giveFile(core, file));
  const numbers = Float64Array.from(files, ({ number }) => number);
  return core.lend([addresses, numbers], (...at) => core.call(name, ...at, files.length, ...more));
}

/** The list that is packed in these bytes; `sources_free` frees it. */
export function readList(core: Core, bytes: Uint8Array, isOwn: boolean): number {
  return core.lend([bytes], (at) => core.call("sources_read", at as number, bytes.length, isOwn ? 1 : 0));
}

/** The bytes of a file that the core made, in parts; it is freed. */
export function takeMade(core: Core, made: number): Uint8Array[] {
  return using(core, "made_free", made, () =>
    Array.from({ length: core.call("made_parts", made) }, (_, i) => core.bytes(core.call("made_part", made, i))),
  );
}

/** What `use` gives of an address, which the function `free` frees afterwards. */
export function using<T>(core: Core, free: string, address: number, use: (address: number) => T): T {
  try {
    return use(address);
  } finally {
    // A module that is broken holds nothing any more.
    if (!core.isBroken()) core.call(free, address);
  }
}

function giveFile(core: Core, { head, fileSize, sections }: SegmentFile): number {
  const file = core.call("segment_new", core.give(head), head.length, fileSize);
  for (const [kind, bytes] of sections) {
    core.call("segment_attach", file, kind, core.give(bytes), bytes.length);
  }
  return file;
}

function editList<T>(core: Core, origin: CatalogueOrigin, use: (list: SourceList) => T): T {
  const opened: number[] = [];
  const keep = (address: number): SourceList => {
    opened.push(address);
    return listAt(core, address, keep);
  };
  try {
    return use(keep(openList(core, origin)));
  } finally {
    if (!core.isBroken()) for (const address of opened) core.call("sources_free", address);
  }
}

/** The list that a catalogue is read from; `sources_free` frees it. */
export function openList(core: Core, origin: CatalogueOrigin): number {
  if ("bytes" in origin) return readList(core, origin.bytes, origin.isOwn ?? true);
  if ("files" in origin) {
    return using(core, "catalogue_free", openCatalogue(core, origin.files), (catalogue) =>
      core.call("catalogue_list", catalogue),
    );
  }
  return using(core, "segment_free", giveFile(core, origin.file), (segment) =>
    core.call("segment_sources", segment, origin.file.number),
  );
}

function listAt(core: Core, address: number, keep: (address: number) => SourceList): SourceList {
  return {
    order: () => core.words(core.call("sources_order", address)),
    take: (rows) =>
      keep(
        core.lend([Uint32Array.from(rows)], (at) =>
          core.call("sources_take", address, at as number, rows.length),
        ),
      ),
    renameRoots: (names) => {
      const encoded = names.map(encodeText);
      const lengths = Uint32Array.from(encoded, ({ length }) => length);
      return keep(
        core.lend([joinBytes(encoded), lengths], (...at) =>
          core.call("sources_rename_roots", address, ...at, names.length),
        ),
      );
    },
    pack: () => core.bytes(core.call("sources_pack", address)),
    packSegment: () => joinBytes(takeMade(core, core.call("sources_segment", address))),
    content: () => core.bytes(core.call("sources_content", address)),
  };
}

/** The columns of a list, which is freed. */
function tablesAt(core: Core, list: number): SourceTables {
  return using(core, "sources_free", list, () => ({
    words: wordsOf(core, list),
    tables: tablesOf(core, list),
  }));
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
