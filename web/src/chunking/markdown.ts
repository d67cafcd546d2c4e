// Markdown: headings, fenced code that is kept whole, lists and tables by their lines.

import {
  blankLineCuts,
  cutsAt,
  cutsWhere,
  isAmong,
  isInside,
  ITEM,
  joined,
  SECTION,
  sectionCuts,
  SENTENCE,
  type ByteText,
  type FoundHeading,
  type Outline,
  type Spans,
} from "./outline.ts";
import { lengthWithoutSpace } from "./bytes.ts";

// Every pattern begins at a line and is bounded or cannot backtrack, so that no text is slow.
const FENCE = /(?<![^\n])[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^\n]*)/g;
const ATX = /(?<![^\n])( {0,3}(#{1,6})[ \t]+)([^ \t\n\r\f\v][^\n]*)[ \t\n\r\f\v]*/g;
const SETEXT = new RegExp(
  "(?<![^\\n])( {0,3})([^ \\t\\n\\r\\f\\v#>|`~*+\\-=][^\\n]{0,200})\\n" +
    " {0,3}(={2,200}|-{2,200})[ \\t\\r]*(?![^\\n])[ \\t\\n\\r\\f\\v]*",
  "g",
);
const CLOSING_MARKS = /(?:^|[ \t])#+$/;
const ITEM_BEGIN = /\n(?=[ \t]*(?:[-*+|]|\d{1,9}[.)])[ \t])/g;
const FRONT_MATTER =
  /---[ \t\r]*\n(?:(?!---|\.\.\.)[^\n]*\n){0,500}(?:---|\.\.\.)[ \t\r]*(?:\n|$)/y;

/** Finds sections, paragraphs, list items and table rows; fences and front matter stay whole. */
export function markdownOutline(text: ByteText, begin: number): Outline {
  const front = frontMatterEnd(text.string, begin);
  const whole = wholeSpans(text.string, begin, front);
  const headings = [...atxHeadings(text, begin), ...underlinedHeadings(text, begin)]
    .sort((one, other) => one.at - other.at)
    .filter((heading) => !isInside(heading.at, whole));
  const tied = headings.map((heading) => heading.after);

  const items: number[] = [];
  for (const match of text.string.matchAll(ITEM_BEGIN)) items.push(match.index + 1);
  const all = joined(blankLineCuts(text.string), cutsAt(items, ITEM));
  const blocks = cutsWhere(all, (offset) => !isAmong(offset, tied));
  const costs = blocks.costs.map((cost, place) =>
    isInside(blocks.offsets[place] as number, whole) ? SENTENCE : cost,
  );
  const afterFront = cutsAt(front < 0 ? [] : [front], SECTION);
  const cuts = joined(
    sectionCuts(headings, tied),
    { offsets: blocks.offsets, costs },
    afterFront,
  );
  return { cuts, headings, whole, tied, isProse: true };
}

/** Where front matter ends; -1 if there is none. */
function frontMatterEnd(text: string, begin: number): number {
  FRONT_MATTER.lastIndex = begin;
  return FRONT_MATTER.test(text) ? FRONT_MATTER.lastIndex : -1;
}

function wholeSpans(text: string, begin: number, front: number): Spans {
  const starts: number[] = front < 0 ? [] : [begin];
  const ends: number[] = front < 0 ? [] : [front];
  FENCE.lastIndex = front < 0 ? begin : front;
  let opened: RegExpExecArray | null = null;
  for (let fence = FENCE.exec(text); fence; fence = FENCE.exec(text)) {
    const [whole, marks = "", rest = ""] = fence;
    if (opened === null) {
      // Backticks later in the line make it code within a sentence.
      const isInline = marks.startsWith("`") && rest.includes("`");
      opened = isInline ? null : fence;
    } else if (marks.startsWith(opened[1] as string) && /^[ \t\n\r\f\v]*$/.test(rest)) {
      starts.push(opened.index);
      ends.push(fence.index + whole.length);
      opened = null; // a fence that is never closed is none
    }
  }
  return { starts, ends };
}

function atxHeadings(text: ByteText, begin: number): FoundHeading[] {
  const found: FoundHeading[] = [];
  ATX.lastIndex = begin;
  for (let match = ATX.exec(text.string); match; match = ATX.exec(text.string)) {
    const [whole, before = "", marks = "", line = ""] = match;
    const start = match.index + before.length;
    const trimmed = line.slice(0, lengthWithoutSpace(text.bytes, start, start + line.length));
    const words = trimmed.replace(CLOSING_MARKS, "");
    const end = start + lengthWithoutSpace(text.bytes, start, start + words.length);
    const after = match.index + whole.length;
    found.push({ at: match.index, level: marks.length, start, end, after });
  }
  return found;
}

function underlinedHeadings(text: ByteText, begin: number): FoundHeading[] {
  const found: FoundHeading[] = [];
  SETEXT.lastIndex = begin;
  for (let match = SETEXT.exec(text.string); match; match = SETEXT.exec(text.string)) {
    const [whole, before = "", words = "", marks = ""] = match;
    const at = match.index;
    const above = text.string.slice(Math.max(begin, at - 3), at);
    if (at !== begin && !above.endsWith("\n\n") && !above.endsWith("\n\r\n")) continue;
    const start = at + before.length;
    const end = start + lengthWithoutSpace(text.bytes, start, start + words.length);
    const level = marks.startsWith("=") ? 1 : 2;
    found.push({ at, level, start, end, after: at + whole.length });
  }
  return found;
}
