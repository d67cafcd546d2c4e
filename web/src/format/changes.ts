// From one catalogue to the next: sources replaced and removed, ids that only rise. The twin of
// python/gossamer/store/changes.py.
import { GossamerError } from "../errors.ts";
import type { ChunkSpan, Span } from "../records.ts";
import type { Catalogue, DocumentRecord, SourceRecord } from "./catalogue.ts";
import { SOURCES } from "./catalogue.ts";
import { CatalogueView, STATUSES, pathOf } from "./catalogue_view.ts";
import { columnOf, columnsInOrder, joinTables, takeRows, wideOf, withColumns } from "./columns.ts";
import type { Schema, Table } from "./columns.ts";
import { canonicalOrder, canonicalWords, placeTexts, renumbered, withAwayTables } from "./content.ts";
import { compareTexts, encodeText } from "./text.ts";
import { byteWriter } from "./varint.ts";
import type { ByteWriter } from "./varint.ts";
import { MOST_HEADINGS, VERBATIM, verifyTables } from "./verify.ts";

/** A document to put into the catalogue: its chunks, and checkOf each embedded text. */
export interface ChunkedDocument {
  readonly record: DocumentRecord;
  readonly spans: readonly ChunkSpan[];
  readonly checks: ArrayLike<number>;
}

/** A source to put in, in place of the one of the same path or id. Documents without chunks are left out:
 * nothing of them can be found. */
export interface PutSource {
  readonly source: SourceRecord;
  readonly documents: readonly ChunkedDocument[];
}

/** A source by its name: its path just as it is kept, or the id of a text. */
export interface SourceName {
  readonly isFile: boolean;
  readonly path: string;
}

/** What is to be different in the next catalogue. */
export interface CatalogueChange {
  readonly nextChunkId: number;
  readonly put?: readonly PutSource[];
  readonly remove?: readonly SourceName[]; // UnknownId if one is not there
  readonly touch?: readonly (SourceName & { mtimeNs: bigint; readerVersion: number })[];
  /** Sources of another catalogue, which keep the ids of their chunks: these must be below nextChunkId and
   * free by then. `places` are segment and offset of the texts by row of its documents. */
  readonly merge?: {
    readonly catalogue: Catalogue;
    readonly places?: { readonly segments: ArrayLike<number>; readonly offsets: ArrayLike<number> };
  };
}

export interface ChangedCatalogue {
  readonly catalogue: Catalogue;
  readonly nextChunkId: number;
  readonly ids: readonly number[][]; // of the chunks of each source that was put in
}

/** The next catalogue; the old one is as it was. */
export function changeCatalogue(catalogue: Catalogue, change: CatalogueChange): ChangedCatalogue {
  const leaving = rowsThatLeave(catalogue, change);
  const words = new Map(catalogue.words.map((word, number) => [word, number]));
  const numberOf = (word: string) => {
    const number = words.get(word) ?? words.size;
    words.set(word, number);
    return number;
  };
  const stay = [...catalogue.paths.keys()].filter((row) => !leaving.has(row));
  const tables: [Table, ...Table[]] = [takeRows(touched(catalogue, change.touch ?? []), stay)];
  const draft = newDraft(SOURCES);
  let nextChunkId = change.nextChunkId;
  const ids = (change.put ?? []).map((put) => {
    const first = nextChunkId;
    nextChunkId = addSource(draft, put, first, numberOf);
    return Array.from({ length: nextChunkId - first }, (_, i) => first + i);
  });
  tables.push(tableOf(draft));
  if (change.merge) tables.push(mergedTables(change.merge, numberOf));
  const next = finish([...words.keys()], joinTables(tables));
  const last = next.chunkIds.at(-1);
  if (last !== undefined && last >= nextChunkId) {
    throw new GossamerError("Damaged", `chunk ${last} is yet to come: the next one is ${nextChunkId}`);
  }
  return { catalogue: next, nextChunkId, ids };
}

function finish(words: readonly string[], joined: Table): Catalogue {
  const [kept, tables] = canonicalWords(words, joined);
  const unsorted = new CatalogueView(kept, tables);
  const sorted = takeRows(tables, canonicalOrder(unsorted));
  verifyTables(sorted, kept.length);
  return new CatalogueView(kept, sorted);
}

