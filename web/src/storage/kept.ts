import { crc32c } from "../bytes/hashes.ts";
import { blockLength, encodeSegment, type Origin, readSegment, type Segment } from "../bytes/segments.ts";
import { type ByteSource, readMany } from "../bytes/source.ts";
import { GossamerError } from "../errors.ts";
import type { Folder } from "./storage.ts";

const FILE = /^kept-(\d+)\.gsb$/;
const MOST_MERGED = 2048; // blocks: larger files are not rewritten

interface KeptFile extends Segment {
  readonly file: string;
  readonly source: ByteSource;
}

/** The blocks of one version of a remote file that storage has. */
export interface Kept {
  /** Those of the blocks that are there and whole; others are forgotten. */
  read(numbers: readonly number[], signal?: AbortSignal): Promise<Map<number, Uint8Array>>;
  /** Keeps more, in a new file; small files from before are joined with it. To be called while
   * writing. Unwritable if there is no room. */
  add(blocks: ReadonlyMap<number, Uint8Array>): Promise<void>;
  close(): void;
}

/** What a folder keeps of `url`, whatever its version: the newest; null if there is nothing. */
export async function findOrigin(folder: Folder, url: string): Promise<Origin | null> {
  let found: Origin | null = null;
  for (const name of await namesIn(folder)) {
    const file = await openFile(folder, name);
    if (file?.origin.url === url) found = file.origin;
    file?.source.close();
  }
  return found;
}

/** Opens what a folder keeps of a file. What is of another file, version or torn goes. */
export async function openKept(folder: Folder, origin: Origin): Promise<Kept> {
  let files: KeptFile[] = [];
  const places = new Map<number, KeptFile>();
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
  for (const file of files) for (const number of file.numbers) places.set(number, file);

  function forget(file: KeptFile, number: number): void {
    if (places.get(number) === file) places.delete(number);
  }

  async function readFrom(file: KeptFile, numbers: number[], signal?: AbortSignal) {
    const spots = numbers.map((number) => file.find(number) ?? { at: 0, length: 0, crc: -1 });
    const parts = await readMany(file.source, spots, signal).catch((error: unknown) => {
      if (error instanceof GossamerError && error.reason === "Cancelled") throw error;
      return numbers.map(() => new Uint8Array(0)); // storage was cleared
    });
    const sound = numbers.map((number, i): [number, Uint8Array] => [number, parts[i] as Uint8Array]);
    return sound.filter(([number, bytes], i) => {
      const isSound = bytes.length === blockLength(origin, number) && crc32c(bytes) === spots[i]?.crc;
      if (!isSound) forget(file, number);
      return isSound;
    });
  }

  async function read(numbers: readonly number[], signal?: AbortSignal): Promise<Map<number, Uint8Array>> {
    const wanted = new Map<KeptFile, number[]>();
    for (const number of numbers) {
      const file = places.get(number);
      if (!file) continue;
      const some = wanted.get(file);
      if (some) some.push(number);
      else wanted.set(file, [number]);
    }
    const found = await Promise.all([...wanted].map(([file, some]) => readFrom(file, some, signal)));
    return new Map(found.flat());
  }

  async function add(blocks: ReadonlyMap<number, Uint8Array>): Promise<void> {
    for (const file of stale.splice(0)) await removeUnused(folder, file);
    const { all, joined } = await joinSmall(blocks);
    const name = await nextName(folder);
    const sink = await folder.create(name);
    for (const part of encodeSegment(origin, all)) await sink.write(part);
    await sink.close();
    const added = await openFile(folder, name);
    if (!added) return;
    files = [...files.filter((file) => !joined.includes(file)), added];
    for (const number of added.numbers) places.set(number, added);
    for (const file of joined) {
      file.source.close();
      await removeUnused(folder, file.file);
    }
  }

  /** The newest files, as long as each is no larger than what is to be written: so there are few,
   * and each block is rewritten few times. */
  async function joinSmall(blocks: ReadonlyMap<number, Uint8Array>) {
    const joined: KeptFile[] = [];
    let all = new Map(blocks);
    for (const file of [...files].reverse()) {
      if (file.numbers.length > Math.min(all.size, MOST_MERGED)) break;
      const current = file.numbers.filter((number) => places.get(number) === file);
      all = new Map([...(await readFrom(file, current)), ...all]);
      joined.push(file);
    }
    return { all, joined };
  }

  return {
    read,
    add,
    close: () => {
      for (const file of files) file.source.close();
    },
  };
}

async function namesIn(folder: Folder): Promise<string[]> {
  const names = (await folder.files()).map((file) => file.name).filter((name) => FILE.test(name));
  return names.sort((a, b) => numberOf(a) - numberOf(b));
}

/** Null for what cannot be read: it is as good as not there. */
async function openFile(folder: Folder, file: string): Promise<KeptFile | null> {
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
