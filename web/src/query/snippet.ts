// The few lines of a chunk that show best why it is a hit. The twin of python/gossamer/query/snippet.py:
// lengths are counted in characters as there, what is given back is in UTF-16.

import type { TextCore } from "../core/text.ts";
import type { Span } from "../records.ts";
import { SPACE, stripEnd, stripStart } from "../text/python_text.ts";
import { compareTexts } from "../text/text.ts";

const MAX_LINES = 3;
const MAX_CHARACTERS = 320;
// Longer lines are paragraphs: a part of one may be shown.
const LONG_LINE = 160;
const SENTENCE_END = new RegExp(`(?<=[.!?])[${SPACE}]+|(?<=[。！？])`, "g");
const CUT = "…";
// Stands for a character of two units while lengths are counted; it is no space and ends no sentence.
const STAND_IN = "\ue000";

/** What tells where a question's words stand. */
export type Words = Pick<TextCore, "findTerms" | "termsOf">;

/** Lines out of a text, without the indentation they share and without empty ones. */
export interface Snippet {
  readonly text: string;
  readonly highlights: readonly Span[]; // UTF-16 of `text`, rising, apart
  readonly line: number; // of the chunk, from 0: the line that answers best
}

/** A word of the question in the text. */
interface Match {
  readonly start: number;
  readonly end: number;
  readonly terms: readonly string[];
}

/** A line, or a sentence of a long one, in characters of the text. */
interface Unit {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly matches: readonly Match[];
}

/**
 * The stretch of a text that holds most of the question's words, the rarer the better.
 *
 * Where the text holds none of them, its beginning is chosen.
 */
export function chooseSnippet(words: Words, text: string, question: string): Snippet {
  const flat = flatten(text);
  const matches = findMatches(words, text, question);
  const units = unitsOf(flat, matches);
  if (units.length === 0) return { text: "", highlights: [], line: 0 };
  const weights = weigh(matches);
  const [first, last] = bestWindow(units, weights);
  const window = units.slice(first, last + 1);
  return cutOut(text, flat, window, bestUnit(window, weights).line);
}

/** The text with one unit for each character, so that places in it are those of Python. */
function flatten(text: string): string {
  return text.replace(/[\u{10000}-\u{10ffff}]/gu, STAND_IN);
}

/** The question's words; the spans of bytes become spans of characters. */
function findMatches(words: Words, text: string, question: string): Match[] {
  const data = new TextEncoder().encode(text);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const spans = words.findTerms(data, question);
  const known = new Map<string, readonly string[]>();
  const matches: Match[] = [];
  let atByte = 0;
  let atCharacter = 0;
  for (let i = 0; i + 1 < spans.length; i += 2) {
    const [start = 0, end = 0] = spans.subarray(i, i + 2);
    const first = atCharacter + charactersIn(data, atByte, start);
    atCharacter = first + charactersIn(data, start, end);
    atByte = end;
    const word = decoder.decode(data.subarray(start, end));
    const terms = known.get(word) ?? words.termsOf(word);
    known.set(word, terms);
    matches.push({ start: first, end: atCharacter, terms });
  }
  return matches;
}

function charactersIn(data: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let i = start; i < end; i += 1) {
    if (((data[i] ?? 0) & 0xc0) !== 0x80) count += 1;
  }
  return count;
}

