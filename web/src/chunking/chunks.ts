// A document's text divided into chunks of at most so many tokens. The twin of chunking/chunks.py:
// the same spans for the same text, tokenizer and size, save for source code.

import { GossamerError } from "../errors.ts";
import { shortened } from "../query/embedded.ts";
import { stripEnd, stripStart } from "../query/python_text.ts";
import type { ChunkSpan, Document, Span } from "../records.ts";
import { byteString, decoded, utf8 } from "./bytes.ts";
import { codeOutline } from "./code.ts";
import { HeadingPath, NO_CONTEXT_LINE } from "./context.ts";
import { countBefore, placesToCut, type Stretch } from "./cuts.ts";
import { markdownOutline } from "./markdown.ts";
import { lowerBound, type ByteText, type Cuts, type Outline } from "./outline.ts";
import { cheapestPartition } from "./partition.ts";
import { plainOutline } from "./plain.ts";
import { rowsOutline } from "./rows.ts";
import { rstOutline } from "./rst.ts";

/** Where each token of a text begins, in bytes. */
export type TokenStarts = (text: Uint8Array) => Uint32Array;

// Below this a single character with its context might not fit.
const MIN_SIZE = 32;
// A tokenizer may see one token in a megabyte of encoded data; nobody reads a chunk like that.
const MAX_BYTES_PER_TOKEN = 32;
// Long texts are divided in stretches of about this many bytes, so that the work is linear.
const STRETCH_BYTES = 1 << 19;
const NEWLINE = 10;

const OUTLINES: Readonly<Record<string, (text: ByteText, begin: number) => Outline>> = {
  markdown: markdownOutline,
  plain: plainOutline,
  rows: rowsOutline,
  rst: rstOutline,
};

/** Divides a document; nothing in it that has tokens is left out, nothing is in two chunks.
 *
 * No `embeddedText` of a chunk with its headings and `contextLine` has more than `size` tokens.
 * Chunks stand in the order of the text, without space at their ends. Empty for a text in which the
 * tokenizer finds nothing. */
export function chunkDocument(
  document: Document,
  tokenStarts: TokenStarts,
  size: number,
  contextLine = "",
): ChunkSpan[] {
  if (size < MIN_SIZE) {
    throw new GossamerError(
      "InvalidArgument",
      `a chunk needs room for ${MIN_SIZE} tokens or more, not ${size}`,
    );
  }
  const { text } = document;
  const begin = text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf ? 3 : 0;
  const chunker = new Chunker(text, tokenStarts, size, contextLine);
  if (chunker.fits(begin, text.length)) return chunker.checked(begin, text.length, []);
  const whole = { bytes: text, string: byteString(text) };
  return chunker.chunks(whole, outlineOf(document.markup, whole, begin), begin);
}

function outlineOf(markup: string, text: ByteText, begin: number): Outline {
  if (markup.startsWith("code/")) return codeOutline(text, markup.slice("code/".length));
  return (OUTLINES[markup] ?? plainOutline)(text, begin);
}

/** The text, the tokenizer and the limits, which every step needs. */
class Chunker {
  private readonly maxBytes: number;
  private readonly contextRoom: number;
  private readonly outermost: readonly Span[];
  private readonly line: string;
  private readonly lineBytes: Uint8Array;
  private readonly lineTokens: number;
  private readonly joinTokens: number; // what a tokenizer that minds newlines counts for a join

  constructor(
    private readonly text: Uint8Array,
    private readonly tokenStarts: TokenStarts,
    private readonly size: number,
    contextLine: string,
  ) {
    this.maxBytes = size * MAX_BYTES_PER_TOKEN;
    this.contextRoom = Math.floor(size / 5);
    const line = shortened(contextLine);
    const tokens = this.count(utf8(line));
    const isTooLong = tokens > this.contextRoom;
    this.outermost = isTooLong ? [NO_CONTEXT_LINE] : [];
    this.line = isTooLong ? "" : line;
    this.lineBytes = utf8(this.line);
    this.lineTokens = isTooLong ? 0 : tokens;
    this.joinTokens = Math.max(0, this.count(utf8("a\na")) - 2 * this.count(utf8("a")));
  }

  /** Says whether the whole span is one chunk. */
  fits(begin: number, end: number): boolean {
    if (end - begin > this.maxBytes) return false;
    return this.count(this.embedded(begin, end, this.outermost)) <= this.size;
  }

  /** The chunks of the text from `begin` on. */
  chunks(text: ByteText, outline: Outline, begin: number): ChunkSpan[] {
    const room = this.contextRoom - this.lineTokens;
    const path = new HeadingPath(text, outline.headings, this.line, room);
    const chunks: ChunkSpan[] = [];
    while (begin < this.text.length) {
      const end = stretchEnd(this.text, begin, outline.cuts);
      const starts = this.tokenStarts(this.text.subarray(begin, end));
      const tokens = Float64Array.from(starts, (start) => start + begin);
      const stretch = { text, begin, end, tokens };
      path.enter(stretch);
      this.addChunks(stretch, outline, path, chunks);
      begin = end;
    }
    return chunks;
  }

