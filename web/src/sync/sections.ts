// What the small sections of a package hold. Whatever was signed may still be wrong: reading gives Damaged
// for anything but what was written. The twin of python/gossamer/sync/sections.py.

import { GossamerError } from "../errors.ts";
import type { SourceName } from "../format/put.ts";
import type { Conflict } from "../server/records.ts";

/** What sections of JSON have at most: they take many times as much once they are read. More changes than
 * that are better taken as a snapshot. */
export const MOST_JSON_BYTES = 2 ** 26;

/** A source whose content is the same, read at another time or by another reader. */
export interface Touched extends SourceName {
  readonly mtimeNs: bigint;
  readonly readerVersion: number;
}

/** The names of sources that are gone; none from no bytes. */
export function unpackRemoved(bytes: Uint8Array): SourceName[] {
  return rowsOf(bytes, 2).map(keyOf);
}

/** Sources that are as they were, with their times; none from no bytes. */
export function unpackTouched(bytes: Uint8Array): Touched[] {
  return rowsOf(bytes, 4).map((row) => {
    const mtimeNs = integerOf(row[2]);
    if (BigInt.asIntN(64, mtimeNs) !== mtimeNs) throw damaged(`${mtimeNs} in place of a number`);
    return { ...keyOf(row), mtimeNs, readerVersion: countOf(row[3]) };
  });
}

/** The first chunk of each document whose text is not in the package; none from no bytes. */
export function unpackAbsent(bytes: Uint8Array): Set<number> {
  return new Set(parse(bytes, 0).map(countOf));
}

/** Conflicts, without the texts that they replaced; none from no bytes. */
export function unpackConflicts(bytes: Uint8Array): Conflict[] {
  return rowsOf(bytes, 5).map(([number, id, at, version, note]) => ({
    number: countOf(number),
    id: textOf(id),
    at: textOf(at),
    version: countOf(version),
    note: textOf(note),
  }));
}

const STRING = /"(?:[^"\\]|\\.)*"/g;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

function rowsOf(bytes: Uint8Array, width: number): unknown[][] {
  const rows = parse(bytes, width);
  if (rows.every((row) => Array.isArray(row) && row.length === width)) return rows as unknown[][];
  throw damaged(`rows of ${width} values were expected`);
}

/** A list, of lists of so many values; 0 for one without lists in it. Numbers come as "n" and their
 * digits, since JSON.parse rounds large ones, and texts as "t" and the text. */
function parse(bytes: Uint8Array, width: number): unknown[] {
  if (bytes.length === 0) return [];
  if (!bytes.every((byte) => byte < 128)) throw damaged("other letters than those of ASCII");
  const values = parseTagged(new TextDecoder().decode(bytes), width);
  if (Array.isArray(values)) return values;
  throw damaged("no list");
}

function parseTagged(text: string, width: number): unknown {
  try {
    const bare = text.replace(STRING, "");
    // Empty lists take many times as much as they are long: they are counted, not made.
    const rows = width ? Math.floor((countIn(bare, /,/g) + 1) / width) : 0;
    if (countIn(bare, /[[{]/g) > 1 + rows) throw new TypeError("more lists than values");
    const tag = (found: string) => (found.startsWith('"') ? `"t${found.slice(1)}` : `"n${found}"`);
    return JSON.parse(text.replace(STRING_OR_NUMBER, tag));
  } catch (error) {
    throw damaged(String(error)); // a text too long for a regular expression is none of ours either
  }
}

function countIn(text: string, what: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(what)) count += 1;
  return count;
}

function keyOf(row: readonly unknown[]): SourceName {
  const [isFile, path] = row;
  if (typeof isFile !== "boolean") throw damaged(`${String(isFile)} in place of true or false`);
  return { isFile, path: textOf(path) };
}

function textOf(value: unknown): string {
  if (typeof value === "string" && value.startsWith("t")) return value.slice(1);
  throw damaged(`${String(value)} in place of a text`);
}

function integerOf(value: unknown): bigint {
  if (typeof value === "string" && /^n-?\d{1,19}$/.test(value)) return BigInt(value.slice(1));
  throw damaged(`${String(value)} in place of a number`);
}

function countOf(value: unknown): number {
  const number = Number(integerOf(value));
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw damaged(`${number} in place of a number`);
}

function damaged(what: string): GossamerError {
  const said = what.slice(0, 200);
  return new GossamerError(
    "Damaged",
    `a section of the package does not hold what it should (${said}); pull again`,
  );
}
