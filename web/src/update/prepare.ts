// From a file, or a text that was given, to chunks that are ready to be embedded. The twin of
// python/gossamer/update/prepare.py.

import { checkOf, hashOfBytes } from "../bytes/hashes.ts";
import { joinBytes } from "../bytes/join.ts";
import { decoded, utf8, wellFormed } from "../bytes/strings.ts";
import type { ChunkCore } from "../core/chunks.ts";
import { GossamerError } from "../errors.ts";
import type { DocumentRecord, SourceRecord } from "../format/catalogue.ts";
import { documentOf } from "../readers/documents.ts";
import { READER_VERSION, readFile } from "../readers/read.ts";
import type { ChunkSpan, Document } from "../records.ts";
import { decodeText } from "../text/text.ts";
import { checkText, hashOfGiven, isFileInput, keyOfFile, type Input } from "./inputs.ts";
import { READ_AGAIN } from "./sources.ts";

const ANCHORS = "#"; // names them in the metadata of a document; no hit shows it
const TITLE_WITHIN = 4096; // whoever shows a title reads no more than this of the text

/** A document's chunks, and what their texts are made of when they are embedded. */
export interface PreparedDocument {
  readonly record: DocumentRecord; // where its text is kept is not said yet
  readonly spans: readonly ChunkSpan[];
  readonly checks: Uint32Array;
  readonly line: string; // stands before each chunk
  readonly text: Uint8Array; // the title may stand behind the document's own
}

type Embedding = Pick<ChunkCore, "embeddedText">;

/** What documents become chunks by. */
export interface Cutter extends Embedding, Pick<ChunkCore, "contextLine"> {
  /** Divides a text of some markup into chunks that stand under a line. */
  cut(text: Uint8Array, markup: string, line: string): ChunkSpan[];
  writeAnchors: ChunkCore["writeAnchors"];
}

/** A source whose content is known and whose chunks are not made yet. */
export interface Looked {
  readonly source: SourceRecord;
  /** Reads and cuts it; Unreadable or LeftOut says why that cannot be. */
  prepare(cutter: Cutter): PreparedDocument[];
}

/** Looks at an input without reading what is in it; InvalidArgument for what is none. */
export function lookAt(input: Input): Looked {
  if (isFileInput(input)) return lookAtFile(input.path, input.bytes, input.mtime);
  checkText(input);
  const text = utf8(input.text);
  const { title = "", markup = "plain", metadata = {} } = input;
  const source = {
    root: "",
    name: input.id,
    size: text.length,
    mtimeNs: nanoseconds(1000 * Math.floor(Date.now() / 1000)), // as Python notes it
    contentHash: hashOfGiven(input),
    kind: "text",
    status: "indexed" as const,
    reason: "",
    readerVersion: READER_VERSION,
  };
  const document = documentOf(text, "text", { markup, title, metadata, hasSlugs: true });
  return { source, prepare: (cutter) => chunked(source, [document], cutter) };
}

/** A source that is left out, and why; what failed is tried again whenever it is come across. */
export function withoutText(source: SourceRecord, error: GossamerError): SourceRecord {
  const isSkipped = error.reason === "LeftOut";
  return {
    ...source,
    kind: "",
    status: isSkipped ? "skipped" : "failed",
    reason: error.message,
    readerVersion: isSkipped ? source.readerVersion : READ_AGAIN,
  };
}

/** The text to embed for a chunk; made when it is needed, as all take much memory. */
export function embeddedOf(core: Embedding, { line, text }: PreparedDocument, span: ChunkSpan): string {
  const bytes = embedded(core, line, text, span);
  return decodeText(bytes) ?? decoded(bytes);
}

function lookAtFile(path: string, bytes: Uint8Array, mtime = 0): Looked {
  if (typeof path !== "string" || !(bytes instanceof Uint8Array)) {
    throw new GossamerError("InvalidArgument", "a file is a path and its bytes");
  }
  const source: SourceRecord = {
    ...keyOfFile(path),
    size: bytes.length,
    mtimeNs: nanoseconds(mtime),
    contentHash: hashOfBytes(bytes),
    kind: "",
    status: "indexed",
    reason: "",
    readerVersion: READER_VERSION,
  };
  return { source, prepare: (cutter) => chunked(source, readFile(path, bytes), cutter) };
}

function chunked(
  source: SourceRecord,
  documents: readonly Document[],
  cutter: Cutter,
): PreparedDocument[] {
  const name = source.root ? source.name : "";
  try {
    return documents.map((document) => chunkOne(name, document, cutter));
  } catch (error) {
    if (error instanceof GossamerError) throw error;
    const said = error instanceof Error ? error.message.slice(0, 200) : String(error);
    throw new GossamerError("Unreadable", `cannot be cut into chunks: ${said}`);
  }
}

function chunkOne(name: string, document: Document, cutter: Cutter): PreparedDocument {
  // Half a pair of surrogates cannot be stored; what is embedded must be what is stored.
  const title = wellFormed(document.title);
  const line = cutter.contextLine(name, title);
  const spans = cutter.cut(document.text, document.markup, line);
  const { text, titleSpan } = withTitle(document.text, title);
  return {
    record: {
      textLength: text.length,
      kind: document.kind,
      segment: 0,
      offset: 0,
      key: document.key,
      title: "",
      titleSpan,
      unit: document.unit,
      places: document.places,
      metadata: withAnchors(document, spans, cutter),
    },
    spans,
    checks: Uint32Array.from(spans, (span) => checkOf(embedded(cutter, line, text, span))),
    line,
    text,
  };
}

/** The metadata of a document with the anchors of its headings in it, if it has any. */
function withAnchors(document: Document, spans: readonly ChunkSpan[], cutter: Cutter): Document["metadata"] {
  const { [ANCHORS]: _, ...metadata } = document.metadata;
  const anchors = cutter.writeAnchors(document, spans);
  return anchors ? { ...metadata, [ANCHORS]: anchors } : metadata;
}

/** The text with its title in it: behind it, where lines keep their numbers, if it is not there. */
function withTitle(
  text: Uint8Array,
  title: string,
): { text: Uint8Array; titleSpan: readonly [number, number] | null } {
  if (!title) return { text, titleSpan: null };
  const wanted = utf8(title);
  const start = indexOfBytes(text.subarray(0, TITLE_WITHIN), wanted);
  if (start >= 0) return { text, titleSpan: [start, start + wanted.length] };
  const whole = joinBytes([text, Uint8Array.of(10), wanted]);
  return { text: whole, titleSpan: [text.length + 1, whole.length] };
}

function indexOfBytes(bytes: Uint8Array, wanted: Uint8Array): number {
  const first = wanted[0] as number;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (at + wanted.length > bytes.length) return -1;
    if (wanted.every((byte, place) => bytes[at + place] === byte)) return at;
  }
  return -1;
}

function embedded(core: Embedding, line: string, text: Uint8Array, span: ChunkSpan): Uint8Array {
  const headings = span.context.map(([start, end]) => text.subarray(start, end));
  return core.embeddedText(line, headings, text.subarray(span.start, span.end));
}

function nanoseconds(milliseconds: number): bigint {
  return Number.isFinite(milliseconds) ? BigInt(Math.round(milliseconds)) * 1_000_000n : 0n;
}
