// Files to documents, for what people drop into a page. The twin of python/gossamer/readers for the
// formats that need no library.

import { GossamerError } from "../errors.ts";
import type { Document } from "../records.ts";
import { documentOf, readCode, readMarkdown, readRst } from "./documents.ts";
import { decodeToUtf8 } from "./encoding.ts";
import { HEAD_BYTES, kindOf, reasonToSkip } from "./formats.ts";
import { readHtml } from "./html.ts";
import { readMail } from "./mail.ts";
import { suffixOf } from "./paths.ts";
import { readJsonLines, readTable } from "./rows.ts";
import { readWhatsApp } from "./whatsapp.ts";

/** Raised in Python whenever the same bytes give other documents than before. */
export const READER_VERSION = 3;

const MB = 1 << 20;
const MAX_FILE_BYTES = 256 * MB;
const MAX_TEXT_BYTES = 512 * MB;
const MAX_JSON_BYTES = MB; // larger JSON is data, not something to read
const DESKTOP_KINDS = new Set(["pdf", "docx", "pptx", "xlsx", "odt", "odp", "ods", "epub", "notebook"]);

/** Reads a file into documents, at least one; GossamerError Unreadable, or LeftOut for what is left
 * out on purpose, says why there is none. No bytes, however damaged or hostile, give anything else.
 * `path` says what the bytes are. */
export function readFile(path: string, bytes: Uint8Array): Document[] {
  const reason = reasonToSkip(path);
  if (reason) throw new GossamerError("LeftOut", reason);
  if (bytes.length > MAX_FILE_BYTES) throw tooBig(bytes.length, MAX_FILE_BYTES);
  if (!bytes.length) throw new GossamerError("LeftOut", "the file is empty");
  const kind = kindOf(path, bytes.subarray(0, HEAD_BYTES));
  if (!kind) throw new GossamerError("LeftOut", "binary file of an unknown kind");
  try {
    return withText(readKind(kind, path, bytes));
  } catch (error) {
    if (error instanceof GossamerError) throw error;
    const said = error instanceof Error ? error.message.slice(0, 200) : String(error);
    throw new GossamerError("Unreadable", `cannot be read as ${kind}: ${said}`);
  }
}

function readKind(kind: string, path: string, bytes: Uint8Array): Document[] {
  if (DESKTOP_KINDS.has(kind)) {
    throw new GossamerError(
      "Unreadable",
      `a page does not read ${kind} files; \`gossamer add\` on a computer does, and ` +
        "`gossamer export` makes a file of its index that opens here",
    );
  }
  switch (kind) {
    case "text":
      return [readText(path, bytes)];
    case "markdown":
      return [readMarkdown(bytes)];
    case "rst":
      return [readRst(bytes)];
    case "html":
      return [readHtml(bytes, MAX_TEXT_BYTES)];
    case "csv":
      return [readTable(path, bytes)];
    case "jsonl":
      return [readJsonLines(path, bytes, MAX_TEXT_BYTES)];
    case "mail":
      return readMail(path, bytes, MAX_TEXT_BYTES);
    case "json":
      return [readJson(path, bytes)];
    default:
      return [readCode(path, bytes)];
  }
}

function readText(path: string, bytes: Uint8Array): Document {
  const text = decodeToUtf8(bytes);
  const chat = suffixOf(path) === ".txt" ? readWhatsApp(path, text) : null;
  return chat ?? documentOf(text, "text");
}

function readJson(path: string, bytes: Uint8Array): Document {
  if (bytes.length > MAX_JSON_BYTES) {
    const size = (bytes.length / 1e6).toFixed(1);
    throw new GossamerError("Unreadable", `JSON data of ${size} MB, which is more than a page reads`);
  }
  return readCode(path, bytes);
}

function withText(documents: readonly Document[]): Document[] {
  const kept = documents.filter(({ text }) => text.some((byte) => byte !== 32 && (byte < 9 || byte > 13)));
  if (!kept.length) throw new GossamerError("LeftOut", "holds no text");
  const total = kept.reduce((sum, { text }) => sum + text.length, 0);
  if (total > MAX_TEXT_BYTES) throw tooBig(total, MAX_TEXT_BYTES);
  return kept;
}

function tooBig(size: number, most: number): GossamerError {
  const [came, allowed] = [size, most].map((bytes) => (bytes / 1e6).toFixed(1));
  return new GossamerError("Unreadable", `too big: ${came} MB where at most ${allowed} MB are read`);
}
