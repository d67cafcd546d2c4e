// What a catalogue answers, from its columns. What is derived from them is made when first asked for.
import { childOf, columnOf, startsOf, wideOf } from "../bytes/columns.ts";
import type { Table } from "../bytes/columns.ts";
import type { CatalogueOrigin, SourceEditor } from "../core/sources.ts";
import { GossamerError } from "../errors.ts";
import type { Span, Value } from "../records.ts";
import { decodeText } from "../text/text.ts";
import type { Catalogue, DocumentRecord, Run, SourceRecord, Status } from "./catalogue.ts";
import { VERBATIM } from "./catalogue.ts";

export const STATUSES: readonly Status[] = ["indexed", "skipped", "failed"];

/** Reads a catalogue in one piece, that of a stranger unless it was made here (`isOwn`); NotGossamer,
 * UnknownVersion, Truncated or Damaged for anything else. */
export function readCatalogue(editor: SourceEditor, bytes: Uint8Array, isOwn = false): Catalogue {
  const { words, tables } = editor.readSources(bytes, isOwn);
  return new CatalogueView({ bytes }, words, tables);
}

/** Joins what a source keeps of its path. */
export function pathOf(root: string, name: string): string {
  if (root === "") return name;
  return root.endsWith("/") ? root + name : `${root}/${name}`;
}

/** A catalogue over tables that were verified. */
export class CatalogueView implements Catalogue {
  readonly sourceCount: number;
  readonly documentCount: number;
  readonly chunkCount: number;
  readonly #documents: Table;
  readonly #chunks: Table;
  readonly #lazy = new Map<string, unknown>();

  constructor(
    readonly origin: CatalogueOrigin,
    readonly words: readonly string[],
    private readonly tables: Table,
  ) {
    this.#documents = childOf(tables, "documents");
    this.#chunks = childOf(this.#documents, "chunks");
    this.sourceCount = tables.count;
    this.documentCount = this.#documents.count;
    this.chunkCount = this.#chunks.count;
  }

  // Sources

