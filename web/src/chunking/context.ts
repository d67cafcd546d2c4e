// The headings that stand before a chunk when it is embedded.

import type { Span } from "../records.ts";
import { decoded, isSpaceByte, lengthWithoutSpace } from "./bytes.ts";
import { countBefore, type Stretch } from "./cuts.ts";
import { lowerBound, type ByteText, type Heading } from "./outline.ts";

// A heading is not shortened to fewer tokens than this; it is left out.
const LEAST_SHORTENED = 4;
const MAX_OPEN = 32;

/** An empty heading: it stands for a line that did not fit the chunk size and is left out. */
export const NO_CONTEXT_LINE: Span = [0, 0];

/** The headings above a chunk, and how many tokens they have. */
export interface Context {
  readonly spans: readonly Span[];
  readonly tokens: number;
}

interface OpenHeading extends Heading {
  readonly tokens: readonly number[]; // where they begin: as many as a context holds and one more
}

/** The headings open at a place of a text, on a walk through it from begin to end. */
export class HeadingPath {
  private open: OpenHeading[] = [];
  private ahead: OpenHeading[] = []; // of the stretch, still to come; the next one is last
  private context: Context = { spans: [], tokens: 0 };
  private readonly starts: readonly number[];
  private readonly line: string;

  /** Contexts of at most `room` tokens are given. A heading that says the same as `line` is left
   * out. */
  constructor(
    private readonly text: ByteText,
    private readonly headings: readonly Heading[],
    line: string,
    private readonly room: number,
  ) {
    this.starts = headings.map((heading) => heading.at);
    this.line = line;
  }

  /** Goes on to the next stretch of the text. */
  enter(stretch: Stretch): void {
    for (const heading of this.ahead.reverse()) this.pass(heading);
    const first = lowerBound(this.starts, stretch.begin);
    const last = lowerBound(this.starts, stretch.end);
    this.ahead = this.headings.slice(first, last).map((heading) => {
      const begin = countBefore(stretch, heading.start);
      const end = Math.min(countBefore(stretch, heading.end), begin + this.room + 1);
      return { ...heading, tokens: [...stretch.tokens.subarray(begin, end)] };
    });
    this.ahead.reverse();
    this.context = this.withinRoom(this.open);
  }

  /** The context of a chunk that begins at `offset`; the offsets must rise. A chunk that begins
   * with a heading does not stand under it. */
  at(offset: number): Context {
    let next = this.ahead[this.ahead.length - 1];
    if (!next || next.at > offset) return this.context;
    while (next && next.at < offset) {
      this.pass(next);
      this.ahead.pop();
      next = this.ahead[this.ahead.length - 1];
    }
    this.context = this.withinRoom(this.open);
    if (!next || next.at !== offset) return this.context;
    const { level } = next;
    return this.withinRoom(this.open.filter((outer) => outer.level < level));
  }

  private pass(heading: OpenHeading): void {
    let last = this.open[this.open.length - 1];
    while (last && last.level >= heading.level) {
      this.open.pop();
      last = this.open[this.open.length - 1];
    }
    const words = decoded(this.text.bytes.subarray(heading.start, heading.end));
    if (words === "" || words === this.line) return;
    this.open.push(heading);
    // No more than these find room; a text may nest them by the thousand.
    if (this.open.length > MAX_OPEN) this.open.shift();
  }

  /** Takes headings from the innermost outwards; the first that is too long is shortened. */
  private withinRoom(path: readonly OpenHeading[]): Context {
    const spans: Span[] = [];
    let { room } = this;
    for (const heading of [...path].reverse()) {
      const count = heading.tokens.length;
      if (count > room) {
        const end = this.endOfWords(heading, room);
        if (end !== null) {
          spans.push([heading.start, end]);
          room = 0;
        }
        break;
      }
      spans.push([heading.start, heading.end]);
      room -= count;
    }
    return { spans: spans.reverse(), tokens: this.room - room };
  }

  private endOfWords(heading: OpenHeading, room: number): number | null {
    if (room < LEAST_SHORTENED) return null;
    const { bytes } = this.text;
    for (let token = room; token > Math.floor(room / 2); token -= 1) {
      const start = heading.tokens[token] as number;
      if (isSpaceByte(bytes[start - 1])) {
        return heading.start + lengthWithoutSpace(bytes, heading.start, start);
      }
    }
    return null;
  }
}
