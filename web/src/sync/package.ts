// Packages: one file that brings an edge from one version to another, and says who made it. Nothing of a
// package is used before all of it was verified. The twin of python/gossamer/sync/package.py.

import { crc32 } from "../bytes/hashes.ts";
import { unzstd } from "../bytes/zstd.ts";
import { GossamerError } from "../errors.ts";
import { isSigned } from "../server/hmac.ts";
import { PROTOCOL } from "../server/records.ts";
import type { Head, SectionEntry } from "../server/records.ts";
import { headOf, STORED, unknownVersion } from "./head.ts";

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

const MAGIC = new TextEncoder().encode("GSMPACK1");
const FRONT_BYTES = MAGIC.length + 4;
const MAC_BYTES = 32;
const MOST_HEADER_BYTES = 1 << 20;
const AGAIN = "pull again; a package is always made anew";

/** Opens a package, once every byte of it was read and found to be as it was written. NotGossamer,
 * UnknownVersion, Truncated or Damaged for anything else. With a token nothing is accepted that was not
 * signed with it. */
export async function readPackage(bytes: Uint8Array, token: string): Promise<Package> {
  const { head, start } = readFront(bytes);
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

/** Reads the head and compares the sizes that it states with those of the file. */
function readFront(bytes: Uint8Array): { head: Head; start: number } {
  const name = bytes.subarray(0, MAGIC.length);
  const digit = MAGIC.length - 1; // the version
  if (!MAGIC.subarray(0, digit).every((byte, i) => byte === name[i])) {
    throw new GossamerError(
      "NotGossamer",
      "this is not a package of a Gossamer server; is the address right?",
    );
  }
  if (name[digit] !== MAGIC[digit]) throw unknownVersion(new TextDecoder().decode(name.subarray(digit)));
  if (bytes.length < FRONT_BYTES) throw truncated("ends within its first bytes");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
  if (length > MOST_HEADER_BYTES || FRONT_BYTES + length + MAC_BYTES > bytes.length) {
    throw truncated("ends within its head");
  }
  const start = FRONT_BYTES + length;
  const head = parseHead(bytes.subarray(FRONT_BYTES, start));
  const expected = start + head.sections.reduce((sum, entry) => sum + entry.size, 0) + MAC_BYTES;
  if (bytes.length === expected) return { head, start };
  throw truncated(`should have ${expected} bytes and has ${bytes.length}`);
}

function parseHead(header: Uint8Array): Head {
  const values = parseObject(header);
  const protocol = values?.["protocol"];
  if (values === null || !Number.isInteger(protocol)) {
    throw new GossamerError("Damaged", `the head of the package is damaged; ${AGAIN}`);
  }
  if (protocol !== PROTOCOL) throw unknownVersion(protocol);
  try {
    return headOf(values);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new GossamerError("Damaged", `the head of the package is damaged (${error.message}); ${AGAIN}`);
  }
}

function parseObject(header: Uint8Array): Record<string, unknown> | null {
  if (!header.every((byte) => byte < 128)) return null;
  try {
    const values: unknown = JSON.parse(new TextDecoder().decode(header));
    const isObject = typeof values === "object" && values !== null && !Array.isArray(values);
    return isObject ? (values as Record<string, unknown>) : null;
  } catch {
    return null;
  }
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

function truncated(what: string): GossamerError {
  return new GossamerError("Truncated", `the package ${what}; ${AGAIN}`);
}

function tooLarge(name: string, size: number, most: number): GossamerError {
  return new GossamerError(
    "TooLarge",
    `section ${JSON.stringify(name)} of the package has ${size} bytes, and ${most} were expected at most; ` +
      "ask the server for a snapshot",
  );
}
