// The inside of a mail message: its headers decoded, its parts found, its text chosen. Messages are
// strings with a character for each byte. The twin of readers/mime.py.

import { decoded } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";
import { splitWords } from "../text/python_text.ts";
import { decodeToUtf8, fromWindows } from "./encoding.ts";
import { bytesOf, fromBase64, fromQuoted, markHtml, markPlain, transferDecoded } from "./mail_lines.ts";
import type { MarkedText } from "./mail_lines.ts";

const MAX_HEADER_BYTES = 200_000;
const MAX_HEADER_CHARS = 2_000;
const MAX_LINE_CHARS = 300;
const MAX_PARTS = 1_000;
const MAX_DEPTH = 20;
const MAX_NAMES = 100;
// A plain part shorter than this often only says that the mail is to be read as HTML.
const MIN_PLAIN_BYTES = 40;
const ENCODED_WORD = /=\?([^?\s]{1,40})\?([bBqQ])\?([^?]*)\?=(?:\s+(?==\?))?/g;
const SEVEN_BIT = new Set(["iso-2022-jp"]);

/** What a reader of a message sees, and the names of what is attached to it. */
export interface MailText {
  readonly parts: readonly MarkedText[];
  readonly isHtml: boolean; // some of the text was HTML and is Markdown-like now
  readonly attachments: readonly string[];
  readonly attachedAt: number; // line of the file that names the first attachment; 0 for none
}

export type Headers = ReadonlyMap<string, string>;

interface Part {
  readonly headers: Headers;
  readonly type: string;
  readonly head: string; // the headers as they stand
  readonly body: string;
  readonly begin: number; // of the body in the message
  readonly depth: number;
}

