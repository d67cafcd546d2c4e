// The text of chunks, out of the text store or a server, never a wrong one: what stands there is
// compared with the chunk's check. The twin of python/gossamer/passages.py.

import { checkOf } from "../bytes/hashes.ts";
import { GossamerError } from "../errors.ts";
import { AWAY, VERBATIM } from "../format/catalogue.ts";
import type { Catalogue, DocumentRecord, SourceRecord } from "../format/catalogue.ts";
import type { TextSpan, TextStore } from "../format/parts.ts";
import type { Span } from "../records.ts";
import type { AwayChunk } from "../server/chunks.ts";
import { contextLine, embeddedText } from "../text/embedded.ts";
import { decodeText } from "../text/text.ts";

/** A chunk with its text: what it says, and what was embedded. */
export interface Passage {
  readonly id: number;
  readonly source: SourceRecord;
  readonly path: string;
  readonly document: DocumentRecord;
  readonly title: string;
  readonly start: number;
  readonly end: number;
  readonly body: string;
  readonly embedded: string;
  readonly place: Span; // first and last line (page, ...); zeros where nobody counted
}

/** Gives the texts of chunks that are kept by a server alone; null where it has not got one, all null
 * where it does not answer. */
export type AskChunks = (ids: readonly number[], signal?: AbortSignal) => Promise<(AwayChunk | null)[]>;

/** Reads chunks of one state of an index, and remembers whose text is not what was indexed. */
export class Passages {
  readonly staleRows = new Set<number>(); // of sources
  readonly #catalogue: Catalogue;
  readonly #texts: TextStore;
  readonly #ask: AskChunks | null;

  constructor(catalogue: Catalogue, texts: TextStore, ask: AskChunks | null = null) {
    this.#catalogue = catalogue;
    this.#texts = texts;
    this.#ask = ask;
  }

  /** The passage of each chunk; null where its text is not what was indexed. All blocks of text are read
   * at once. `isPlaced`: with lines, for which the text before a chunk is read too. */
  async read(ids: readonly number[], isPlaced: boolean, signal?: AbortSignal): Promise<(Passage | null)[]> {
    const wanted = this.#outline(ids);
    const here = wanted.filter((chunk) => isHere(chunk.document));
    const found = new Map<number, Passage | null>();
    const passages = await this.#readHere(here, isPlaced, signal);
    here.forEach((chunk, i) => found.set(chunk.id, passages[i] ?? null));
    const away = wanted.filter((chunk) => chunk.document.segment === AWAY);
    const answers = away.length > 0 ? await this.#readAway(away, signal) : [];
    away.forEach((chunk, i) => found.set(chunk.id, answers[i] ?? null));
    return ids.map((id) => found.get(id) ?? null);
  }

  /** Whether each document belongs to a source whose text is not what was indexed (1). */
  staleDocuments(): Uint8Array {
    return Uint8Array.from(this.#catalogue.sourceRows, (row) => Number(this.staleRows.has(row)));
  }

  /** Whether the index has this chunk. A graph goes on to lead through those that were removed. */
  has(id: number): boolean {
    const ids = this.#catalogue.chunkIds;
    let [low, high] = [0, ids.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ids[middle] as number) < id) low = middle + 1;
      else high = middle;
    }
    return ids[low] === id;
  }

  isAway(id: number): boolean {
    const row = this.#catalogue.documentRows([id])[0] ?? 0;
    return this.#catalogue.textPlaces.segments[row] === AWAY;
  }

  /** What is known here of a chunk whose text is out of reach: it has no text. */
  withoutText(id: number): Passage {
    const [chunk] = this.#outline([id]);
    if (!chunk) throw new GossamerError("UnknownId", `there is no chunk ${id} in the index`);
    return passageOf(chunk, chunk.document.title, "", "", [0, 0]);
  }

  /** Up to `margin` bytes of text before and after a passage. */
  async textAround(passage: Passage, margin: number, signal?: AbortSignal): Promise<[string, string]> {
    const { document, start, end } = passage;
    if (!isHere(document)) return ["", ""];
    const last = Math.max(end, Math.min(bodyLength(document), end + margin));
    const spans: Span[] = [
      [Math.max(0, start - margin), start],
      [end, last],
    ];
    const [before, after] = await this.#texts.readMany(spans.map((span) => place(document, span)), signal);
    return [decodeWhole(before ?? NOTHING), decodeWhole(after ?? NOTHING)];
  }

  #outline(ids: readonly number[]): Outlined[] {
    const catalogue = this.#catalogue;
    const rows = catalogue.documentRows(ids);
    const { starts, ends } = catalogue.spans(ids);
    const checks = catalogue.checks(ids);
    const contexts = catalogue.contexts(ids);
    const documents = new Map<number, DocumentRecord>();
    return ids.map((id, i) => {
      const row = rows[i] ?? 0;
      const document = documents.get(row) ?? catalogue.document(row);
      documents.set(row, document);
      const sourceRow = catalogue.sourceRows[row] ?? 0;
      return {
        id,
        sourceRow,
        source: catalogue.source(sourceRow),
        path: catalogue.paths[sourceRow] ?? "",
        document,
        start: starts[i] ?? 0,
        end: ends[i] ?? 0,
        check: checks[i] ?? 0,
        context: contexts[i] ?? [],
      };
    });
  }

  async #readHere(
    chunks: readonly Outlined[],
    isPlaced: boolean,
    signal?: AbortSignal,
  ): Promise<(Passage | null)[]> {
    const spans = chunks.map((chunk) => spansOf(chunk, isPlaced));
    const asked = spans.flatMap((some, i) => some.map((span) => place(documentOf(chunks, i), span)));
    const texts = asked.length > 0 ? await this.#texts.readMany(asked, signal) : [];
    let next = 0;
    return chunks.map((chunk, i) => {
      const count = spans[i]?.length ?? 0;
      const passage = assemble(chunk, texts.slice(next, next + count), isPlaced);
      next += count;
      if (!passage) this.staleRows.add(chunk.sourceRow);
      return passage;
    });
  }

  async #readAway(chunks: readonly Outlined[], signal?: AbortSignal): Promise<(Passage | null)[]> {
    if (!this.#ask) return chunks.map(() => null);
    const answers = await this.#ask(chunks.map((chunk) => chunk.id), signal);
    const isAnswered = answers.some((answer) => answer !== null);
    return chunks.map((chunk, i) => {
      const answer = answers[i];
      const passage = answer ? fromServer(chunk, answer) : null;
      if (!passage && isAnswered) this.staleRows.add(chunk.sourceRow);
      return passage;
    });
  }
}

