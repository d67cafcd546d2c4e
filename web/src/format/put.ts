// Sources and documents on their way into a catalogue: checked, and written as the core takes them.
import { GossamerError } from "../errors.ts";
import type { ChunkSpan, Span } from "../records.ts";
import { compareTexts, encodeText, inAscii } from "../text/text.ts";
import { byteWriter } from "./byte_writer.ts";
import type { ByteWriter } from "./byte_writer.ts";
import type { DocumentRecord, SourceRecord } from "./catalogue.ts";
import { STATUSES, pathOf } from "./catalogue_view.ts";

const MOST_HEADINGS = 255; // that a chunk stands under

/** A source by its name: its path just as it is kept, or the id of a text. */
export interface SourceName {
  readonly isFile: boolean;
  readonly path: string;
}

export function nameOf({ root, name }: Pick<SourceRecord, "root" | "name">): SourceName {
  return { isFile: root !== "", path: pathOf(root, name) };
}

/** What tells names apart. */
export function keyOfName({ isFile, path }: SourceName): string {
  return `${isFile ? "f" : "t"}${path}`;
}

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

/** Sources as the core takes them, with ids for the chunks of each from `first` on: the fields of each
 * record in the order of web/wasm/exports_segments.cpp. */
export function recordsOf(puts: Iterable<{ readonly put: PutSource; readonly first: number }>): Uint8Array {
  const out = byteWriter();
  for (const { put, first } of puts) {
    const { source, documents } = put;
    const kept = documents.filter(({ spans }) => spans.length > 0);
    let next = first;
    for (const text of [source.root, source.name, source.kind, source.reason]) putText(out, text);
    putNumbers(out, STATUSES.indexOf(source.status), source.readerVersion, source.size);
    out.u64(BigInt.asUintN(64, source.mtimeNs));
    out.u64(BigInt.asUintN(64, source.contentHash));
    putNumbers(out, kept.length);
    for (const document of kept) {
      putDocument(out, document, next);
      next += document.spans.length;
    }
  }
  return out.finish();
}

function putDocument(out: ByteWriter, { record, spans, checks }: ChunkedDocument, first: number): void {
  for (const text of [record.kind, record.unit, record.key, record.title]) putText(out, text);
  putText(out, metadataText(record.metadata));
  putNumbers(out, record.textLength, record.offset, first, ...(record.titleSpan ?? [0, 0]));
  putNumbers(out, record.places.length);
  for (const place of record.places) putNumbers(out, ...place);
  putNumbers(out, spans.length);
  spans.forEach(({ start, end, context }, i) => {
    putNumbers(out, start, end, checks[i]! >>> 0, context.length);
    for (const heading of context) putNumbers(out, ...heading);
  });
}

function putText(out: ByteWriter, text: string): void {
  const bytes = encodeText(text);
  putNumbers(out, bytes.length);
  out.bytes(bytes);
}

function putNumbers(out: ByteWriter, ...numbers: number[]): void {
  for (const number of numbers) out.f64(number);
}

function metadataText(metadata: DocumentRecord["metadata"]): string {
  const pairs = Object.entries(metadata).sort(([one], [other]) => compareTexts(one, other));
  if (pairs.length === 0) return "";
  const written = pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",");
  return inAscii(`{${written}}`);
}

/** Says what is wrong with a source (InvalidArgument) before anything of it is taken in. */
export function checkPut({ source, documents }: PutSource): void {
  for (const document of documents) checkDocument(source, document);
}

function checkDocument(source: SourceRecord, { record, spans, checks }: ChunkedDocument): void {
  const where = pathOf(source.root, source.name);
  const { textLength } = record;
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
