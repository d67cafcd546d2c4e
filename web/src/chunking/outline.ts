// What one markup knows of a text, and what a cut costs. The twin of chunking/outline.py.

// What it costs to begin a chunk at a place, where one chunk more costs 1. So a paragraph is
// worth a tenth of a chunk less fill, and a word is cut off from its sentence only in need.
export const SECTION = 0.0;
export const PARAGRAPH = 0.08;
export const ITEM = 0.25;
export const SENTENCE = 0.38;
export const LINE = 0.5;
const AFTER_HEADING = 0.5;
export const WORD = 0.8;
export const TOKEN = 1.5;

const BLANK_LINES = /\n[ \t\r]*\n[ \t\n\r\f\v]*/g;

/** Places where a chunk may begin, rising, and what each costs. */
export interface Cuts {
  readonly offsets: readonly number[];
  readonly costs: readonly number[];
}

/** A heading: where its section begins, its level (1 is outermost), the span of its words. An
 * empty span only ends the sections of its level and below. */
export interface Heading {
  readonly at: number;
  readonly level: number;
  readonly start: number;
  readonly end: number;
}

/** A heading, and where what follows it begins. */
export interface FoundHeading extends Heading {
  readonly after: number;
}

export interface Spans {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** The headings of a text and the places where its markup divides it. */
export interface Outline {
  readonly cuts: Cuts;
  readonly headings: readonly Heading[]; // rising
  readonly whole: Spans; // not cut as long as they fit in a chunk; rising, without overlap
  readonly tied: readonly number[]; // where what follows a heading begins: it stays with it
  readonly isProse: boolean; // sentences mean more than lines
}

/** A text as bytes and as a string with a character for each of them. */
export interface ByteText {
  readonly bytes: Uint8Array;
  readonly string: string;
}

export const NO_SPANS: Spans = { starts: [], ends: [] };

/** Gives every place the same cost; the offsets must rise. */
export function cutsAt(offsets: readonly number[], cost: number): Cuts {
  return { offsets, costs: offsets.map(() => cost) };
}

/** Puts cuts together; of several at one place the cheapest stays. */
export function joined(first: Cuts, ...others: readonly Cuts[]): Cuts {
  return others.reduce(joinedTwo, first);
}

function joinedTwo(one: Cuts, other: Cuts): Cuts {
  const offsets: number[] = [];
  const costs: number[] = [];
  const put = (offset: number, cost: number): void => {
    const last = offsets.length - 1;
    if (last >= 0 && offsets[last] === offset) {
      costs[last] = Math.min(costs[last] as number, cost);
    } else {
      offsets.push(offset);
      costs.push(cost);
    }
  };
  let i = 0;
  let j = 0;
  while (i < one.offsets.length || j < other.offsets.length) {
    const left = one.offsets[i] ?? Infinity;
    const right = other.offsets[j] ?? Infinity;
    if (left <= right) put(left, one.costs[i++] as number);
    else put(right, other.costs[j++] as number);
  }
  return { offsets, costs };
}

/** The cuts that are kept. */
export function cutsWhere(cuts: Cuts, isKept: (offset: number, place: number) => boolean): Cuts {
  const offsets: number[] = [];
  const costs: number[] = [];
  cuts.offsets.forEach((offset, place) => {
    if (!isKept(offset, place)) return;
    offsets.push(offset);
    costs.push(cuts.costs[place] as number);
  });
  return { offsets, costs };
}

/** Begins chunks at headings, best at the outermost, and rather not between two of them. */
export function sectionCuts(headings: readonly Heading[], tied: readonly number[]): Cuts {
  return {
    offsets: headings.map((heading) => heading.at),
    costs: headings.map((heading) =>
      isAmong(heading.at, tied) ? AFTER_HEADING : SECTION + 0.01 * Math.min(heading.level, 6),
    ),
  };
}

/** The beginnings of what stands between blank lines. */
export function blankLineCuts(text: string, cost = PARAGRAPH): Cuts {
  const offsets: number[] = [];
  for (const match of text.matchAll(BLANK_LINES)) offsets.push(match.index + match[0].length);
  return cutsAt(offsets, cost);
}

/** Whether a value is in a rising array. */
export function isAmong(value: number, rising: ArrayLike<number>): boolean {
  return rising[lowerBound(rising, value)] === value;
}

/** Whether an offset lies in one of the spans. */
export function isInside(offset: number, spans: Spans): boolean {
  const which = upperBound(spans.starts, offset) - 1;
  return which >= 0 && offset < (spans.ends[which] as number);
}

/** The first place of a rising array whose value is not below `value`. */
export function lowerBound(
  rising: ArrayLike<number>,
  value: number,
  first = 0,
  last = rising.length,
): number {
  while (first < last) {
    const middle = (first + last) >>> 1;
    if ((rising[middle] as number) < value) first = middle + 1;
    else last = middle;
  }
  return first;
}

/** The first place of a rising array whose value is above `value`. */
export function upperBound(
  rising: ArrayLike<number>,
  value: number,
  first = 0,
  last = rising.length,
): number {
  while (first < last) {
    const middle = (first + last) >>> 1;
    if ((rising[middle] as number) <= value) first = middle + 1;
    else last = middle;
  }
  return first;
}
