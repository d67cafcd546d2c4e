// Where a text may be cut: what the markup found, and finer places in long stretches.

import { isSpaceByte } from "./bytes.ts";
import {
  cutsAt,
  cutsWhere,
  isAmong,
  joined,
  LINE,
  lowerBound,
  SENTENCE,
  TOKEN,
  upperBound,
  WORD,
  type ByteText,
  type Cuts,
  type Outline,
  type Spans,
} from "./outline.ts";

// The end of a sentence and the space after it; in scripts that write none, the mark alone. A
// letter with a full stop is an initial or an abbreviation.
const SENTENCE_END = new RegExp(
  "[.!?\\xe3\\xef\\xe0\\xd8](?:" +
    "(?<=[.!?])(?<![ (.][A-Za-z]\\.)[\"')\\]*_]{0,4}[ \\t\\n\\r\\f\\v]+(?=[^a-z \\t\\n\\r\\f\\v])" +
    "|(?:(?<=\\xe3)\\x80\\x82|(?<=\\xef)\\xbc[\\x81\\x9f]|(?<=\\xef)\\xbd\\xa1" +
    "|(?<=\\xe0)\\xa5\\xa4|(?<=\\xd8)\\x9f)" +
    "(?:\\xe3\\x80[\\x8d\\x8f]|\\xe2\\x80[\\x9d\\x99]|\\xef\\xbc\\x89)*[ \\t\\n\\r\\f\\v]*)",
  "g",
);
const NEWLINE = 10;
const RETURN = 13;

/** A part of a text, and where its tokens begin; all offsets are those of the whole text. */
export interface Stretch {
  readonly text: ByteText;
  readonly begin: number;
  readonly end: number;
  readonly tokens: Float64Array;
}

/** Counts the tokens of the stretch that begin before an offset. */
export function countBefore(stretch: Stretch, offset: number): number {
  return lowerBound(stretch.tokens, offset);
}

/** The cuts strictly inside a stretch, enough of them for chunks of `size` tokens.
 *
 * Finer places are added only where coarser ones leave long gaps, and of places that crowd the best
 * stay, so a text has a small number of them for each chunk. */
export function placesToCut(
  stretch: Stretch,
  outline: Outline,
  size: number,
  maxBytes: number,
): Cuts {
  const { offsets, costs } = outline.cuts;
  const first = lowerBound(offsets, stretch.begin + 1);
  const last = lowerBound(offsets, stretch.end);
  const whole = fitting(stretch, outline.whole, size - Math.floor(size / 5));
  const inside = { offsets: offsets.slice(first, last), costs: costs.slice(first, last) };
  let cuts = cutsWhere(inside, (offset) => isOutside(offset, whole));
  const byteGap = Math.floor(maxBytes / 4);
  const coarse = outline.isProse ? [sentences, lines] : [lines, sentences];
  for (const find of [...coarse, words, tokens]) {
    const gap = Math.max(1, Math.floor(size / (coarse.includes(find) ? 8 : 4)));
    const isWide = wideGaps(stretch, cuts, gap, byteGap);
    if (!isWide.includes(true)) break;
    // What is not cut as it stands is code, which has lines and no sentences.
    const uncut = find === sentences ? outline.whole : whole;
    const tied = tiedTokens(stretch, outline.tied);
    const found = cutsWhere(
      find(stretch),
      (offset) => isOutside(offset, uncut) && !isAmong(countBefore(stretch, offset), tied),
    );
    cuts = joinedInGaps(stretch, cuts, found, isWide);
  }
  cuts = thinned(stretch, cuts, Math.max(1, Math.floor(size / 32)));
  const isWide = wideGaps(stretch, cuts, size, byteGap);
  return joinedInGaps(stretch, cuts, characters(stretch, byteGap), isWide);
}

function sentences(stretch: Stretch): Cuts {
  const text = stretch.text.string.slice(0, stretch.end);
  const offsets: number[] = [];
  SENTENCE_END.lastIndex = stretch.begin;
  while (SENTENCE_END.test(text)) offsets.push(SENTENCE_END.lastIndex);
  return cutsAt(offsets, SENTENCE);
}

function lines(stretch: Stretch): Cuts {
  const { bytes } = stretch.text;
  const offsets: number[] = [];
  let at = bytes.indexOf(NEWLINE, stretch.begin);
  while (at >= 0 && at < stretch.end) {
    offsets.push(at + 1);
    at = bytes.indexOf(NEWLINE, at + 1);
  }
  return cutsAt(offsets, LINE);
}

