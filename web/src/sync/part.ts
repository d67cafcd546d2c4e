// A package on its way: files in the folder of an edge, written one after the other, and beside them what
// they are parts of. So a download that broke off, or whose page was closed, goes on where it stopped.

import { joinBytes } from "../bytes/join.ts";
import { readFile, writeFile } from "../storage/small_files.ts";
import type { Folder } from "../storage/storage.ts";
import { objectOf } from "../text/json.ts";

/** What came of a package so far. */
export interface Part {
  readonly etag: string; // of the package; "" if a new one is to be begun
  readonly size: number; // bytes that came
  /** Forgets what came, and takes the beginning of a package of this name. */
  restart(etag: string): Promise<void>;
  /** Takes the next bytes. */
  add(bytes: Uint8Array): Promise<void>;
  /** Makes sure that all that came is there. */
  flush(): Promise<void>;
  read(): Promise<Uint8Array>;
}

const FACTS = "package.json";
const PIECE = /^package-([1-9]\d{0,5})\.gsp$/;
// What is lost at most when the page is closed.
const PIECE_BYTES = 1 << 20;
const MOST_FACTS_BYTES = 1 << 16;

/** Opens what came of the package that is asked for; what came of another one is deleted. */
export async function openPart(folder: Folder, asked: string): Promise<Part> {
  let etag = await knownEtag(folder, asked);
  if (etag === "") await forgetPart(folder);
  let sizes = etag === "" ? [] : await sizesOf(folder);
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;

  const flush = async (): Promise<void> => {
    if (waitingBytes === 0) return;
    const bytes = joinBytes(waiting);
    waiting = [];
    waitingBytes = 0;
    await writeFile(folder, pieceName(sizes.length + 1), bytes);
    sizes.push(bytes.length);
  };
  return {
    get etag() {
      return etag;
    },
    get size() {
      return sizes.reduce((sum, size) => sum + size, waitingBytes);
    },
    restart: async (name) => {
      await forgetPart(folder);
      [sizes, waiting, waitingBytes, etag] = [[], [], 0, name];
      const facts = new TextEncoder().encode(JSON.stringify({ asked, etag }));
      if (etag !== "") await writeFile(folder, FACTS, facts);
    },
    add: async (bytes) => {
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= PIECE_BYTES) await flush();
    },
    flush,
    read: async () => {
      await flush();
      const pieces: Uint8Array[] = [];
      for (const piece of sizes.keys()) {
        pieces.push((await readFile(folder, pieceName(piece + 1))) ?? NOTHING);
      }
      return joinBytes(pieces);
    },
  };
}

/** Deletes what was fetched. */
export async function forgetPart(folder: Folder): Promise<void> {
  for (const { name } of await folder.files()) {
    if (name === FACTS || PIECE.test(name)) await folder.removeFile(name).catch(() => {});
  }
}

/** Whether there is anything of a package. */
export async function hasPart(folder: Folder): Promise<boolean> {
  return (await folder.files()).some(({ name }) => PIECE.test(name));
}

const NOTHING = new Uint8Array(0);

function pieceName(number: number): string {
  return `package-${number}.gsp`;
}

async function knownEtag(folder: Folder, asked: string): Promise<string> {
  const bytes = await readFile(folder, FACTS);
  if (bytes === null || bytes.length > MOST_FACTS_BYTES) return "";
  const facts = objectOf(new TextDecoder().decode(bytes));
  return facts?.["asked"] === asked && typeof facts["etag"] === "string" ? facts["etag"] : "";
}

/** The sizes of the pieces from the first on, as far as none is missing. */
async function sizesOf(folder: Folder): Promise<number[]> {
  const found = new Map((await folder.files()).map(({ name, size }) => [name, size]));
  const sizes: number[] = [];
  for (;;) {
    const size = found.get(pieceName(sizes.length + 1));
    if (size === undefined) return sizes;
    sizes.push(size);
  }
}