/** The headers that a message begins with, by name in lower case; the first of each name. */
export function headersOf(data: string): Headers {
  const head = data.slice(0, Math.min(MAX_HEADER_BYTES, endOfHeaders(data)));
  const headers = new Map<string, string>();
  for (const line of head.replace(/\r?\n(?=[ \t])/g, "").split(/\r?\n/)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    if (colon <= 0 || !/^[!-9;-~]+$/.test(name)) continue;
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}

/** On which line, from 0, each header begins that `data` begins with; the first of each. */
export function headerLines(data: string): Map<string, number> {
  const head = data.slice(0, Math.min(MAX_HEADER_BYTES, endOfHeaders(data)));
  const lines = new Map<string, number>();
  head.split("\n").forEach((line, number) => {
    const name = line.slice(0, Math.max(line.indexOf(":"), 0)).toLowerCase();
    if (name && !/^\s/.test(name) && !lines.has(name)) lines.set(name, number);
  });
  return lines;
}

/** A header decoded, as one line; "" where there is none. */
export function headerOf(headers: Headers, name: string): string {
  const raw = (headers.get(name) ?? "").slice(0, MAX_HEADER_CHARS);
  const words = guessed(raw).replace(ENCODED_WORD, (_, charset: string, how: string, text: string) => {
    const isBase64 = how.toLowerCase() === "b";
    return decodedBody(bytesOf(isBase64 ? fromBase64(text) : fromQuoted(text.replaceAll("_", " "))), charset);
  });
  return [...splitWords(words).join(" ")].slice(0, MAX_LINE_CHARS).join("");
}

/** The text of a message that begins on this line of its file: plain where there is a choice, HTML
 * turned into text. */
export function textOf(data: string, maxBytes: number, firstLine: number): MailText {
  const parts: MarkedText[] = [];
  const names: string[] = [];
  let isHtml = false;
  let attachedAt = 0;
  let at = 0;
  let line = firstLine;
  for (const part of leavesOf(data)) {
    line += linesIn(data.slice(at, part.begin));
    at = part.begin;
    const name = fileNameOf(part.headers);
    const isText = part.type === "text/plain" || part.type === "text/html";
    const isAttached = /^\s*attachment/i.test(part.headers.get("content-disposition") ?? "");
    if (name || !isText || isAttached) {
      attachedAt ||= line - linesIn(part.head) + namingLine(part.head);
      names.push(name || part.type);
      continue;
    }
    const isPage = part.type === "text/html";
    isHtml = isHtml || isPage;
    const text = bodyText(part);
    parts.push(isPage ? markHtml(text, line, maxBytes) : markPlain(text, line));
  }
  return { parts, isHtml, attachments: names.slice(0, MAX_NAMES), attachedAt };
}

/** On which line of a part's headers its name stands, or else its type. */
function namingLine(head: string): number {
  const lines = headerLines(head);
  return lines.get("content-disposition") ?? lines.get("content-type") ?? 0;
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}

/** The parts that hold something, in order; of alternatives only the best. */
function leavesOf(data: string): Part[] {
  const leaves: Part[] = [];
  const waiting = [partOf(data, 0, 0)];
  for (let count = 0; waiting.length && count < MAX_PARTS; count += 1) {
    const part = waiting.pop();
    if (!part || part.depth >= MAX_DEPTH) continue;
    if (part.type === "message/rfc822") waiting.push(partOf(part.body, part.begin, part.depth + 1));
    else if (part.type.startsWith("multipart/")) {
      const children = childrenOf(part);
      const isChoice = part.type === "multipart/alternative" && children.length > 0;
      waiting.push(...(isChoice ? [bestOf(children)] : children.reverse()));
    } else leaves.push(part);
  }
  return leaves;
}

/** The part that `data` is, which begins there in the message. */
function partOf(data: string, begin: number, depth: number): Part {
  // A part may begin with the blank line that says that it has no headers.
  const isBare = /^\r?\n/.test(data);
  const headers: Headers = isBare ? new Map() : headersOf(data);
  const declared = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const type = /^[^/\s]+\/[^/\s]+$/.test(declared) ? declared : "text/plain";
  const end = isBare ? 0 : endOfHeaders(data);
  return { headers, type, head: data.slice(0, end), body: data.slice(end), begin: begin + end, depth };
}

function endOfHeaders(data: string): number {
  const found = /\r?\n\r?\n/.exec(data.slice(0, MAX_HEADER_BYTES));
  return found ? found.index + found[0].length : data.length;
}

function childrenOf(part: Part): Part[] {
  const boundary = parameterOf(part.headers.get("content-type") ?? "", "boundary");
  if (!boundary) return [];
  const escaped = boundary.slice(0, 200).replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  const line = new RegExp(`(?<![^\\n])--${escaped}(--)?[ \\t]*\\r?(?![^\\n])`, "g");
  const children: Part[] = [];
  let begin = -1;
  const add = (data: string): unknown =>
    children.push(partOf(data, part.begin + begin, part.depth + 1));
  for (const found of part.body.matchAll(line)) {
    if (begin >= 0) add(part.body.slice(begin, found.index));
    begin = found.index + found[0].length + 1;
    if (found[1] || children.length >= MAX_PARTS) return children;
  }
  // Cut off before its last boundary.
  if (begin >= 0) add(part.body.slice(begin));
  return children;
}

function bestOf(children: readonly Part[]): Part {
  const plain = children.find((part) => part.type === "text/plain");
  if (plain && plain.body.length >= MIN_PLAIN_BYTES) return plain;
  const shown = children.find(({ type }) => type.startsWith("text/html") || type.startsWith("multipart/"));
  return shown ?? plain ?? (children[0] as Part);
}

/** A part decoded; the marks of its lines are in it. */
function bodyText(part: Part): string {
  const encoding = (part.headers.get("content-transfer-encoding") ?? "").trim().toLowerCase();
  const charset = parameterOf(part.headers.get("content-type") ?? "", "charset");
  const hasShifts = SEVEN_BIT.has(charset.toLowerCase());
  return decodedBody(transferDecoded(part.body, encoding, hasShifts), charset);
}

function decodedBody(body: Uint8Array, charset: string): string {
  if (SEVEN_BIT.has(charset.toLowerCase())) return new TextDecoder(charset).decode(body);
  try {
    return decoded(decodeToUtf8(body, charset));
  } catch (error) {
    if (error instanceof GossamerError) return "";
    throw error;
  }
}

function fileNameOf(headers: Headers): string {
  const disposition = parameterOf(headers.get("content-disposition") ?? "", "filename");
  const name = disposition || parameterOf(headers.get("content-type") ?? "", "name");
  return headerOf(new Map([["name", name]]), "name");
}

function parameterOf(header: string, name: string): string {
  const pattern = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^;\\s]+))`, "i");
  const found = pattern.exec(header);
  return found?.[1] ?? found?.[2] ?? "";
}

/** A few words without a charset: UTF-8 if they are, else as Windows has them. */
function guessed(raw: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(raw));
  } catch {
    return fromWindows(bytesOf(raw));
  }
}
