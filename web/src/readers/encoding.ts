// Bytes to UTF-8: text in the usual encodings is recognised, and what is no text is refused. The
// twin of text/encoding.py, which tells more encodings apart.

import { byteString, utf8 } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";

const HEAD_BYTES = 1 << 16; // looked at to tell an encoding
const NUL_HEAD_BYTES = 8192;
const MOST_CONTROLS = 0.05;
const MOST_REPLACED = 0.1;
// Control characters that stand in texts: \b \t \n \f \r and escape.
const TEXT_CONTROLS = new Set([8, 9, 10, 12, 13, 27]);
const DECLARABLE = new RegExp(
  "^(?:(?:cp|windows-?)(?:125\\d|866|874|932|949)|(?:iso-?)?(?:8859|latin)[-_]?\\d{1,2}" +
    "|iso-(?:8859-\\d{1,2}|2022-jp)|(?:us-)?ascii|gbk?|gb2312|gb18030|big5(?:-?hkscs)?" +
    "|shift[-_]?jis|euc[-_](?:jp|kr)|koi8[-_][ru]|macintosh|tis[-_]?620|ks_c_5601-1987)$",
  "i",
);
const DECLARATION = new RegExp(
  "<meta[^>]{0,256}?charset\\s{0,8}=\\s{0,8}[\"']?\\s{0,8}([\\w.:-]{1,40})" +
    "|^\\s{0,64}<\\?xml[^>]{0,128}?encoding\\s{0,8}=\\s{0,8}[\"']([\\w.:-]{1,40})",
  "i",
);
// What 0x80 to 0x9f are on Windows. Not every TextDecoder knows, though the standard says so.
const WINDOWS =
  "€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd" +
  "\ufffd‘’“”•–—˜™š›œ\ufffdžŸ";

/** `data` as UTF-8; Unreadable or LeftOut for what is not text.
 *
 * Valid UTF-8 comes back as it is, a byte order mark included. `declared` is what the file says of
 * itself: it is believed where the bytes are neither marked nor valid UTF-8. */
export function decodeToUtf8(data: Uint8Array, declared = ""): Uint8Array {
  const marked = markedEncoding(data);
  if (marked === "utf-32") {
    throw new GossamerError("Unreadable", "text in UTF-32, which a page cannot read; save it as UTF-8");
  }
  if (marked) return converted(data.subarray(2), marked);
  const head = data.subarray(0, NUL_HEAD_BYTES);
  const wide = head.includes(0) ? wideEncoding(head) : "";
  if (wide) return converted(data, wide);
  if (isBinary(data.subarray(0, HEAD_BYTES))) throw new GossamerError("LeftOut", "binary file");
  if (isUtf8(data)) {
    refuseFlood(new TextDecoder().decode(data.subarray(0, HEAD_BYTES), { stream: true }));
    return data;
  }
  return converted(data, declarable(declared) || (isMostlyUtf8(data) ? "utf-8" : "windows-1252"));
}

/** The encoding that HTML or XML declares in its first bytes; "" where it declares none. */
export function declaredEncoding(head: Uint8Array): string {
  const found = DECLARATION.exec(byteString(head.subarray(0, 4096)));
  return found?.[1] ?? found?.[2] ?? "";
}

/** Whether a file that begins with `head` is no text in any encoding. */
export function isBinary(head: Uint8Array): boolean {
  if (markedEncoding(head)) return false;
  const begin = head.subarray(0, NUL_HEAD_BYTES);
  return begin.includes(0) ? wideEncoding(begin) === "" : hasManyControls(head);
}

/** Text in what files not in Unicode are most often in, windows-1252. */
export function fromWindows(data: Uint8Array): string {
  return byteString(data).replace(/[\x80-\x9f]/g, (letter) => WINDOWS.charAt(letter.charCodeAt(0) - 0x80));
}

function markedEncoding(data: Uint8Array): string {
  const [a, b, c, d] = data;
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "utf-32" : "utf-16le";
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return "utf-32";
  return a === 0xfe && b === 0xff ? "utf-16be" : "";
}

function converted(data: Uint8Array, encoding: string): Uint8Array {
  const isWindows = encoding === "windows-1252";
  const text = isWindows ? fromWindows(data) : new TextDecoder(encoding, { ignoreBOM: true }).decode(data);
  refuseFlood(text.slice(0, HEAD_BYTES));
  return utf8(text);
}

/** Refuses text of which much was lost when it was decoded, here or before. */
function refuseFlood(text: string): void {
  if (countOf(text, "\ufffd") > MOST_REPLACED * text.length) {
    throw new GossamerError("Unreadable", "text in an unknown encoding, or damaged");
  }
  if (countOf(text, "\0") > MOST_CONTROLS * text.length) {
    throw new GossamerError("LeftOut", "binary file");
  }
}

function countOf(text: string, character: string): number {
  return text.split(character).length - 1;
}

/** Tells UTF-16 without a mark by where its NULs are: in text most characters have one. */
function wideEncoding(head: Uint8Array): string {
  const half = Math.floor(head.length / 2);
  const even = new Uint8Array(half).map((_, i) => head[2 * i] as number);
  const odd = new Uint8Array(half).map((_, i) => head[2 * i + 1] as number);
  if (zerosIn(odd) > 0.4 * half && !hasManyControls(even)) return "utf-16le";
  if (zerosIn(even) > 0.4 * half && !hasManyControls(odd)) return "utf-16be";
  return "";
}

function zerosIn(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
}

function hasManyControls(data: Uint8Array): boolean {
  let count = 0;
  for (const byte of data) {
    if ((byte < 32 && !TEXT_CONTROLS.has(byte)) || byte === 127) count += 1;
  }
  return count > MOST_CONTROLS * data.length;
}

function isUtf8(data: Uint8Array): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    // By slices: a string of the whole could take twice the memory of the file.
    for (let at = 0; at < data.length; at += 1 << 20) {
      decoder.decode(data.subarray(at, at + (1 << 20)), { stream: true });
    }
    decoder.decode();
    return true;
  } catch {
    return false;
  }
}

/** Whether a few bad bytes stand in what is otherwise UTF-8 beyond ASCII. */
function isMostlyUtf8(data: Uint8Array): boolean {
  const text = new TextDecoder().decode(tellingPart(data));
  const bad = countOf(text, "\ufffd");
  const beyond = [...text].filter((character) => character > "\x7f").length - bad;
  return beyond > 4 * bad;
}

/** A part of the bytes in which some are beyond ASCII. */
function tellingPart(data: Uint8Array): Uint8Array {
  const first = data.findIndex((byte) => byte > 127);
  const begin = Math.floor(Math.max(first, 0) / HEAD_BYTES) * HEAD_BYTES;
  return data.subarray(begin, begin + HEAD_BYTES);
}

/** The browser's name for a declared encoding; "" where it cannot be, or is not, believed. */
function declarable(name: string): string {
  if (!DECLARABLE.test(name)) return "";
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return "";
  }
}
