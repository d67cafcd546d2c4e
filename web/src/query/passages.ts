// Chunks that are read by their ids: their neighbors, what stands around them, titles.

import type { ChunkReader, Passage } from "../core/query.ts";
import { GossamerError } from "../errors.ts";
import type { ChunkContext, Results } from "../records.ts";
import { askQuestion, type Query } from "./question.ts";
import type { Snapshot } from "./snapshot.ts";
import { TextSource } from "./texts.ts";

/** Chunks like the one with this id, without itself. */
export async function askSimilar(
  snapshot: Snapshot,
  id: number,
  query: Omit<Query, "question">,
): Promise<Results> {
  const { signal } = query;
  const passages = await Passages.open(snapshot, [id], signal);
  let chunk: Passage;
  try {
    chunk = passages.get(id);
  } finally {
    passages.close();
  }
  const embedder = await snapshot.model.embedder();
  const vector = (await embedder.embed([chunk.embedded], signal)).slice(0, embedder.dim);
  const asked = { question: chunk.body, isPlain: true, excluded: [id], highlight: "", vector };
  return askQuestion(snapshot, { ...query, ...asked });
}

/** A chunk with up to `margin` bytes of the text before and after it. UnknownId if it is gone. */
export async function readContext(
  snapshot: Snapshot,
  id: number,
  margin: number,
  signal?: AbortSignal,
): Promise<ChunkContext> {
  const passages = await Passages.open(snapshot, [id], signal);
  try {
    const { body, is_away, around } = passages.get(id, margin);
    const spans = is_away ? [] : await passages.texts.read(around[0].documents);
    const [before, after] = [0, 1].map((place) => decodeWhole(spans[place] ?? new Uint8Array()));
    return { before: before ?? "", text: body, after: after ?? "" };
  } finally {
    passages.close();
  }
}

/** Titles of documents at even distances; a document without text has none. */
export async function readTitles(snapshot: Snapshot, most: number, signal?: AbortSignal): Promise<string[]> {
  const ids = (await snapshot.memory.collection()).sample(most);
  const passages = await Passages.open(snapshot, ids, signal);
  try {
    return [...new Set(ids.map((id) => passages.titleOf(id)))].filter((title) => title !== "");
  } finally {
    passages.close();
  }
}

/** Chunks of a snapshot whose texts were read; its memory stays where it is until they are closed. */
export class Passages {
  readonly texts: TextSource;
  readonly #snapshot: Snapshot;
  readonly #reader: ChunkReader;

  static async open(snapshot: Snapshot, ids: readonly number[], signal?: AbortSignal): Promise<Passages> {
    for (const id of ids) {
      if (!Number.isSafeInteger(id) || id < 0) {
        throw new GossamerError("UnknownId", `there is no chunk ${id} in the index`);
      }
    }
    const reader = (await snapshot.memory.collection()).read(ids);
    const passages = new Passages(snapshot, reader, signal);
    try {
      await passages.#read();
      return passages;
    } catch (error) {
      passages.close();
      throw error;
    }
  }

  private constructor(snapshot: Snapshot, reader: ChunkReader, signal?: AbortSignal) {
    this.#snapshot = snapshot;
    this.#reader = reader;
    this.texts = new TextSource(snapshot.target.parts.texts, snapshot.server, new Set(), signal);
    snapshot.memory.retain();
  }

  /** A chunk, and where so many bytes around it are. UnknownId if its text is not what was indexed. */
  get(id: number, margin = 0): Passage {
    const passage = this.#reader.passage(id, margin);
    if (passage) return passage;
    if (this.#reader.isOutOfReach(id)) {
      const said = `the text of chunk ${id} is not kept here, and its server is away`;
      throw new GossamerError("Unreachable", said);
    }
    throw new GossamerError("UnknownId", `the text of chunk ${id} is not what was indexed; add it again`);
  }

  /** The title of a chunk's document; "" where there is none. */
  titleOf(id: number): string {
    return this.#reader.passage(id, 0)?.title ?? "";
  }

  close(): void {
    this.#reader.free();
    this.#snapshot.memory.release();
  }

  async #read(): Promise<void> {
    for (let needs = this.#reader.needs(); needs.length > 0; needs = this.#reader.needs()) {
      for (const need of needs) await this.texts.supply(this.#reader, need);
    }
  }
}

/** The text of bytes that may begin or end within a character. */
function decodeWhole(bytes: Uint8Array): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start), { stream: true });
}
