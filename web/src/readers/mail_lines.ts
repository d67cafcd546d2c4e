// Which line of a mail's file each word of a part comes from, however the part is encoded. A mark
// stands for the beginning of each line of the file but the first, and goes through the decoders
// with the text. The twin of readers/mail_lines.py.

import { decoded, utf8 } from "../bytes/strings.ts";
import { extractHtml } from "./html.ts";

/** Stands in a text where a line of the file begins, until the text is put together. */
export const MARK = "\ufffe";
// Goes through every decoder of characters, is no sign of a binary file, and no text needs it.
const LINE_MARK = "\f";
// Where a mark may stand: before a character of UTF-8; before a space in any other encoding.
const BEGINS_CHARACTER = /[\0-\x7f\xc0-\xff]/;
const SPACE = /[\0-\x20]/;
const LINE_END = /\n/;
const PREFORMATTED = /<(pre|xmp)(?=[\s/>]).*?(?=<\/\1|$)/gis;
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\uffff]/g;
const END = /[\s\x1c-\x1f\x85\ufffe]/;

/** Text with a MARK where each of these lines of the file begins in it. */
export interface MarkedText {
  readonly text: string;
  readonly lines: readonly number[];
}

/** The body of a part, decoded, with a mark for each line of it after the first. In character
 * encodings that shift, what a byte means depends on those before it in its line. */
export function transferDecoded(body: string, encoding: string, hasShifts: boolean): Uint8Array {
  const lines = body.replaceAll(LINE_MARK, " ").match(/[^\n]*\n|[^\n]+$/g) ?? [];
  if (encoding === "base64") return bytesOf(marked(fromBase64Lines(lines), hasShifts));
  if (encoding !== "quoted-printable") return bytesOf(marked(lines, hasShifts));
  const plain = lines.map((line) => fromQuoted(withoutBreak(line)).replaceAll(LINE_MARK, " "));
  return bytesOf(marked(plain, hasShifts));
}

/** Takes over the marks of a part that begins on this line of the file. */
export function markPlain(given: string, first: number): MarkedText {
  const parts = given.replaceAll(MARK, "").split(LINE_MARK);
  return { text: MARK + parts.join(MARK), lines: parts.map((_, place) => first + place) };
}

/** Takes the text out of a part that is HTML and begins on this line of the file. */
export function markHtml(given: string, first: number, maxBytes: number): MarkedText {
  const { source, lines } = htmlByLines(given, first);
  const page = extractHtml(source, maxBytes);
  const ends = [...page.places.map(([offset]) => offset), page.text.length];
  const parts = ends.map((end, place) => decoded(page.text.subarray(ends[place - 1] ?? 0, end)).replaceAll(MARK, ""));
  return { text: parts.join(MARK), lines: page.places.map(([, line]) => lines[line - 1] ?? first) };
}

export function fromQuoted(text: string): string {
  return text.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

export function fromBase64(text: string): string {
  const letters = text.replace(/[^A-Za-z0-9+/]/g, "");
  // Cut off: half a byte.
  return atob(letters.length % 4 === 1 ? letters.slice(0, -1) : letters);
}

export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0) & 255);
}

/** Without spaces before the line end, and without the line end that an equals sign takes back. */
function withoutBreak(line: string): string {
  const end = /\r?\n$/.exec(line)?.[0] ?? "";
  let kept = line.slice(0, line.length - end.length);
  if (end) kept = kept.slice(0, lengthWithout(kept, " \t"));
  return end && kept.endsWith("=") ? kept.slice(0, -1) : kept + end;
}

function lengthWithout(text: string, characters: string): number {
  let length = text.length;
  while (length > 0 && characters.includes(text.charAt(length - 1))) length -= 1;
  return length;
}

/** What each line of base64 holds; a letter goes where its byte ends. */
function fromBase64Lines(lines: readonly string[]): string[] {
  const letters = lines.map((line) => line.replace(/[^A-Za-z0-9+/]/g, ""));
  const whole = fromBase64(letters.join("")).replaceAll(LINE_MARK, " ");
  let count = 0;
  return letters.map((line) => {
    const at = Math.floor((count * 3) / 4);
    count += line.length;
    return whole.slice(at, Math.floor((count * 3) / 4));
  });
}

