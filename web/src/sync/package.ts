// Packages: one file that brings an edge from one version to another, and says who made it. Nothing of a
// package is used before all of it was verified.

import { crc32 } from "../bytes/hashes.ts";
import { unzstd } from "../bytes/zstd.ts";
import type { PackageReader } from "../core/packages.ts";
import { GossamerError } from "../errors.ts";
import { isSigned } from "../server/hmac.ts";
import type { Head, SectionEntry } from "../server/records.ts";

/** A package that was verified: its head, and its sections one by one. */
export interface Package {
  readonly head: Head;
  readonly size: number; // bytes in all
  has(name: string): boolean;
  /** The unpacked bytes of a section, 0 if there is none. */
  sizeOf(name: string): number;
  /** A section; TooLarge if it has more than `most` bytes, Damaged if it unpacks to another length, no
   * bytes if there is none. */
  read(name: string, most: number): Uint8Array;
}

const MAC_BYTES = 32;
// Sections that hold compressed data already.
const STORED: readonly string[] = ["catalogue", "padding"];
const AGAIN = "pull again; a package is always made anew";

/** Opens a package, once every byte of it was read and found to be as it was written. NotGossamer,
 * UnknownVersion, Truncated or Damaged for anything else. With a token nothing is accepted that was not
 * signed with it. */
export async function readPackage(core: PackageReader, bytes: Uint8Array, token: string): Promise<Package> {
  const { start, head: said } = core.packageHead(bytes);
  const head = headOf(said);
  checkSigned(head, token);
  await verify(bytes, head, start, token);
  const places = new Map<string, { at: number; entry: SectionEntry }>();
  let at = start;
  for (const entry of head.sections) {
    places.set(entry.name, { at, entry });
    at += entry.size;
  }
  const sizeOf = (name: string) => places.get(name)?.entry.unpacked ?? 0;
  return {
    head,
    size: bytes.length,
    has: (name) => places.has(name),
    sizeOf,
    read: (name, most) => {
      const place = places.get(name);
      if (!place) return new Uint8Array(0);
      if (sizeOf(name) > most) throw tooLarge(name, sizeOf(name), most);
      const packed = bytes.subarray(place.at, place.at + place.entry.size);
      if (STORED.includes(name)) return packed;
      return unzstd(packed, place.entry.unpacked, `section ${JSON.stringify(name)} of the package`);
    },
  };
}

/** The head as it was checked. */
function headOf(said: Readonly<Record<string, unknown>>): Head {
  const { protocol: _, next_chunk_id: nextChunkId, is_signed: isSigned, ...same } = said;
  return { ...same, nextChunkId, isSigned } as unknown as Head;
}

function checkSigned(head: Head, token: string): void {
  if (token !== "" && !head.isSigned) {
    throw new GossamerError(
      "Damaged",
      "the package is not signed, but you gave a token: what came is not from a server that knows it. " +
        "Check the address, or start the server with the token",
    );
  }
  if (head.isSigned && token === "") {
    throw new GossamerError(
      "Damaged",
      "the package is signed: give the token that the server was started with",
    );
  }
}

/** Looks at every byte; tells a file that was damaged from one that another token signed. */
async function verify(bytes: Uint8Array, head: Head, start: number, token: string): Promise<void> {
  let at = start;
  let areWhole = true;
  for (const { size, crc32: expected } of head.sections) {
    areWhole &&= crc32(bytes.subarray(at, at + size)) === expected;
    at += size;
  }
  const end = bytes.length - MAC_BYTES;
  if ((await isSigned(bytes.subarray(0, end), bytes.subarray(end), token)) && areWhole) return;
  if (areWhole && token !== "") {
    throw new GossamerError(
      "Damaged",
      "the package is not signed with this token, or its head is damaged: compare the token with the " +
        "server's, then pull again",
    );
  }
  throw new GossamerError("Damaged", `a checksum of the package does not fit; ${AGAIN}`);
}

function tooLarge(name: string, size: number, most: number): GossamerError {
  return new GossamerError(
    "TooLarge",
    `section ${JSON.stringify(name)} of the package has ${size} bytes, and ${most} were expected at most; ` +
      "ask the server for a snapshot",
  );
}
