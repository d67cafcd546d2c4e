// What a page gives to an index: texts under ids of their own, and files. The twin of
// python/gossamer/update/given.py.

import { utf8 } from "../chunking/bytes.ts";
import { GossamerError } from "../errors.ts";
import { hashOfBytes } from "../format/hashes.ts";
import { compareTexts } from "../format/text.ts";
import type { Value } from "../records.ts";

/** A text that a page gives, under an id of its own. */
export interface TextInput {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly markup?: string; // "plain" (the usual), "markdown", "rst", "rows" or "code/LANGUAGE"
  readonly metadata?: Readonly<Record<string, Value>>;
}

/** A file with the path it is to be found under; its name without one. */
export interface FileInput {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mtime?: number; // milliseconds, as File.lastModified
}

export type Input = TextInput | FileInput;

/** What names a source in the catalogue: the folder it came with ("" for none), and the rest. */
export interface SourceKey {
  readonly root: string;
  readonly name: string;
}

const MARKUPS = ["plain", "markdown", "rst", "rows"];

/** Whether an input is a file. */
export function isFileInput(input: Input): input is FileInput {
  return "bytes" in input;
}

/** How an input is called in messages. */
export function labelOf(input: Input): string {
  return isFileInput(input) ? String(input.path) : String(input.id);
}

/** The source that a file is: the folder it was dropped with, and its path below. A file without
 * a folder is kept as a text is, under its name alone. */
export function keyOfFile(path: string): SourceKey {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const [first = ""] = parts;
  const rest = parts.slice(1).join("/");
  if (!first) throw invalid(`a file needs a path, got ${JSON.stringify(path)}`);
  if (!rest) return { root: "", name: first };
  return { root: path.startsWith("/") ? `/${first}` : first, name: rest };
}

/** Checks a text that was given; InvalidArgument says what is missing or wrong. */
export function checkText(input: TextInput): void {
  for (const name of ["id", "text"] as const) {
    if (typeof input[name] !== "string" || input[name] === "") {
      throw invalid(`a text needs "${name}", a string that is not empty`);
    }
  }
  const said = `text ${JSON.stringify(input.id)}`;
  if (input.title !== undefined && typeof input.title !== "string") {
    throw invalid(`${said}: its title must be a string`);
  }
  const markup: unknown = input.markup ?? "plain";
  const isKnown = typeof markup === "string" && (MARKUPS.includes(markup) || markup.startsWith("code/"));
  if (!isKnown) {
    const expected = `${MARKUPS.join(", ")} or code/LANGUAGE`;
    throw invalid(`${said}: its markup must be ${expected}, got ${String(markup)}`);
  }
  for (const [key, value] of Object.entries(input.metadata ?? {})) {
    if (isValue(value)) continue;
    const what = "metadata is strings, finite numbers and booleans by name";
    throw invalid(`${said}: ${what}, got ${key}: ${JSON.stringify(value)}; leave out what is not known`);
  }
}

/** Hashes everything that was said of a text, as Python does. */
export function hashOfGiven(input: TextInput): bigint {
  const { title = "", markup = "plain" } = input;
  const said = `[${jsonOf(title)}, ${jsonOf(markup)}, ${metadataOf(input)}]`;
  const text = utf8(input.text);
  const rest = utf8(said);
  const whole = new Uint8Array(text.length + rest.length);
  whole.set(text);
  whole.set(rest, text.length);
  return hashOfBytes(whole);
}

function metadataOf(input: TextInput): string {
  const pairs = Object.entries(input.metadata ?? {}).sort(([one], [other]) => compareTexts(one, other));
  return `{${pairs.map(([key, value]) => `${jsonOf(key)}: ${jsonOf(value)}`).join(", ")}}`;
}

/** JSON as Python writes it: ASCII alone. */
function jsonOf(value: Value): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
}

function isValue(value: unknown): value is Value {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" || typeof value === "boolean";
}

function invalid(message: string): GossamerError {
  return new GossamerError("InvalidArgument", message);
}