/** The lines joined with marks between them, none of which parts a character. */
function marked(lines: readonly string[], hasShifts: boolean): string {
  const whole = lines.join("");
  if (whole.includes("\0")) return whole; // UTF-16, which has no room for a mark, or no text at all
  const mayStand = hasShifts ? LINE_END : isUtf8(whole) ? BEGINS_CHARACTER : SPACE;
  const parts: string[] = [];
  let waiting = 0;
  let isBegun = true;
  lines.forEach((line, number) => {
    waiting += number > 0 ? 1 : 0;
    const found = isBegun ? 0 : line.search(mayStand);
    const at = found < 0 ? line.length : found;
    if (at < line.length) {
      parts.push(line.slice(0, at), LINE_MARK.repeat(waiting), line.slice(at));
      waiting = 0;
      isBegun = line.endsWith("\n") || line.endsWith(" ");
    } else parts.push(line);
  });
  return parts.join("");
}

/** HTML that has a line end wherever a word begins a line of the file, and these lines. A space is
 * as good as a line end to HTML, save where text is laid out with both. */
function htmlByLines(given: string, first: number): { source: string; lines: number[] } {
  const text = given.replaceAll(MARK, "").replaceAll("\r\n", "\n").replaceAll("\r", " ");
  const whole = text.replaceAll(LINE_MARK, "");
  const isSpace = spacesBesides(whole, [...whole.matchAll(PREFORMATTED)]);
  const parts = [""];
  const lines = [first];
  let end = 0; // of what was passed, in the text without marks
  text.split(LINE_MARK).forEach((given, place) => {
    let section = given;
    const begin = end;
    end += section.length;
    const last = parts.at(-1) ?? "";
    if (isSpace(begin - 1)) {
      parts[parts.length - 1] = `${last.slice(0, -1)}\n`;
      lines.push(first + place);
    } else if (last.endsWith("\n") || place === 0) lines[lines.length - 1] = first + place;
    else {
      const word = (section.split("\n", 1)[0] ?? "").split(" ", 1)[0] ?? "";
      const isParted = word.length < section.length && isSpace(begin + word.length);
      section = isParted ? `${word}\n${section.slice(word.length + 1)}` : section;
    }
    for (let line = section.split("\n").length - 1; line > 0; line -= 1) lines.push(first + place);
    if (section) parts.push(section);
  });
  return { source: parts.join(""), lines };
}

/** Says of places that rise whether a space stands there that is not laid out. */
function spacesBesides(text: string, laidOut: readonly RegExpExecArray[]): (at: number) => boolean {
  let passed = 0;
  const endOf = (found: RegExpExecArray): number => found.index + found[0].length;
  return (at) => {
    for (let next = laidOut[passed]; next && endOf(next) <= at; next = laidOut[passed]) passed += 1;
    return text.charAt(at) === " " && at < (laidOut[passed]?.index ?? Infinity);
  };
}

function isUtf8(data: string): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(data));
    return true;
  } catch {
    return false;
  }
}

/** Texts put together with a blank line between them, and where the lines begin in them. */
export function joined(parts: readonly MarkedText[]): { text: string; places: [number, number][] } {
  const texts: string[] = [];
  const places = new Map<number, number>();
  let size = 0;
  for (const part of parts) {
    const sections = cleaned(part.text).split(MARK);
    if (sections.every((section) => section === "")) continue;
    if (texts.length) {
      texts.push("\n\n");
      size += 2;
    }
    sections.forEach((section, place) => {
      const line = part.lines[place - 1];
      if (line !== undefined) places.set(size, line);
      texts.push(section);
      size += utf8(section).length;
    });
  }
  return { text: texts.join(""), places: [...places] };
}

/** LF line ends, no control characters, never two blank lines in a row, no empty ends. */
function cleaned(text: string): string {
  const lines = text.replace(/\r\n?|\u2028/g, "\n").replace(CONTROLS, "");
  const few = lines.replace(/\n[ \t\ufffe]*\n(?:[ \t\ufffe]*\n)+/g, (found) => `\n\n${marksOf(found)}`);
  let end = few.length;
  while (end > 0 && END.test(few.charAt(end - 1))) end -= 1;
  return few.slice(0, end).replace(/^(?:[ \t\ufffe]*\n)+\ufffe*/, marksOf);
}

function marksOf(found: string): string {
  return found.replace(/[^\ufffe]/g, "");
}