  get paths(): readonly string[] {
    return this.#once("paths", () => {
      const roots = columnOf(this.tables, "root");
      return Array.from({ length: this.sourceCount }, (_, row) =>
        pathOf(this.#word(roots[row]!), this.#text(this.tables, "name", row)),
      );
    });
  }

  find(isFile: boolean, path: string): number | null {
    const rows = this.#once(isFile ? "files" : "texts", () => {
      const pairs = this.paths.map((name, row): [string, number] => [name, row]);
      return new Map(pairs.filter(([, row]) => this.isFile(row) === isFile));
    });
    return rows.get(path) ?? null;
  }

  source(row: number): SourceRecord {
    const number = (name: string) => columnOf(this.tables, name)[row]!;
    checkRow(row, this.sourceCount, "source");
    return {
      root: this.#word(number("root")),
      name: this.#text(this.tables, "name", row),
      size: number("size"),
      mtimeNs: wideOf(this.tables, "mtime_ns")[row]!,
      contentHash: BigInt.asUintN(64, wideOf(this.tables, "content_hash")[row]!),
      kind: this.#word(number("kind")),
      status: STATUSES[number("status")]!,
      reason: this.#word(number("reason")),
      readerVersion: number("reader_version"),
    };
  }

  isFile(sourceRow: number): boolean {
    return columnOf(this.tables, "root")[sourceRow] !== 0;
  }

  documentsOf(sourceRow: number): Run {
    checkRow(sourceRow, this.sourceCount, "source");
    const first = this.#starts(this.tables, "documents")[sourceRow]!;
    return { first, count: columnOf(this.tables, "documents")[sourceRow]! };
  }

  chunksOf(sourceRow: number): number[] {
    const { first, count } = this.documentsOf(sourceRow);
    const ids: number[] = [];
    for (let row = first; row < first + count; ++row) {
      const chunks = this.chunksIn(row);
      for (let i = 0; i < chunks.count; ++i) ids.push(chunks.first + i);
    }
    return ids;
  }

  // Documents

  get sourceRows(): Uint32Array {
    return this.#once("sourceRows", () => {
      const starts = this.#starts(this.tables, "documents");
      const rows = new Uint32Array(this.documentCount);
      for (let source = 0; source < this.sourceCount; ++source) {
        rows.fill(source, starts[source]!, starts[source + 1]!);
      }
      return rows;
    });
  }

  get textLengths(): Float64Array {
    return this.#once("textLengths", () => {
      const [sizes, segments] = [columnOf(this.tables, "size"), columnOf(this.#documents, "segment")];
      return columnOf(this.#documents, "length").map((length, row) =>
        segments[row] === VERBATIM ? sizes[this.sourceRows[row]!]! : length,
      );
    });
  }

  get textPlaces(): { segments: Float64Array; offsets: Float64Array } {
    return { segments: columnOf(this.#documents, "segment"), offsets: columnOf(this.#documents, "offset") };
  }

  get titleSpans(): { starts: Float64Array; ends: Float64Array } {
    return this.#once("titleSpans", () => {
      const starts = columnOf(this.#documents, "title_start");
      const lengths = columnOf(this.#documents, "title_length");
      return { starts, ends: starts.map((start, row) => start + lengths[row]!) };
    });
  }

  document(row: number): DocumentRecord {
    checkRow(row, this.documentCount, "document");
    const number = (name: string) => columnOf(this.#documents, name)[row]!;
    const [start, length] = [number("title_start"), number("title_length")];
    return {
      textLength: this.textLengths[row]!,
      kind: this.kindOf(row),
      segment: number("segment"),
      offset: number("offset"),
      key: this.#text(this.#documents, "key", row),
      title: this.#text(this.#documents, "title", row),
      titleSpan: length > 0 ? [start, start + length] : null,
      unit: this.unitOf(row),
      places: this.#places(row),
      metadata: readMetadata(this.#text(this.#documents, "metadata", row)),
    };
  }

  kindOf(documentRow: number): string {
    return this.#word(columnOf(this.#documents, "kind")[documentRow]!);
  }

  unitOf(documentRow: number): string {
    return this.#word(columnOf(this.#documents, "unit")[documentRow]!);
  }

  metadata(): readonly Readonly<Record<string, Value>>[] {
    return this.#once("metadata", () => {
      const known = new Map<string, Record<string, Value>>();
      return Array.from({ length: this.documentCount }, (_, row) => {
        const text = this.#text(this.#documents, "metadata", row);
        const values = known.get(text) ?? readMetadata(text);
        known.set(text, values);
        return values;
      });
    });
  }

  chunksIn(documentRow: number): Run {
    checkRow(documentRow, this.documentCount, "document");
    return {
      first: columnOf(this.#documents, "first_chunk")[documentRow]!,
      count: columnOf(this.#documents, "chunks")[documentRow]!,
    };
  }

  // Chunks

  get chunkIds(): Float64Array {
    return this.#once("chunkIds", () => {
      const ids = new Float64Array(this.chunkCount);
      let at = 0;
      for (const row of this.#byChunk().rows) {
        const { first, count } = this.chunksIn(row);
        for (let i = 0; i < count; ++i) ids[at++] = first + i;
      }
      return ids;
    });
  }

  documentRows(ids: ArrayLike<number>): Uint32Array {
    const { rows, firsts } = this.#byChunk();
    const counts = columnOf(this.#documents, "chunks");
    const found = new Uint32Array(ids.length);
    let last = -1; // ids mostly come in runs: the place found last is tried first
    for (let i = 0; i < ids.length; ++i) {
      const id = ids[i]!;
      if (!(last >= 0 && id >= firsts[last]! && !(id >= firsts[last + 1]!))) last = placeOf(firsts, id);
      const row = last < 0 ? -1 : rows[last]!;
      if (row < 0 || !(id - firsts[last]! < counts[row]!)) {
        throw new GossamerError("UnknownId", `there is no chunk ${id}; search again for present ids`);
      }
      found[i] = row;
    }
    return found;
  }

  spans(ids: ArrayLike<number>): { starts: Float64Array; ends: Float64Array } {
    const lengths = columnOf(this.#chunks, "length");
    const ends = this.#chunkEnds();
    const rows = this.#chunkRows(ids);
    const spans = { starts: new Float64Array(rows.length), ends: new Float64Array(rows.length) };
    rows.forEach((row, i) => {
      spans.ends[i] = ends[row]!;
      spans.starts[i] = ends[row]! - lengths[row]!;
    });
    return spans;
  }

  checks(ids: ArrayLike<number>): Uint32Array {
    const checks = columnOf(this.#chunks, "check");
    return this.#chunkRows(ids).map((row) => checks[row]!);
  }

  contexts(ids: ArrayLike<number>): Span[][] {
    const documents = this.documentRows(ids);
    const rows = this.#chunkRows(ids);
    const byDocument = new Map<number, number[]>(); // places among the ids
    documents.forEach((document, i) => {
      const places = byDocument.get(document);
      if (places) places.push(i);
      else byDocument.set(document, [i]);
    });
    const contexts: Span[][] = new Array<Span[]>(rows.length);
    for (const [document, places] of byDocument) {
      places.sort((one, other) => rows[one]! - rows[other]!);
      this.#contextsWithin(document, places, rows, contexts);
    }
    return contexts;
  }

  // A chunk writes down what it does not share with the one before, so that the headings of a chunk are
  // known after all chunks of its document before it were passed.
  #contextsWithin(document: number, places: number[], rows: Uint32Array, contexts: Span[][]): void {
    const headings = childOf(this.#chunks, "headings");
    const [before, sizes] = [columnOf(headings, "before"), columnOf(headings, "length")];
    const [shared, lengths] = [columnOf(this.#chunks, "shared"), columnOf(this.#chunks, "length")];
    const firsts = this.#starts(this.#chunks, "headings");
    const ends = this.#chunkEnds();
    const above: Span[] = [];
    let row = this.#starts(this.#documents, "chunks")[document]!;
    for (const place of places) {
      for (; row <= rows[place]!; ++row) {
        above.length = shared[row]!;
        for (let heading = firsts[row]!; heading < firsts[row + 1]!; ++heading) {
          const end = ends[row]! - lengths[row]! - before[heading]!;
          above.push([end - sizes[heading]!, end]);
        }
      }
      contexts[place] = above.slice();
    }
  }

  #chunkRows(ids: ArrayLike<number>): Uint32Array {
    const rows = this.documentRows(ids);
    const starts = this.#starts(this.#documents, "chunks");
    const firsts = columnOf(this.#documents, "first_chunk");
    return rows.map((row, i) => starts[row]! + ids[i]! - firsts[row]!);
  }

  #places(row: number): (readonly [number, number])[] {
    const places = childOf(this.#documents, "places");
    const [gaps, numbers] = [columnOf(places, "gap"), columnOf(places, "number")];
    const starts = this.#starts(this.#documents, "places");
    const found: [number, number][] = [];
    for (let at = starts[row]!, offset = 0; at < starts[row + 1]!; ++at) {
      offset += gaps[at]!;
      found.push([offset, numbers[at]!]);
    }
    return found;
  }

  /** Documents by their first chunk. */
  #byChunk(): { rows: Uint32Array; firsts: Float64Array } {
    return this.#once("byChunk", () => {
      const firsts = columnOf(this.#documents, "first_chunk");
      const rows = Uint32Array.from(firsts.keys()).sort((a, b) => firsts[a]! - firsts[b]!);
      return { rows, firsts: Float64Array.from(rows, (row) => firsts[row]!) };
    });
  }

  #chunkEnds(): Float64Array {
    return this.#once("chunkEnds", () => {
      const [gaps, lengths] = [columnOf(this.#chunks, "gap"), columnOf(this.#chunks, "length")];
      const firsts = new Set(this.#starts(this.#documents, "chunks"));
      let end = 0;
      return gaps.map((gap, row) => (end = (firsts.has(row) ? 0 : end) + gap + lengths[row]!));
    });
  }

  #starts(table: Table, child: string): Float64Array {
    const key = `${table === this.tables ? 0 : table === this.#documents ? 1 : 2}:${child}`;
    return this.#once(key, () => startsOf(columnOf(table, child)));
  }

  #text(table: Table, child: string, row: number): string {
    const starts = this.#starts(table, child);
    const text = decodeText(childOf(table, child).content.subarray(starts[row], starts[row + 1]));
    if (text === null) throw damaged(`a ${child} in the catalogue is no text`);
    return text;
  }

  #word(number: number): string {
    return this.words[number] ?? "";
  }

  #once<T>(key: string, make: () => T): T {
    if (!this.#lazy.has(key)) this.#lazy.set(key, make());
    return this.#lazy.get(key) as T;
  }
}

/** The last place whose number is not beyond this one; -1 if there is none. */
function placeOf(rising: Float64Array, number: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rising[middle]! <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function readMetadata(text: string): Record<string, Value> {
  if (text === "") return {};
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    throw damaged("metadata in the catalogue is no JSON");
  }
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw damaged("metadata in the catalogue is no object");
  }
  if (!Object.values(values).every((value) => ["string", "number", "boolean"].includes(typeof value))) {
    throw damaged("metadata in the catalogue holds more than text and numbers");
  }
  return values as Record<string, Value>;
}

function checkRow(row: number, count: number, what: string): void {
  if (row >= 0 && row < count) return;
  throw new GossamerError("UnknownId", `there is no ${what} in row ${row}; there are ${count}`);
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", `${what}; get the index again`);
}
