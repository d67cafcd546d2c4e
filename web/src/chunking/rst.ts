// reStructuredText: titles by their underlines, paragraphs by blank lines.

import {
  blankLineCuts,
  cutsAt,
  cutsWhere,
  isAmong,
  ITEM,
  joined,
  NO_SPANS,
  sectionCuts,
  type ByteText,
  type FoundHeading,
  type Outline,
} from "./outline.ts";
import { decoded, lengthWithoutSpace } from "./bytes.ts";

const MARK = "([!-/:-@[-`{-~])";
const TITLE = new RegExp(
  `(?<![^\\n])((?:${MARK}\\2{1,200}[ \\t\\r]*\\n[ \\t]{0,80})?)([^ \\t\\n\\r\\f\\v][^\\n]{0,200})\\n` +
    `(${MARK}\\5{1,200})[ \\t\\r]*(?![^\\n])[ \\t\\n\\r\\f\\v]*`,
  "g",
);
const ITEM_BEGIN = /\n(?=[ \t]*(?:[-*+]|#\.|\d{1,9}[.)]|\.\.)[ \t])/g;

/** Finds titles (levels in the order their styles appear), paragraphs, items, directives. */
export function rstOutline(text: ByteText, begin: number): Outline {
  const headings = titles(text, begin);
  const tied = headings.map((heading) => heading.after);
  const items: number[] = [];
  for (const match of text.string.matchAll(ITEM_BEGIN)) items.push(match.index + 1);
  const all = joined(blankLineCuts(text.string), cutsAt(items, ITEM));
  const blocks = cutsWhere(all, (offset) => !isAmong(offset, tied));
  const cuts = joined(sectionCuts(headings, tied), blocks);
  return { cuts, headings, whole: NO_SPANS, tied, isProse: true };
}

function titles(text: ByteText, begin: number): FoundHeading[] {
  const found: FoundHeading[] = [];
  const levels = new Map<string, number>();
  TITLE.lastIndex = begin;
  for (let match = TITLE.exec(text.string); match; match = TITLE.exec(text.string)) {
    const [whole, before = "", over, words = "", under = "", mark = ""] = match;
    const start = match.index + before.length;
    const end = start + lengthWithoutSpace(text.bytes, start, start + words.length);
    // Wide characters count twice towards the underline, which docutils asks for and few heed.
    if (under.length < [...decoded(text.bytes.subarray(start, end))].length) continue;
    if (over !== undefined && over !== mark) continue;
    const style = `${mark}${over === undefined ? "" : mark}`;
    const level = levels.get(style) ?? levels.size + 1;
    levels.set(style, level);
    found.push({ at: match.index, level, start, end, after: match.index + whole.length });
  }
  return found;
}
