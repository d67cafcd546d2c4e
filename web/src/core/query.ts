// Questions in the core: a collection, sessions over it, and chunks that are read. A session says what it
// needs, as JSON (core/query/session.h); whoever asks supplies it.

import { joinBytes } from "../bytes/join.ts";
import { decodeText, encodeText } from "../text/text.ts";
import { type Core, freeOnce } from "./memory.ts";

/** A document, and which spans of its text are to be read. */
export interface DocumentNeed {
  readonly segment: number;
  readonly offset: number; // of its text, in the segment
  readonly spans: readonly (readonly [start: number, end: number])[];
}

/** What a session needs next. */
export type Need =
  | { readonly need: "question"; readonly text: string }
  | { readonly need: "words"; readonly pieces: number }
  | { readonly need: "postings"; readonly ranges: readonly (readonly [at: number, length: number])[] }
  | { readonly need: "vectors"; readonly ids: readonly number[]; readonly away: boolean; readonly tokens: boolean }
  | { readonly need: "rows" }
  | { readonly need: "texts"; readonly documents: readonly DocumentNeed[] }
  | {
      readonly need: "embeddings";
      readonly ids: readonly number[];
      readonly texts: readonly string[];
      readonly tokens: boolean; // their vectors are wanted too
    }
  | { readonly need: "chunks"; readonly ids: readonly number[] };

/** The text of a chunk as a server gives it. */
export interface AwayText {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  readonly embedded: string; // headings, title, body
  readonly first: number; // line, page, ...
  readonly last: number;
}

/** What becomes of a vector that was asked for. */
export const SUPPLIED = { given: 0, embed: 1, missing: 2, outOfReach: 3 } as const;

/** Vectors of texts, and of their tokens: those of one text after those of another. */
export interface TextVectors {
  readonly rows: Float32Array;
  readonly tokens: Float32Array;
  readonly counts: Uint32Array; // how many tokens each text has; empty where none are given
  readonly starts: Uint32Array; // the byte of its text at which each token begins
}

/** The vector of a question, those of its tokens, and the byte at which each token begins. */
export interface QuestionVectors {
  readonly row: Float32Array;
  readonly tokens: Float32Array;
  readonly starts: Uint32Array; // empty where none are given
}

/** What stands for tokens where none are given. */
export const NO_TOKENS = { tokens: new Float32Array(), counts: new Uint32Array(), starts: new Uint32Array() } as const;

/** What may need texts. */
export interface TextUser {
  needs(): Need[];
  /** Every span that was asked for, in order; null for one that is not there. */
  supplyTexts(spans: readonly (Uint8Array | null)[]): void;
  /** One for each chunk that was asked for. */
  supplyChunks(chunks: readonly (AwayText | null)[], isAnswered: boolean): void;
}

/** One question. */
export interface QuerySession extends TextUser {
  /** `index` is the address of an index in the same memory. */
  supplyQuestion(index: number, question: QuestionVectors): void;
  /** A piece of text to be counted; finishWords() after the last one. */
  piece(number: number): { segment: number; begin: number; end: number };
  count(number: number, text: Uint8Array): void;
  finishWords(): void;
  supplyPostings(ranges: readonly Uint8Array[]): void;
  supplyVectors(states: Uint8Array, rows: Float32Array): void;
  /** The address of the search that wants rows; it goes with the session. */
  search(): number;
  finishRows(): void;
  supplyEmbeddings(made: TextVectors): void;
  /** Hits and how they were found, once nothing is needed. */
  answer(): unknown;
  free(): void;
}

/** A chunk that was read. */
export interface Passage {
  readonly title: string;
  readonly body: string;
  readonly embedded: string;
  readonly is_away: boolean;
  readonly around: readonly [{ readonly documents: readonly DocumentNeed[] }];
}

export interface ChunkReader extends TextUser {
  /** A chunk, and where so many bytes around it are; null if its text is not what was indexed. */
  passage(id: number, margin: number): Passage | null;
  /** Whether only a server has its text, which did not answer. */
  isOutOfReach(id: number): boolean;
  free(): void;
}

/** What a collection holds. */
export interface CollectionCounts {
  readonly sources: number;
  readonly documents: number;
  readonly chunks: number;
  readonly textBytes: number; // of chunks whose text is here
  readonly hasAwayTexts: boolean;
}

/** What questions are asked of. */
export interface Collection {
  readonly counts: CollectionCounts;
  /** How many bytes of words must be at hand, by the first of so many. */
  postingsHead(start: Uint8Array, size: number): number;
  attachPostings(head: Uint8Array, size: number): void;
  /** Where people read what is in it; before questions are asked. */
  setSite(base: string, style: string): void;
  /** Whether it is remembered what a filter (JSON) lets through. */
  knows(filter: string): boolean;
  /** What a filter lets through: see FilterCore. */
  remember(filter: string, allowed: Uint8Array): void;
  /** The filters that a question names, as JSON. */
  filtersIn(question: string): string[];
  /** A question; what its filters let through must be remembered. */
  session(query: object, hasVectors: boolean): QuerySession;
  read(ids: readonly number[]): ChunkReader;
  /** The first chunks of so many documents, at even distances. */
  sample(count: number): number[];
}