  private addChunks(
    stretch: Stretch,
    outline: Outline,
    path: HeadingPath,
    chunks: ChunkSpan[],
  ): void {
    const cuts = placesToCut(stretch, outline, this.size, this.maxBytes);
    const offsets = [stretch.begin, ...cuts.offsets, stretch.end];
    const contexts = offsets.slice(0, -1).map((offset) => path.at(offset));
    const chosen = cheapestPartition(
      {
        offsets,
        tokens: offsets.map((offset) => countBefore(stretch, offset)),
        costs: [0, ...cuts.costs, 0],
        budgets: contexts.map(({ spans, tokens }) => this.budget(spans.length, tokens)),
      },
      this.maxBytes,
    );
    for (let place = 1; place < chosen.length; place += 1) {
      const first = chosen[place - 1] as number;
      const last = chosen[place] as number;
      const { spans } = contexts[first] ?? { spans: [] };
      chunks.push(...this.checked(offsets[first] as number, offsets[last] as number, spans));
    }
  }

  private budget(headings: number, tokens: number): number {
    const parts = headings + (this.line ? 1 : 0);
    return this.size - this.lineTokens - tokens - parts * this.joinTokens;
  }

  /** A span as a chunk, trimmed and counted; in pieces where it is too long after all. Tokens need
   * not add up at a cut, so what is embedded is counted as it will be. */
  checked(begin: number, end: number, headings: readonly Span[]): ChunkSpan[] {
    const chunks: ChunkSpan[] = [];
    const context = [...this.outermost, ...headings];
    const waiting: Span[] = [[begin, end]];
    for (let span = waiting.pop(); span; span = waiting.pop()) {
      const [start, stop] = this.trimmed(...span);
      if (start === stop) continue;
      const count = this.count(this.embedded(start, stop, context));
      if (count <= this.size) {
        // A context is never this long, so that the text itself must have tokens.
        const isFull = count > Math.floor(this.size / 2);
        if (isFull || this.count(this.text.subarray(start, stop))) {
          chunks.push({ start, end: stop, context });
        }
        continue;
      }
      const middle = middleOf(this.text, start, stop);
      if (middle === null) chunks.push({ start, end: stop, context: [NO_CONTEXT_LINE] });
      else waiting.push([middle, stop], [start, middle]);
    }
    return chunks;
  }

  private embedded(begin: number, end: number, context: readonly Span[]): Uint8Array {
    const isLineLeftOut = context.some(([start, stop]) => start === stop);
    const parts = [
      isLineLeftOut ? this.lineBytes.subarray(0, 0) : this.lineBytes,
      ...context.map(([start, stop]) => this.text.subarray(start, stop)),
      this.text.subarray(begin, end),
    ].filter((part) => part.length > 0);
    const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length + 1, 0));
    let at = 0;
    for (const part of parts) {
      if (at > 0) joined[at - 1] = NEWLINE;
      joined.set(part, at);
      at += part.length + 1;
    }
    return joined.subarray(0, Math.max(0, at - 1));
  }

  /** Takes off what Unicode calls space, at both ends. */
  private trimmed(begin: number, end: number): Span {
    const words = decoded(this.text.subarray(begin, end));
    const rest = stripStart(words);
    const start = begin + utf8(words.slice(0, words.length - rest.length)).length;
    return [start, start + utf8(stripEnd(rest)).length];
  }

  private count(text: Uint8Array): number {
    return this.tokenStarts(text).length;
  }
}

/** Ends a stretch at the best place of its second half. */
function stretchEnd(text: Uint8Array, begin: number, cuts: Cuts): number {
  const end = begin + STRETCH_BYTES;
  if (end >= text.length) return text.length;
  const half = begin + STRETCH_BYTES / 2;
  let best = -1;
  const last = lowerBound(cuts.offsets, end);
  for (let place = lowerBound(cuts.offsets, half); place < last; place += 1) {
    const isBest = best < 0 || (cuts.costs[place] as number) <= (cuts.costs[best] as number);
    if (isBest) best = place;
  }
  if (best >= 0) return cuts.offsets[best] as number;
  for (const space of [NEWLINE, 32]) {
    const at = lastIndexIn(text, space, half, end);
    if (at >= 0) return at + 1;
  }
  return beginOfCharacter(text, end);
}

/** Finds a place to part a span, between words where it can be; null for one character. */
function middleOf(text: Uint8Array, begin: number, end: number): number | null {
  const middle = Math.floor((begin + end) / 2);
  const quarter = Math.floor((begin + middle) / 2);
  const space = Math.max(
    lastIndexIn(text, 32, quarter, middle),
    lastIndexIn(text, NEWLINE, quarter, middle),
  );
  if (space > begin) return space + 1;
  for (let place = middle; place < Math.min(middle + 4, end); place += 1) {
    const found = beginOfCharacter(text, place);
    if (begin < found) return found;
  }
  return null;
}

function lastIndexIn(text: Uint8Array, byte: number, begin: number, end: number): number {
  const at = text.subarray(begin, end).lastIndexOf(byte);
  return at < 0 ? -1 : begin + at;
}

/** Goes back out of a UTF-8 character, or from between CR and LF. */
function beginOfCharacter(text: Uint8Array, at: number): number {
  const isInside = (): boolean =>
    ((text[at] as number) & 0xc0) === 0x80 || (text[at] === NEWLINE && text[at - 1] === 13);
  while (at > 0 && isInside()) at -= 1;
  return at;
}
