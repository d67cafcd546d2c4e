// Sources and documents on their way into a catalogue: checked, and written as rows.
import { GossamerError } from "../errors.ts";
import type { ChunkSpan, Span } from "../records.ts";
import type { DocumentRecord, SourceRecord } from "./catalogue.ts";
import { STATUSES, pathOf } from "./catalogue_view.ts";
import { columnsInOrder } from "./columns.ts";
import type { Schema, Table } from "./columns.ts";
import { compareTexts, encodeText, inAscii } from "./text.ts";
import { byteWriter } from "./varint.ts";
import type { ByteWriter } from "./varint.ts";
import { MOST_HEADINGS, VERBATIM } from "./verify.ts";

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

/** A table in the making: lists in place of columns. */
export interface Draft {
  readonly schema: Schema;
  readonly rows: Record<string, number | bigint>[];
  readonly children: ReadonlyMap<string, Draft>;
  readonly content: ByteWriter;
}

/** An empty one. */
export function newDraft(schema: Schema): Draft {
  const children = new Map(schema.children.map(([name, child]) => [name, newDraft(child)]));
  return { schema, rows: [], children, content: byteWriter() };
}

/** The finished table. */
export function tableOf(draft: Draft): Table {
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
export function addSource(
  draft: Draft,
  put: PutSource,
  first: number,
  numberOf: (word: string) => number,
): number {
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
  return encodeText(inAscii(`{${written}}`));
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
