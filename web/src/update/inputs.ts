// What a page gives to an index: texts under ids of their own, and files. The twin of
// python/gossamer/update/given.py.

import { hashOfBytes } from "../bytes/hashes.ts";
import { joinBytes } from "../bytes/join.ts";
import { utf8 } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";
import type { Value } from "../records.ts";
import { compareTexts, inAscii } from "../text/text.ts";

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

/** The folder of files that came without one. */
export const LOOSE_FILES = "loose files";
const IS_ABSOLUTE = /^(?:[/\\]|[A-Za-z]:[/\\])/;
const MARKUPS = ["plain", "markdown", "rst", "rows"];

/** Whether an input is a file. */
export function isFileInput(input: Input): input is FileInput {
  return typeof input === "object" && input !== null && "bytes" in input;
}

/** How an input is called in messages, whatever was given for one. */
export function labelOf(input: Input): string {
  const given = input as { path?: unknown; id?: unknown } | null | undefined;
  const label = given?.path ?? given?.id;
  return typeof label === "string" ? label : "";
}

/** The source that a file is: the folder it was dropped with, and its path below. Files without a
 * folder share one, so that none is taken for a text whose id is its name. InvalidArgument for paths of
 * the machine: they would leave it with the index. */
export function keyOfFile(path: string): SourceKey {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (!parts.length || IS_ABSOLUTE.test(path) || parts.includes("..")) {
    const expected = "a file needs a path below the folder that was picked, such as notes/2024/may.md";
    throw invalid(`${expected}; got ${JSON.stringify(path.slice(0, 200))}`);
  }
  const [first = "", ...rest] = parts;
  return rest.length ? { root: first, name: rest.join("/") } : { root: LOOSE_FILES, name: first };
}

/** Checks a text that was given; InvalidArgument says what is missing or wrong. */
export function checkText(input: TextInput): void {
  if (typeof input !== "object" || input === null) {
    throw invalid(`a text is an object with "id" and "text", got ${saying(input)}`);
  }
  for (const name of ["id", "text"] as const) {
    if (typeof input[name] !== "string" || input[name] === "") {
      throw invalid(`a text needs "${name}", a string that is not empty`);
    }
  }
  const said = `text ${JSON.stringify(input.id)}`;
  if (input.title !== undefined && typeof input.title !== "string") {
    throw invalid(`${said}: its title must be a string`);
  }
  const { markup = "plain" }: { markup?: unknown } = input;
  const isKnown = typeof markup === "string" && (MARKUPS.includes(markup) || markup.startsWith("code/"));
  if (!isKnown) {
    const expected = `${MARKUPS.join(", ")} or code/LANGUAGE`;
    throw invalid(`${said}: its markup must be ${expected}, got ${saying(markup)}`);
  }
  const { metadata = {} } = input;
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    throw invalid(`${said}: its metadata must be an object, got ${saying(metadata)}`);
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (isValue(value)) continue;
    const what = "metadata is strings, finite numbers and booleans by name";
    throw invalid(`${said}: ${what}, got ${key}: ${saying(value)}; leave out what is not known`);
  }
}

/** Hashes everything that was said of a text. */
export function hashOfGiven(input: TextInput): bigint {
  const { title = "", markup = "plain" } = input;
  const said = `[${jsonOf(title)}, ${jsonOf(markup)}, ${metadataOf(input)}]`;
  return hashOfBytes(joinBytes([utf8(input.text), utf8(said)]));
}

function metadataOf(input: TextInput): string {
  const pairs = Object.entries(input.metadata ?? {}).sort(([one], [other]) => compareTexts(one, other));
  return `{${pairs.map(([key, value]) => `${jsonOf(key)}: ${jsonOf(value)}`).join(", ")}}`;
}

/** JSON as Python writes it: ASCII alone. */
function jsonOf(value: Value): string {
  return inAscii(JSON.stringify(value));
}

function isValue(value: unknown): value is Value {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" || typeof value === "boolean";
}

/** A value in a message; some have no JSON (a bigint, what holds itself). */
function saying(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? typeof value).slice(0, 200);
  } catch {
    return typeof value;
  }
}

function invalid(message: string): GossamerError {
  return new GossamerError("InvalidArgument", message);
}