function words(stretch: Stretch): Cuts {
  const { bytes } = stretch.text;
  return cutsAt(innerTokens(stretch).filter((start) => isSpaceByte(bytes[start - 1])), WORD);
}

function tokens(stretch: Stretch): Cuts {
  return cutsAt(innerTokens(stretch).filter((start) => beginsCharacter(stretch, start)), TOKEN);
}

/** Cuts where a tokenizer sees one endless word, as in encoded data. */
function characters(stretch: Stretch, step: number): Cuts {
  const offsets: number[] = [];
  for (let place = stretch.begin + step; place < stretch.end; place += step) {
    let at = place;
    // No character is longer than four bytes, so one of four places begins one.
    for (let back = 0; back < 4 && !beginsCharacter(stretch, at); back += 1) at -= 1;
    if (at > stretch.begin) offsets.push(at);
  }
  return cutsAt(offsets, TOKEN);
}

function innerTokens(stretch: Stretch): number[] {
  return [...stretch.tokens.subarray(upperBound(stretch.tokens, stretch.begin))];
}

/** Whether an offset lies neither inside a UTF-8 character nor between CR and LF. */
function beginsCharacter(stretch: Stretch, offset: number): boolean {
  const here = stretch.text.bytes[offset] as number;
  const isBetween = here === NEWLINE && stretch.text.bytes[offset - 1] === RETURN;
  return (here & 0xc0) !== 0x80 && !isBetween;
}

function fitting(stretch: Stretch, spans: Spans, size: number): Spans {
  const first = lowerBound(spans.starts, stretch.begin);
  const last = lowerBound(spans.starts, stretch.end);
  const starts: number[] = [];
  const ends: number[] = [];
  for (let place = first; place < last; place += 1) {
    const start = spans.starts[place] as number;
    const end = spans.ends[place] as number;
    if (countBefore(stretch, end) - countBefore(stretch, start) > size) continue;
    starts.push(start);
    ends.push(end);
  }
  return { starts, ends };
}

function isOutside(offset: number, spans: Spans): boolean {
  const which = lowerBound(spans.starts, offset) - 1;
  return which < 0 || offset >= (spans.ends[which] as number);
}

/** How many tokens stand before each tied place of the stretch: what begins with the same one has
 * only space between it and that place. */
function tiedTokens(stretch: Stretch, tied: readonly number[]): number[] {
  const first = lowerBound(tied, stretch.begin);
  const last = lowerBound(tied, stretch.end);
  return tied.slice(first, last).map((offset) => countBefore(stretch, offset));
}

function wideGaps(stretch: Stretch, cuts: Cuts, gap: number, byteGap: number): boolean[] {
  const edges = edgesOf(stretch, cuts);
  const counts = edges.map((edge) => countBefore(stretch, edge));
  return edges.slice(1).map((edge, place) => {
    const count = (counts[place + 1] as number) - (counts[place] as number);
    return count > gap || edge - (edges[place] as number) > byteGap;
  });
}

function joinedInGaps(
  stretch: Stretch,
  cuts: Cuts,
  found: Cuts,
  isWide: readonly boolean[],
): Cuts {
  const edges = edgesOf(stretch, cuts);
  const kept = cutsWhere(found, (offset) => {
    if (offset <= stretch.begin || offset >= stretch.end) return false;
    return isWide[upperBound(edges, offset) - 1] === true;
  });
  return joined(cuts, kept);
}

function edgesOf(stretch: Stretch, cuts: Cuts): number[] {
  return [stretch.begin, ...cuts.offsets, stretch.end];
}

/** Keeps the cheapest cut of each run of `bucket` tokens. */
function thinned(stretch: Stretch, cuts: Cuts, bucket: number): Cuts {
  const bestOf = new Map<number, number>();
  cuts.offsets.forEach((offset, place) => {
    const number = Math.floor(countBefore(stretch, offset) / bucket);
    const best = bestOf.get(number);
    const isBetter = best === undefined || (cuts.costs[place] as number) < (cuts.costs[best] as number);
    if (isBetter) bestOf.set(number, place);
  });
  const kept = new Set(bestOf.values());
  return cutsWhere(cuts, (_, place) => kept.has(place));
}