/** The rows of old sources that are removed or replaced; DuplicateId for a source given twice. */
function rowsThatLeave(catalogue: Catalogue, change: CatalogueChange): Set<number> {
  const merged = change.merge?.catalogue;
  const names: SourceName[] = [
    ...(change.put ?? []).map(({ source }) => ({
      isFile: source.root !== "",
      path: pathOf(source.root, source.name),
    })),
    ...(merged?.paths ?? []).map((path, row) => ({ isFile: merged?.isFile(row) === true, path })),
  ];
  const leaving = new Set<number>();
  const isNew = new Set<string>();
  for (const { isFile, path } of names) {
    const key = `${isFile ? "f" : "t"}${path}`;
    if (isNew.has(key)) {
      throw new GossamerError("DuplicateId", `${JSON.stringify(path)} was given twice in one step; give it once`);
    }
    isNew.add(key);
    const row = catalogue.find(isFile, path);
    if (row !== null) leaving.add(row);
  }
  for (const name of change.remove ?? []) leaving.add(rowOf(catalogue, name));
  return leaving;
}

function touched(catalogue: Catalogue, touches: NonNullable<CatalogueChange["touch"]>): Table {
  const { tables } = catalogue;
  if (touches.length === 0) return tables;
  const times = wideOf(tables, "mtime_ns").slice();
  const versions = columnOf(tables, "reader_version").slice();
  for (const touch of touches) {
    const row = rowOf(catalogue, touch);
    times[row] = touch.mtimeNs;
    versions[row] = touch.readerVersion;
  }
  const changed = withColumns(tables, { reader_version: versions });
  return { ...changed, wide: new Map([...changed.wide, ["mtime_ns", times]]) };
}

function rowOf(catalogue: Catalogue, { isFile, path }: SourceName): number {
  const row = catalogue.find(isFile, path);
  if (row !== null) return row;
  throw new GossamerError(
    "UnknownId",
    `${JSON.stringify(path)} is not in the index, so it cannot be changed there`,
  );
}

function mergedTables(
  { catalogue, places }: NonNullable<CatalogueChange["merge"]>,
  numberOf: (word: string) => number,
): Table {
  const numbers = catalogue.words.map(numberOf);
  if (!places) return renumbered(catalogue.tables, numbers);
  const [segments, offsets] = [Float64Array.from(places.segments), Float64Array.from(places.offsets)];
  if (segments.length !== catalogue.documentCount || offsets.length !== catalogue.documentCount) {
    throw new GossamerError(
      "InvalidArgument",
      `places are a segment and an offset for each of ${catalogue.documentCount} documents, ` +
        `got ${segments.length} and ${offsets.length}`,
    );
  }
  return renumbered(placeTexts(withAwayTables(catalogue.tables), segments, offsets), numbers);
}

/** A table in the making: lists in place of columns. */
interface Draft {
  readonly schema: Schema;
  readonly rows: Record<string, number | bigint>[];
  readonly children: ReadonlyMap<string, Draft>;
  readonly content: ByteWriter;
}

function newDraft(schema: Schema): Draft {
  const children = new Map(schema.children.map(([name, child]) => [name, newDraft(child)]));
  return { schema, rows: [], children, content: byteWriter() };
}

function tableOf(draft: Draft): Table {
  const { schema, rows } = draft;
  const columns = columnsInOrder(schema);
  const content = draft.content.finish();
  return {
    schema,
    count: schema.isBytes ? content.length : rows.length,
    columns: new Map(
      columns
        .filter(({ isWide }) => !isWide)
        .map(({ name }) => [name, Float64Array.from(rows, (row) => Number(row[name]))]),
    ),
    wide: new Map(
      columns
        .filter(({ isWide }) => isWide)
        .map(({ name }) => [name, BigInt64Array.from(rows, (row) => BigInt(row[name]!))]),
    ),
    children: new Map([...draft.children].map(([name, child]) => [name, tableOf(child)])),
    content,
  };
}

/** Adds a source and its documents; gives the chunk id that follows. */
function addSource(draft: Draft, put: PutSource, first: number, numberOf: (word: string) => number): number {
  const { source } = put;
  const kept = put.documents.filter((document) => document.spans.length > 0);
  for (const document of kept) checkDocument(source, document);
  draft.rows.push({
    root: numberOf(source.root),
    kind: numberOf(source.kind),
    status: STATUSES.indexOf(source.status),
    reason: numberOf(source.reason),
    reader_version: source.readerVersion,
    size: source.size,
    mtime_ns: source.mtimeNs,
    content_hash: BigInt.asIntN(64, source.contentHash),
    documents: kept.length,
    name: addBytes(draft, "name", encodeText(source.name)),
  });
  const documents = childDraft(draft, "documents");
  let next = first;
  for (const document of kept) {
    addDocument(documents, document, next, numberOf);
    next += document.spans.length;
  }
  return next;
}