/** A collection in the memory of a module, by its address. */
export function collectionAt(core: Core, address: number): Collection {
  let counts: CollectionCounts | null = null;
  return {
    get counts() {
      counts ??= countsOf(core, address);
      return counts;
    },
    postingsHead: (start, size) => core.call("postings_head", start, start.length, size),
    attachPostings: (head, size) =>
      void core.call("collection_attach_postings", address, head, head.length, size),
    setSite: (base, style) => {
      const [url, name] = [encodeText(base), encodeText(style)];
      core.call("collection_set_site", address, joinBytes([url, name]), url.length, name.length);
    },
    knows: (filter) => {
      const json = encodeText(filter);
      return core.call("collection_knows", address, json, json.length) === 1;
    },
    remember: (filter, allowed) => {
      const json = encodeText(filter);
      core.call("collection_remember", address, joinBytes([allowed, json]), allowed.length, json.length);
    },
    filtersIn: (question) => {
      const text = encodeText(question);
      return readJson(core, core.call("question_filters", text, text.length)) as string[];
    },
    session: (query, hasVectors) => {
      const json = encodeText(JSON.stringify(query));
      return sessionAt(core, core.call("session_new", address, hasVectors ? 1 : 0, json, json.length));
    },
    read: (ids) => readerAt(core, core.call("reader_new", address, Float64Array.from(ids), ids.length)),
    sample: (count) => Array.from(core.numbers(core.call("collection_sample", address, count))),
  };
}

function countsOf(core: Core, address: number): CollectionCounts {
  core.call("collection_counts", address);
  const [sources, documents, chunks, textBytes, away] = core.numbers(5) as unknown as [
    number, number, number, number, number,
  ];
  return { sources, documents, chunks, textBytes, hasAwayTexts: away === 1 };
}

function sessionAt(core: Core, session: number): QuerySession {
  return {
    ...textUser(core, "session", session),
    supplyQuestion: (index, { row, tokens, starts }) =>
      lendArrays(core, "session_question", [session, index], [row, tokens, starts]),
    piece: (number) => {
      core.call("session_piece", session, number);
      const [segment, begin, end] = core.numbers(3) as unknown as [number, number, number];
      return { segment, begin, end };
    },
    count: (number, text) => void core.call("session_count", session, number, text, text.length),
    finishWords: () => void core.call("session_finish_words", session),
    supplyPostings: (ranges) => lendParts(core, "session_postings", session, ranges),
    supplyVectors: (states, rows) =>
      void core.call("session_vectors", session, states, states.length, rows, rows.length),
    search: () => core.call("session_search", session),
    finishRows: () => void core.call("session_finish_rows", session),
    supplyEmbeddings: ({ rows, tokens, counts, starts }) =>
      lendArrays(core, "session_embeddings", [session], [rows, tokens, counts, starts]),
    answer: () => readJson(core, core.call("session_answer", session)),
    free: freed(core, "session_free", session),
  };
}

function readerAt(core: Core, reader: number): ChunkReader {
  return {
    ...textUser(core, "reader", reader),
    passage: (id, margin) =>
      readJson(core, core.call("reader_passage", reader, id, margin)) as Passage | null,
    isOutOfReach: (id) => core.call("reader_is_out_of_reach", reader, id) === 1,
    free: freed(core, "reader_free", reader),
  };
}

function textUser(core: Core, kind: "session" | "reader", address: number): TextUser {
  return {
    needs: () => readJson(core, core.call(`${kind}_needs`, address)) as Need[],
    supplyTexts: (spans) => lendParts(core, `${kind}_texts`, address, spans),
    supplyChunks: (chunks, isAnswered) => {
      const json = encodeText(JSON.stringify(chunks));
      core.call(`${kind}_chunks`, address, json, json.length, isAnswered ? 1 : 0);
    },
  };
}

/** Calls a function with addresses, and with arrays and how long they are. */
function lendArrays(core: Core, name: string, addresses: number[], arrays: (Float32Array | Uint32Array)[]): void {
  core.call(name, ...addresses, ...arrays.flatMap((array) => [array, array.length]));
}

/** Calls a function with bytes one behind the other; a part that is null has the length -1. */
function lendParts(core: Core, name: string, address: number, parts: readonly (Uint8Array | null)[]): void {
  const lengths = Float64Array.from(parts, (part) => part?.length ?? -1);
  core.call(name, address, joinBytes(parts.filter((part) => part !== null)), lengths, parts.length);
}

function readJson(core: Core, size: number): unknown {
  return JSON.parse(decodeText(core.bytes(size)) ?? "null");
}

/** Frees once; a module that is broken holds nothing any more. */
function freed(core: Core, name: string, address: number): () => void {
  return freeOnce(() => {
    if (!core.isBroken()) core.call(name, address);
  });
}