/** What the catalogue says of a chunk. */
interface Outlined {
  readonly id: number;
  readonly sourceRow: number;
  readonly source: SourceRecord;
  readonly path: string;
  readonly document: DocumentRecord;
  readonly start: number;
  readonly end: number;
  readonly check: number;
  readonly context: readonly Span[];
}

const NOTHING = new Uint8Array(0);
const LINE_END = 10;
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });

function isHere(document: DocumentRecord): boolean {
  return document.segment !== AWAY && document.segment !== VERBATIM;
}

function documentOf(chunks: readonly Outlined[], i: number): DocumentRecord {
  return (chunks[i] as Outlined).document;
}

function place(document: DocumentRecord, [start, end]: Span): TextSpan {
  const { segment, offset } = document;
  return { segment, start: offset + start, end: offset + end };
}

/** What is read of a chunk: its title, headings and body, and where lines are counted what stands
 * before it. */
function spansOf(chunk: Outlined, isPlaced: boolean): Span[] {
  const { document, start, end, context } = chunk;
  const countsLines = isPlaced && document.places.length === 0;
  const before: Span[] = countsLines ? [[0, start]] : [];
  const title: Span[] = document.titleSpan ? [document.titleSpan] : [];
  return [...before, ...title, ...context, [start, end]];
}

function assemble(chunk: Outlined, texts: readonly Uint8Array[], isPlaced: boolean): Passage | null {
  const { document, source } = chunk;
  const pieces = [...texts];
  const before = isPlaced && document.places.length === 0 ? (pieces.shift() ?? NOTHING) : null;
  const titleBytes = document.titleSpan ? (pieces.shift() ?? NOTHING) : null;
  const title = titleBytes ? LENIENT.decode(titleBytes) : document.title;
  const inside = pieces.at(-1) ?? NOTHING;
  const decoded = pieces.map(decodeStrictly);
  if (decoded.some((text) => text === null)) return null;
  const headings = decoded.slice(0, -1) as string[];
  const body = decoded.at(-1) ?? "";
  const line = contextLine(source.root === "" ? "" : source.name, title);
  const embedded = embeddedText(line, headings, body);
  if (checkOf(embedded) !== chunk.check) return null;
  return passageOf(chunk, title, body, embedded, isPlaced ? placeOf(chunk, before, inside) : [0, 0]);
}

function passageOf(chunk: Outlined, title: string, body: string, embedded: string, where: Span): Passage {
  const { id, source, path, document, start, end } = chunk;
  return { id, source, path, document, title, start, end, body, embedded, place: where };
}

/** The first and last line (or page, ...) that a chunk stands on. */
function placeOf(chunk: Outlined, before: Uint8Array | null, inside: Uint8Array): Span {
  const { places } = chunk.document;
  if (before === null) {
    const numberAt = (at: number) => {
      const later = places.findIndex(([offset]) => offset > at);
      return places[Math.max((later < 0 ? places.length : later) - 1, 0)]?.[1] ?? 0;
    };
    return [numberAt(chunk.start), numberAt(Math.max(chunk.end - 1, chunk.start))];
  }
  const first = 1 + countLineEnds(before);
  return [first, first + countLineEnds(inside)];
}

function countLineEnds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}

/** A text from the server, if it is what was indexed. */
function fromServer(chunk: Outlined, answer: AwayChunk): Passage | null {
  const isRight =
    answer.id === chunk.id &&
    checkOf(answer.embedded) === chunk.check &&
    answer.embedded.endsWith(answer.body) &&
    new TextEncoder().encode(answer.body).length === chunk.end - chunk.start;
  const title = chunk.document.title || answer.title;
  return isRight ? passageOf(chunk, title, answer.body, answer.embedded, [answer.first, answer.last]) : null;
}

/** The length of a text without the title that is kept behind it. */
function bodyLength({ titleSpan, textLength }: DocumentRecord): number {
  return !titleSpan || titleSpan[1] < textLength ? textLength : titleSpan[0];
}

/** Text; null for bytes that are none. Python refuses surrogates in UTF-8 here. */
function decodeStrictly(bytes: Uint8Array): string | null {
  const text = decodeText(bytes);
  return text === null || /\p{Surrogate}/u.test(text) ? null : text;
}

/** Text without the characters that its ends cut through. */
function decodeWhole(bytes: Uint8Array): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start), { stream: true });
}
