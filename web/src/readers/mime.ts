// The inside of a mail message: its headers decoded, its parts found, its text chosen. Messages are
// strings with a character for each byte. The twin of readers/mime.py.

import { decoded } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";
import { splitWords, stripEnd, stripStart } from "../text/python_text.ts";
import { decodeToUtf8, fromWindows } from "./encoding.ts";
import { extractHtml } from "./html.ts";

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
  readonly text: string;
  readonly isHtml: boolean; // some of the text was HTML and is Markdown-like now
  readonly attachments: readonly string[];
}

export type Headers = ReadonlyMap<string, string>;

interface Part {
  readonly headers: Headers;
  readonly type: string;
  readonly body: string;
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

/** A header decoded, as one line; "" where there is none. */
export function headerOf(headers: Headers, name: string): string {
  const raw = (headers.get(name) ?? "").slice(0, MAX_HEADER_CHARS);
  const words = guessed(raw).replace(ENCODED_WORD, (_, charset: string, how: string, text: string) => {
    const isBase64 = how.toLowerCase() === "b";
    return decodedBody(isBase64 ? fromBase64(text) : fromQuoted(text.replaceAll("_", " ")), charset);
  });
  return [...splitWords(words).join(" ")].slice(0, MAX_LINE_CHARS).join("");
}

/** The text of a message: plain where there is a choice, HTML turned into text. */
export function textOf(data: string, maxBytes: number): MailText {
  const texts: string[] = [];
  const names: string[] = [];
  let isHtml = false;
  for (const part of leavesOf(data)) {
    const name = fileNameOf(part.headers);
    const isText = part.type === "text/plain" || part.type === "text/html";
    const isAttached = /^\s*attachment/i.test(part.headers.get("content-disposition") ?? "");
    if (name || !isText || isAttached) {
      names.push(name || part.type);
      continue;
    }
    isHtml = isHtml || part.type === "text/html";
    texts.push(stripStart(stripEnd(bodyText(part, maxBytes))));
  }
  const text = texts.filter((one) => one !== "").join("\n\n");
  return { text, isHtml, attachments: names.slice(0, MAX_NAMES) };
}

/** The parts that hold something, in order; of alternatives only the best. */
function leavesOf(data: string): Part[] {
  const leaves: Part[] = [];
  const waiting = [partOf(data, 0)];
  for (let count = 0; waiting.length && count < MAX_PARTS; count += 1) {
    const part = waiting.pop();
    if (!part || part.depth >= MAX_DEPTH) continue;
    if (part.type === "message/rfc822") waiting.push(partOf(part.body, part.depth + 1));
    else if (part.type.startsWith("multipart/")) {
      const children = childrenOf(part);
      const isChoice = part.type === "multipart/alternative" && children.length > 0;
      waiting.push(...(isChoice ? [bestOf(children)] : children.reverse()));
    } else leaves.push(part);
  }
  return leaves;
}

function partOf(data: string, depth: number): Part {
  // A part may begin with the blank line that says that it has no headers.
  const isBare = /^\r?\n/.test(data);
  const headers: Headers = isBare ? new Map() : headersOf(data);
  const declared = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const type = /^[^/\s]+\/[^/\s]+$/.test(declared) ? declared : "text/plain";
  const body = data.slice(isBare ? 0 : endOfHeaders(data));
  return { headers, type, body, depth };
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
  for (const found of part.body.matchAll(line)) {
    if (begin >= 0) children.push(partOf(part.body.slice(begin, found.index), part.depth + 1));
    begin = found.index + found[0].length + 1;
    if (found[1] || children.length >= MAX_PARTS) return children;
  }
  // Cut off before its last boundary.
  if (begin >= 0) children.push(partOf(part.body.slice(begin), part.depth + 1));
  return children;
}

function bestOf(children: readonly Part[]): Part {
  const plain = children.find((part) => part.type === "text/plain");
  if (plain && plain.body.length >= MIN_PLAIN_BYTES) return plain;
  const shown = children.find(({ type }) => type.startsWith("text/html") || type.startsWith("multipart/"));
  return shown ?? plain ?? (children[0] as Part);
}

function bodyText(part: Part, maxBytes: number): string {
  const encoding = (part.headers.get("content-transfer-encoding") ?? "").trim().toLowerCase();
  const body =
    encoding === "quoted-printable"
      ? fromQuoted(part.body.replace(/(?<![ \t])[ \t]+(?=\r?\n)/g, "").replace(/=\r?\n/g, ""))
      : encoding === "base64"
        ? fromBase64(part.body)
        : bytesOf(part.body);
  const text = decodedBody(body, parameterOf(part.headers.get("content-type") ?? "", "charset"));
  return part.type === "text/html" ? decoded(extractHtml(text, maxBytes).text) : text;
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

function fromQuoted(text: string): Uint8Array {
  return bytesOf(
    text.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
}

function fromBase64(text: string): Uint8Array {
  const letters = text.replace(/[^A-Za-z0-9+/]/g, "");
  // Cut off: half a byte.
  const whole = letters.length % 4 === 1 ? letters.slice(0, -1) : letters;
  return bytesOf(atob(whole));
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0) & 255);
}
