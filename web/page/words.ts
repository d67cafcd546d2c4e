// Numbers, sizes and failures as people read them.

import { GossamerError } from "../src/errors.ts";
import type { Reason } from "../src/errors.ts";

const UNITS = ["B", "kB", "MB", "GB", "TB"];
const RANKINGS: Readonly<Record<string, string>> = { semantic: "meaning", lexical: "words" };

/** How many there are: "1 file", "1,234 files". */
export function counted(number: number, one: string): string {
  return `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
}

/** Bytes in powers of a thousand: "12.3 MB". */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : Number(value.toPrecision(3))} ${UNITS[unit]}`;
}

/** Milliseconds: "3.2 ms", "120 ms", "1.4 s". */
export function duration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 10 ? Math.round(ms) : ms.toFixed(1)} ms`;
}

/** How much of the whole a part is: "3.1 %"; nothing if there is no whole. */
export function share(part: number, whole: number): string {
  if (!whole) return "";
  return `${Number(((100 * part) / whole).toPrecision(2)).toLocaleString("en")} %`;
}

/** What people call the ranking by which a hit was found. */
export function rankingName(ranking: string): string {
  return RANKINGS[ranking] ?? ranking;
}

/** What went wrong, to show: a sentence. */
export function messageOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  // Addresses and names stay what they are.
  const sentence = said.replace(/^[a-z](?=[a-z']* )/, (letter) => letter.toUpperCase());
  return /[.!?)\n]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Why something failed; "" for what nobody foresaw. */
export function reasonOf(error: unknown): Reason | "" {
  return error instanceof GossamerError ? error.reason : "";
}

/** A failure in a few words. */
export function headingOf(error: unknown): string {
  return HEADINGS[reasonOf(error)] ?? "This did not work";
}

const HEADINGS: Readonly<Record<string, string>> = {
  Unreachable: "No connection",
  NoIndex: "There is no index here",
  NotGossamer: "This is not an index file",
  UnknownVersion: "This index is of another version",
  Damaged: "The index is damaged",
  Truncated: "The index is not complete",
  TooLarge: "This is too large for the browser",
  Unwritable: "The browser's storage is full",
  Unavailable: "The browser's storage cannot be used",
  Locked: "Another tab is changing this index",
  MissingModel: "The model of this index is not here",
  ModelMismatch: "The model is another one than that of the index",
  InvalidArgument: "This was not understood",
};