/** Weighs each term: one that stands everywhere in the text tells no lines apart. */
function weigh(matches: readonly Match[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of matches.flatMap((match) => match.terms)) {
    counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return new Map([...counts].map(([term, count]) => [term, 1 + 1 / count]));
}

/** Divides a text into lines, and long lines into sentences; without empty ones. */
function unitsOf(flat: string, matches: readonly Match[]): Unit[] {
  const units: Unit[] = [];
  let offset = 0;
  let next = 0; // of the matches: they rise as the units do
  flat.split("\n").forEach((line, number) => {
    for (const [start, end] of piecesOf(line)) {
      while (next < matches.length && (matches[next]?.start ?? 0) < offset + start) next += 1;
      const first = next;
      while (next < matches.length && (matches[next]?.start ?? 0) < offset + end) next += 1;
      const here = matches.slice(first, next);
      units.push({ start: offset + start, end: offset + end, line: number, matches: here });
    }
    offset += line.length + 1;
  });
  return units;
}

/** The stretches of a line that may be shown alone. */
function piecesOf(line: string): Span[] {
  const isLong = line.length > LONG_LINE;
  const sentences = isLong ? Array.from(line.matchAll(SENTENCE_END), (match) => match.index) : [];
  const pieces: Span[] = [];
  let start = 0;
  for (const end of [...sentences, line.length]) {
    while (end - start > MAX_CHARACTERS) {
      const space = line.lastIndexOf(" ", start + MAX_CHARACTERS);
      const cut = space > start ? space : start + MAX_CHARACTERS;
      pieces.push(...stripped(line, start, cut));
      start = cut;
    }
    pieces.push(...stripped(line, start, end));
    start = end;
  }
  return pieces;
}

/** A stretch without the space around it; nothing if there is no more to it. */
function stripped(line: string, start: number, end: number): Span[] {
  const text = stripEnd(line.slice(start, end));
  if (text === "") return [];
  // The indentation of a line belongs to it.
  const space = start > 0 ? text.length - stripStart(text).length : 0;
  return [[start + space, start + text.length]];
}

/** Adds up the terms of some units, each once, and a little for each time. */
function scoreOf(units: readonly Unit[], weights: ReadonlyMap<string, number>): number {
  const terms = units.flatMap((unit) => unit.matches.flatMap((match) => match.terms));
  // In one order, so that equal windows score alike, here and in Python.
  const once = [...new Set(terms)].sort(compareTexts);
  return once.reduce((sum, term) => sum + (weights.get(term) ?? 0), 0) + 0.05 * terms.length;
}

function bestUnit(window: readonly Unit[], weights: ReadonlyMap<string, number>): Unit {
  const scores = window.map((unit) => scoreOf([unit], weights));
  const place = scores.reduce((best, score, i) => (score > (scores[best] ?? 0) ? i : best), 0);
  return window[place] as Unit;
}

/** The first and last unit of the best window that may be shown. */
function bestWindow(units: readonly Unit[], weights: ReadonlyMap<string, number>): Span {
  let best: readonly number[] | null = null;
  let span: Span = [0, 0];
  units.forEach((unit, first) => {
    const last = lastInWindow(units, first);
    const window = units.slice(first, last + 1);
    const withMatch = window.findIndex((one) => one.matches.length > 0);
    // Of windows with the same words: one that is filled, and begins where the words begin.
    const width = (units[last]?.end ?? 0) - unit.start;
    const isFull = linesIn(window) === MAX_LINES || width > Math.floor(MAX_CHARACTERS / 2);
    const key = [scoreOf(window, weights), Number(isFull), -(withMatch < 0 ? first : withMatch), -first];
    if (best === null || isGreater(key, best)) [best, span] = [key, [first, last]];
  });
  return span;
}

function lastInWindow(units: readonly Unit[], first: number): number {
  const start = units[first]?.start ?? 0;
  let last = first;
  for (let next = units[last + 1]; next; next = units[last + 1]) {
    const isNear = next.end - start <= MAX_CHARACTERS;
    if (!isNear || linesIn(units.slice(first, last + 2)) > MAX_LINES) break;
    last += 1;
  }
  return last;
}

function linesIn(units: readonly Unit[]): number {
  return new Set(units.map((unit) => unit.line)).size;
}

function isGreater(left: readonly number[], right: readonly number[]): boolean {
  const place = left.findIndex((value, i) => value !== right[i]);
  return place >= 0 && (left[place] ?? 0) > (right[place] ?? 0);
}

/** Puts the units of a window on lines, and marks where a line goes on beyond it. */
function cutOut(text: string, flat: string, window: readonly Unit[], line: number): Snippet {
  const lines = byLine(window);
  const slice = slicer(text, flat);
  const begin = lines[0]?.[0]?.start ?? 0;
  const isBegun = stripStart(flat.slice(flat.lastIndexOf("\n", begin - 1) + 1, begin)) !== "";
  const shared = sharedIndent(flat, lines.slice(isBegun ? 1 : 0));
  const parts: string[] = [];
  const highlights: Span[] = [];
  let length = 0;
  lines.forEach((units, place) => {
    const isCutLine = place === 0 && isBegun;
    const [lineStart, end] = [units[0]?.start ?? 0, units[units.length - 1]?.end ?? 0];
    const start = lineStart + (isCutLine ? 0 : shared);
    const before = isCutLine ? `${CUT} ` : "";
    const after = place === lines.length - 1 && goesOn(flat, end) ? ` ${CUT}` : "";
    for (const match of units.flatMap((unit) => unit.matches)) {
      const [from, to] = [Math.max(match.start, start), Math.min(match.end, end)];
      const at = length + before.length + slice(start, from).length;
      highlights.push([at, at + slice(from, to).length]);
    }
    const part = `${before}${slice(start, end)}${after}`;
    parts.push(part);
    length += part.length + 1;
  });
  return { text: parts.join("\n"), highlights, line };
}

function byLine(window: readonly Unit[]): Unit[][] {
  const lines: Unit[][] = [];
  for (const unit of window) {
    const last = lines[lines.length - 1];
    if (last?.[0]?.line === unit.line) last.push(unit);
    else lines.push([unit]);
  }
  return lines;
}

/** Gives what cuts by characters. */
function slicer(text: string, flat: string): (start: number, end: number) => string {
  if (text.length === flat.length) return (start, end) => text.slice(start, end);
  const characters = Array.from(text);
  return (start, end) => characters.slice(start, end).join("");
}

function sharedIndent(flat: string, lines: readonly Unit[][]): number {
  const indents = lines.map((units) => {
    const shown = flat.slice(units[0]?.start ?? 0, units[units.length - 1]?.end ?? 0);
    return shown.length - stripStart(shown).length;
  });
  return indents.length > 0 ? Math.min(...indents) : 0;
}

/** Whether the line goes on beyond this place. */
function goesOn(flat: string, at: number): boolean {
  const end = flat.indexOf("\n", at);
  return stripStart(flat.slice(at, end < 0 ? flat.length : end)) !== "";
}
