// The words of all chunks (section 35): which chunks hold a term, and how often (docs/format.md). The core
// says what to read and what it means; it is read here.
import type { ByteSource } from "../bytes/source.ts";
import { readMany } from "../bytes/source.ts";
import type { WordPlace, WordReader } from "../core/words.ts";
import { GossamerError } from "../errors.ts";

/** Where a term stands. */
export interface Postings {
  readonly term: string;
  readonly chunks: Uint32Array; // numbers, rising; empty for a term that is nowhere
  readonly counts: Uint32Array; // how often it stands in each
}

/** An open index of words. */
export interface Words {
  readonly chunks: number;
  /** The postings of each term, in the order asked for. */
  find(terms: readonly string[], signal?: AbortSignal): Promise<Postings[]>;
  close(): void;
}

const FIRST_READ = 1 << 15;

/** Opens an index of words: reads what tells where blocks of terms lie. */
export async function openWords(
  source: ByteSource,
  reader: WordReader,
  signal?: AbortSignal,
): Promise<Words> {
  const { size } = source;
  const start = await source.read(0, Math.min(size, FIRST_READ), signal);
  const needed = reader.wordHeadBytes(start, size);
  const head = needed <= start.length ? start.subarray(0, needed) : await source.read(0, needed, signal);
  const table = reader.openWords(head, size);
  let isClosed = false;
  const stayOpen = (): void => {
    if (isClosed) throw new GossamerError("WrongState", "the index was closed; open it again");
  };
  return {
    chunks: table.chunks,
    close: () => {
      isClosed = true;
      table.free();
    },
    find: async (terms, wish) => {
      stayOpen();
      const blocks = terms.map((term) => table.blockOf(term));
      const wanted = new Map(blocks.flatMap((block) => (block ? [[block.number, block]] : [])));
      const inOrder = [...wanted.values()].sort((one, other) => one.at - other.at);
      const read = await readMany(source, inOrder, wish);
      stayOpen();
      const bytesOf = new Map(inOrder.map(({ number }, i) => [number, read[i] as Uint8Array]));
      const places = terms.map((term, i) => {
        const number = blocks[i]?.number;
        return number === undefined ? null : table.find(number, bytesOf.get(number) as Uint8Array, term);
      });
      const lists = await readMany(source, places.filter((place) => place !== null), wish);
      stayOpen();
      let next = 0;
      const postingsAt = (place: WordPlace | null | undefined) =>
        place ? table.read(place, lists[next++] as Uint8Array) : NOWHERE;
      return terms.map((term, i) => ({ term, ...postingsAt(places[i]) }));
    },
  };
}

const NOWHERE = { chunks: new Uint32Array(), counts: new Uint32Array() };