function addDocument(
  draft: Draft,
  document: ChunkedDocument,
  firstChunk: number,
  numberOf: (word: string) => number,
): void {
  const { record } = document;
  const [start, end] = record.titleSpan ?? [0, 0];
  draft.rows.push({
    kind: numberOf(record.kind),
    unit: numberOf(record.unit),
    length: record.segment === VERBATIM ? 0 : record.textLength,
    segment: record.segment,
    offset: record.offset,
    title_start: start,
    title_length: end - start,
    first_chunk: firstChunk,
    key: addBytes(draft, "key", encodeText(record.key)),
    title: addBytes(draft, "title", encodeText(record.title)),
    metadata: addBytes(draft, "metadata", metadataBytes(record.metadata)),
    places: addPlaces(childDraft(draft, "places"), record),
    chunks: addChunks(childDraft(draft, "chunks"), document),
  });
}

function addPlaces(draft: Draft, { places }: DocumentRecord): number {
  let before = 0;
  for (const [offset, number] of places) {
    draft.rows.push({ gap: offset - before, number });
    before = offset;
  }
  return places.length;
}

function addChunks(draft: Draft, { spans, checks }: ChunkedDocument): number {
  const headings = childDraft(draft, "headings");
  let before = 0;
  let above: readonly Span[] = [];
  spans.forEach((span, i) => {
    const shared = sharedCount(above, span.context);
    for (const [start, end] of span.context.slice(shared)) {
      headings.rows.push({ before: span.start - end, length: end - start });
    }
    draft.rows.push({
      gap: span.start - before,
      length: span.end - span.start,
      shared,
      check: checks[i]! >>> 0,
      headings: span.context.length - shared,
    });
    before = span.end;
    above = span.context;
  });
  return spans.length;
}

function addBytes(draft: Draft, name: string, bytes: Uint8Array): number {
  childDraft(draft, name).content.bytes(bytes);
  return bytes.length;
}

function childDraft(draft: Draft, name: string): Draft {
  const child = draft.children.get(name);
  if (!child) throw new GossamerError("InvalidArgument", `there is no child table ${name}`);
  return child;
}

function sharedCount(above: readonly Span[], context: readonly Span[]): number {
  let shared = 0;
  const isSame = () => above[shared]![0] === context[shared]![0] && above[shared]![1] === context[shared]![1];
  while (shared < Math.min(above.length, context.length) && isSame()) ++shared;
  return shared;
}

function metadataBytes(metadata: DocumentRecord["metadata"]): Uint8Array {
  const pairs = Object.entries(metadata).sort(([one], [other]) => compareTexts(one, other));
  if (pairs.length === 0) return new Uint8Array();
  const written = pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",");
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return encodeText(`{${written}}`.replace(/[\u007f-\uffff]/g, escaped));
}

/** Says what is wrong with a document before anything of it is taken in. */
function checkDocument(source: SourceRecord, { record, spans, checks }: ChunkedDocument): void {
  const where = pathOf(source.root, source.name);
  const { textLength } = record;
  if (record.segment === VERBATIM && textLength !== source.size) {
    const message = `a verbatim document has the ${source.size} bytes of its file, got ${textLength}`;
    throw new GossamerError("InvalidArgument", `${where}: ${message}`);
  }
  if (checks.length !== spans.length) {
    const message = `${spans.length} chunks need as many checks, got ${checks.length}`;
    throw new GossamerError("InvalidArgument", `${where}: ${message}`);
  }
  for (const span of spans) {
    checkSpans(where, textLength, [[span.start, span.end], ...span.context]);
    if (span.context.length > MOST_HEADINGS) {
      throw new GossamerError("InvalidArgument", `${where}: a chunk stands under ${MOST_HEADINGS} at most`);
    }
  }
  if (record.titleSpan) checkSpans(where, textLength, [record.titleSpan]);
  const offsets = record.places.map(([offset]) => offset);
  checkSpans(where, textLength, [...offsets.keys()].map((i) => [offsets[i - 1] ?? 0, offsets[i]!]));
  if (!record.places.every(([, number]) => number >= 0)) {
    throw new GossamerError("InvalidArgument", `${where}: numbers of places are 0 or more`);
  }
  for (const [key, value] of Object.entries(record.metadata)) {
    const isNumber = typeof value === "number" && Number.isFinite(value);
    if (isNumber || typeof value === "string" || typeof value === "boolean") continue;
    const message = `metadata is text, numbers and booleans, got ${key}=${JSON.stringify(value)}`;
    throw new GossamerError("InvalidArgument", `${where}: ${message}`);
  }
}

function checkSpans(where: string, length: number, spans: readonly Span[]): void {
  for (const [start, end] of spans) {
    if (start >= 0 && start <= end && end <= length) continue;
    const message = `${start} to ${end} is not a span of a text of ${length} bytes`;
    throw new GossamerError("InvalidArgument", `${where}: ${message}`);
  }
}
