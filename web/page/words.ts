// Numbers, sizes, paths and failures as people read them.

import type { GossamerError, Reason } from "../src/errors.ts";

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

// Of less than this a share says nothing: what every index takes is more than so little text.
const LEAST_SHARED = 1 << 16;

/** How much of the whole a part is: "3.1 %"; nothing if the whole is next to nothing. */
export function share(part: number, whole: number): string {
  if (whole < LEAST_SHARED) return "";
  return `${Number(((100 * part) / whole).toPrecision(2)).toLocaleString("en")} %`;
}

/** A moment (ISO 8601) in the time of this place, to the minute; as it is if it is none. */
export function when(moment: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return moment;
  return date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/** A path without what stands above the file or folder that was indexed; as it is if it is below none. */
export function nearPath(path: string, roots: readonly string[]): string {
  const isBelow = (root: string) => path.startsWith(root) && /^([\\/]|$)/.test(path.slice(root.length));
  const [above] = roots.filter(isBelow).sort((a, b) => a.length - b.length);
  return above === undefined ? path : path.slice(above.search(/[^\\/]*$/));
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
  // One of several lines points at a character of the last but one.
  return sentence.includes("\n") || /[.!?)]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Why something failed; "" for what nobody foresaw. */
export function reasonOf(error: unknown): Reason | "" {
  // By its name: the package that is loaded later has a class of its own.
  return error instanceof Error && error.name === "GossamerError" ? (error as GossamerError).reason : "";
}

/** Whether trying again may help. */
export function isPassing(error: unknown): boolean {
  return ["Unreachable", "Locked", "Unavailable", "WrongState", ""].includes(reasonOf(error));
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
  TooLarge: "This is too large",
  Unwritable: "There is no room left",
  Unavailable: "This cannot be had now",
  Locked: "This index is being changed",
  MissingModel: "The model of this index is not here",
  ModelMismatch: "The model is another one than that of the index",
  InvalidArgument: "This was not understood",
};
