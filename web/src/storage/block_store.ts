import { crc32c } from "../bytes/hashes.ts";
import { joinBytes } from "../bytes/join.ts";
import { blockCount, blockLength, encodeSegment, type Origin, readSegment, type Segment } from "../bytes/segments.ts";
import { type ByteSource, readMany } from "../bytes/source.ts";
import { GossamerError } from "../errors.ts";
import type { Folder } from "./storage.ts";

const FILE = /^kept-(\d+)\.gsb$/;
const MOST_MERGED = 8192; // blocks: larger files are not rewritten
const PIECE = 1 << 20; // bytes that are written at a time

interface BlockFile extends Segment {
  readonly file: string;
  readonly source: ByteSource;
}

/** What a folder keeps of `url`, whatever its version: the newest; null if there is nothing. `isWhole` if
 * no block of it is missing. */
export async function findKept(folder: Folder, url: string): Promise<{ origin: Origin; isWhole: boolean } | null> {
  const found: BlockFile[] = [];
  for (const name of await namesIn(folder)) {
    const file = await openFile(folder, name);
    if (file?.origin.url === url) found.push(file);
    file?.source.close();
  }
  const origin = found.at(-1)?.origin;
  if (!origin) return null;
  const numbers = found.filter((file) => isSame(file.origin, origin)).flatMap((file) => file.numbers);
  return { origin, isWhole: new Set(numbers).size === blockCount(origin) };
}

/** The blocks of one version of a remote file that storage has. */
export class BlockStore {
  readonly #folder: Folder;
  readonly #origin: Origin;
  readonly #places = new Map<number, BlockFile>();
  readonly #stale: string[];
  #files: BlockFile[];

  /** Opens what a folder keeps of a file. What is of another file, version or torn goes. */
  static async open(folder: Folder, origin: Origin): Promise<BlockStore> {
    const files: BlockFile[] = [];
    const stale: string[] = [];
    for (const name of await namesIn(folder)) {
      const file = await openFile(folder, name);
      if (file && isSame(file.origin, origin)) {
        files.push(file);
        continue;
      }
      file?.source.close();
      stale.push(name);
    }
    return new BlockStore(folder, origin, files, stale);
  }

  private constructor(folder: Folder, origin: Origin, files: BlockFile[], stale: string[]) {
    this.#folder = folder;
    this.#origin = origin;
    this.#files = files;
    this.#stale = stale;
    for (const file of files) this.#place(file);
  }

  /** Those of the blocks that are there and whole; others are forgotten. */
  async read(numbers: readonly number[], signal?: AbortSignal): Promise<Map<number, Uint8Array>> {
    const wanted = new Map<BlockFile, number[]>();
    for (const number of numbers) {
      const file = this.#places.get(number);
      if (!file) continue;
      const some = wanted.get(file);
      if (some) some.push(number);
      else wanted.set(file, [number]);
    }
    const found = await Promise.all([...wanted].map(([file, some]) => this.#readFrom(file, some, signal)));
    return new Map(found.flat());
  }

  /** Keeps more, in a new file; small files from before are joined with it. To be called while
   * writing. Unwritable if there is no room. */
  async add(blocks: ReadonlyMap<number, Uint8Array>): Promise<void> {
    for (const file of this.#stale.splice(0)) await removeUnused(this.#folder, file);
    const { all, joined } = await this.#joinSmall(blocks);
    const name = await nextName(this.#folder);
    const sink = await this.#folder.create(name);
    for (const part of inPieces(encodeSegment(this.#origin, all))) await sink.write(part);
    await sink.close();
    const added = await openFile(this.#folder, name);
    if (!added) return;
    this.#files = [...this.#files.filter((file) => !joined.includes(file)), added];
    this.#place(added);
    for (const file of joined) {
      file.source.close();
      await removeUnused(this.#folder, file.file);
    }
  }

  close(): void {
    for (const file of this.#files) file.source.close();
  }

  #place(file: BlockFile): void {
    for (const number of file.numbers) this.#places.set(number, file);
  }

  async #readFrom(
    file: BlockFile,
    numbers: readonly number[],
    signal?: AbortSignal,
  ): Promise<[number, Uint8Array][]> {
    const spots = numbers.map((number) => file.find(number) ?? { at: 0, length: 0, crc: -1 });
    const parts = await readMany(file.source, spots, signal).catch((error: unknown) => {
      if (error instanceof GossamerError && error.reason === "Cancelled") throw error;
      return numbers.map(() => new Uint8Array(0)); // storage was cleared
    });
    const found = numbers.map((number, i): [number, Uint8Array] => [number, parts[i] as Uint8Array]);
    return found.filter(([number, bytes], i) => {
      const isSound = bytes.length === blockLength(this.#origin, number) && crc32c(bytes) === spots[i]?.crc;
      if (!isSound && this.#places.get(number) === file) this.#places.delete(number);
      return isSound;
    });
  }

  /** The newest files, as long as each is no larger than what is to be written: so there are few,
   * and each block is rewritten few times. */
  async #joinSmall(blocks: ReadonlyMap<number, Uint8Array>) {
    const joined: BlockFile[] = [];
    let all = new Map(blocks);
    for (const file of [...this.#files].reverse()) {
      if (file.numbers.length > Math.min(all.size, MOST_MERGED)) break;
      const current = file.numbers.filter((number) => this.#places.get(number) === file);
      all = new Map([...(await this.#readFrom(file, current)), ...all]);
      joined.push(file);
    }
    return { all, joined };
  }
}

/** The same bytes in fewer pieces: each write may be a trip to another process. */
function* inPieces(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  let some: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    some.push(part);
    bytes += part.length;
    if (bytes < PIECE) continue;
    yield joinBytes(some);
    some = [];
    bytes = 0;
  }
  yield joinBytes(some);
}

async function namesIn(folder: Folder): Promise<string[]> {
  const names = (await folder.files()).map((file) => file.name).filter((name) => FILE.test(name));
  return names.sort((a, b) => numberOf(a) - numberOf(b));
}

/** Null for what cannot be read: it is as good as not there. */
async function openFile(folder: Folder, file: string): Promise<BlockFile | null> {
  let source: ByteSource | null = null;
  try {
    source = await folder.open(file);
    const segment = await readSegment(source);
    if (segment) return { ...segment, file, source };
  } catch {
    // Torn, or gone since the folder was listed.
  }
  source?.close();
  return null;
}

async function nextName(folder: Folder): Promise<string> {
  const numbers = (await folder.files()).map((file) => numberOf(file.name));
  return `kept-${Math.max(0, ...numbers) + 1}.gsb`;
}

function numberOf(file: string): number {
  return Number(FILE.exec(file)?.[1] ?? 0);
}

function isSame(one: Origin, other: Origin): boolean {
  const isSameFile = one.url === other.url && one.etag === other.etag && one.size === other.size;
  return isSameFile && one.blockBytes === other.blockBytes;
}

/** A file that another tab still reads stays: its blocks are right, if there is still use for them. */
async function removeUnused(folder: Folder, file: string): Promise<void> {
  try {
    await folder.removeFile(file);
  } catch (error) {
    if (!(error instanceof GossamerError) || error.reason !== "Locked") throw error;
  }
}
