// Spans of documents' texts, for a session of the core. The same of python/gossamer/query/texts.py.

import type { AwayText, DocumentNeed, Need, TextUser } from "../core/query.ts";
import type { TextStore } from "../format/parts.ts";
import type { RemoteChunks } from "../server/remote_chunks.ts";

/** Reads texts of one snapshot, for one question: out of the text store or from a server. */
export class TextSource {
  readonly #texts: TextStore;
  readonly #server: Pick<RemoteChunks, "chunks"> | null;
  readonly #notes: Set<string>;
  readonly #signal: AbortSignal | undefined;

  /** What is to be known of a server that is away goes to `notes`. */
  constructor(
    texts: TextStore,
    server: Pick<RemoteChunks, "chunks"> | null,
    notes: Set<string>,
    signal?: AbortSignal,
  ) {
    this.#texts = texts;
    this.#server = server;
    this.#notes = notes;
    this.#signal = signal;
  }

  /** Every span of the documents, in their order; all blocks are read at once. */
  read(documents: readonly DocumentNeed[]): Promise<Uint8Array[]> {
    const spans = documents.flatMap(({ segment, offset, spans: own }) =>
      own.map(([start, end]) => ({ segment, start: offset + start, end: offset + end })),
    );
    return this.#texts.readMany(spans, this.#signal);
  }

  /** The texts of chunks that only a server has; null for those that it has not got. */
  async chunks(ids: readonly number[]): Promise<{ chunks: (AwayText | null)[]; isAnswered: boolean }> {
    if (!this.#server) return { chunks: ids.map(() => null), isAnswered: false };
    const chunks = await this.#server.chunks(ids, this.#notes, this.#signal);
    return { chunks, isAnswered: chunks.some((chunk) => chunk !== null) };
  }

  /** Supplies a need of texts; any other is passed over. */
  async supply(user: TextUser, need: Need): Promise<void> {
    if (need.need === "texts") {
      user.supplyTexts(await this.read(need.documents));
    } else if (need.need === "chunks") {
      const { chunks, isAnswered } = await this.chunks(need.ids);
      user.supplyChunks(chunks, isAnswered);
    }
  }
}
