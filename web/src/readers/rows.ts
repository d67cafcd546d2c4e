// Tables and records: CSV as it is, the rows of JSON Lines as text. The twin of readers/rows.py.

import { joinBytes } from "../bytes/join.ts";
import { decoded, utf8 } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";
import type { Document } from "../records.ts";
import { stripEnd, stripStart } from "../text/python_text.ts";
import { documentOf, headOf } from "./documents.ts";
import { decodeToUtf8 } from "./encoding.ts";
import { nameOf } from "./paths.ts";

const DELIMITERS = [",", "\t", ";", "|"];
// Read first in a record, in this order, and without their names.
const MAIN_KEYS = ["title", "name", "text", "body", "content", "description", "message"];
const MAX_COLUMNS_CHARS = 1000;
const NEWLINE = 10;

/** CSV and its kin, as it stands. */
export function readTable(path: string, data: Uint8Array): Document {
  const text = decodeToUtf8(data);
  const columns = columnsOf(stripStart(headOf(text)).split("\n", 1)[0] ?? "");
  const metadata = columns ? { columns } : {};
  return documentOf(text, "csv", { markup: "rows", title: nameOf(path), metadata });
}

/** A record for each row, parted by blank lines; a line that is no JSON stays as it is. */
export function readJsonLines(path: string, data: Uint8Array, maxTextBytes: number): Document {
  const text = decodeToUtf8(data);
  const parts: Uint8Array[] = [];
  const places: [number, number][] = [];
  let size = 0;
  let row = 0;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf(NEWLINE, at);
    const end = newline < 0 ? text.length : newline + 1;
    row += 1;
    const part = recordOf(decoded(text.subarray(at, end)).replace(/^\ufeff/, ""));
    if (part) {
      places.push([size, row]);
      parts.push(utf8(`${part}\n\n`));
      size += parts[parts.length - 1]?.length ?? 0;
    }
    if (size > maxTextBytes) {
      throw new GossamerError("Unreadable", `more than ${Math.round(maxTextBytes / 1e6)} MB of text`);
    }
    at = end;
  }
  return documentOf(joinBytes(parts), "jsonl", { title: nameOf(path), unit: "row", places });
}

/** The names in the first line, joined by commas; "" where they are numbers or none. */
function columnsOf(header: string): string {
  const counts = DELIMITERS.map((mark) => header.split(mark).length);
  const delimiter = DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
  const names = header.split(delimiter).map((name) => stripped(without(stripped(name), '"')));
  const isNone = names.length < 2 || names.some((name) => name === "" || /^\p{Nd}/u.test(name));
  return isNone ? "" : [...names.join(", ")].slice(0, MAX_COLUMNS_CHARS).join("");
}

function recordOf(line: string): string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return stripAscii(line);
  }
  return stripAscii(stringsOf(value).join("\n"));
}

/** The strings in a JSON value as `key: value`, those that carry the text first. */
function stringsOf(record: unknown): string[] {
  const found: string[] = [];
  const waiting: [string, unknown][] = [["", record]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [key, value] = next;
    if (Array.isArray(value)) {
      for (const inner of value.toReversed()) waiting.push([key, inner]);
    } else if (typeof value === "object" && value !== null) {
      for (const entry of entriesOf(value as Record<string, unknown>).reverse()) waiting.push(entry);
    } else if (typeof value === "string" && stripped(value) !== "") {
      found.push(key ? `${key}: ${value}` : value);
    }
  }
  return found;
}

function entriesOf(record: Readonly<Record<string, unknown>>): [string, unknown][] {
  const first = MAIN_KEYS.filter(
    (name) => Object.hasOwn(record, name) && typeof record[name] === "string",
  );
  const rest = Object.entries(record).filter(([name]) => !first.includes(name));
  return [...first.map((name): [string, unknown] => ["", record[name]]), ...rest];
}

function stripped(text: string): string {
  return stripStart(stripEnd(text));
}

function stripAscii(text: string): string {
  return without(text, " \t\n\r\f\v");
}

/** Without these characters at both ends. Not by a pattern: one tries every run of them to its end. */
function without(text: string, characters: string): string {
  let begin = 0;
  let end = text.length;
  while (begin < end && characters.includes(text.charAt(begin))) begin += 1;
  while (end > begin && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(begin, end);
}
