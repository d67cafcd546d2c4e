// Plain text: paragraphs by blank lines, sections by numbers as RFCs and papers have them.

import {
  blankLineCuts,
  cutsWhere,
  isAmong,
  joined,
  NO_SPANS,
  sectionCuts,
  type ByteText,
  type FoundHeading,
  type Outline,
} from "./outline.ts";
import { lengthWithoutSpace } from "./bytes.ts";

// "3.2.  Title" alone on its line at the margin, with a blank line after it.
const NUMBERED = new RegExp(
  "(?<![^\\n])((?:Appendix [A-Z]|[A-Z]\\.\\d{1,3}|\\d{1,3})((?:\\.\\d{1,3}){0,8})\\.?[ \\t]{1,8})" +
    "([A-Z][^\\n]{0,99})\\n[ \\t\\r]*\\n[ \\t\\n\\r\\f\\v]*",
  "g",
);
const SENTENCE_ENDS = ".,;:";

/** Finds numbered headings and paragraphs. */
export function plainOutline(text: ByteText, begin: number): Outline {
  const headings = numberedHeadings(text, begin);
  const tied = headings.map((heading) => heading.after);
  const blocks = cutsWhere(blankLineCuts(text.string), (offset) => !isAmong(offset, tied));
  const cuts = joined(sectionCuts(headings, tied), blocks);
  return { cuts, headings, whole: NO_SPANS, tied, isProse: true };
}

function numberedHeadings(text: ByteText, begin: number): FoundHeading[] {
  const found: FoundHeading[] = [];
  NUMBERED.lastIndex = begin;
  for (let match = NUMBERED.exec(text.string); match; match = NUMBERED.exec(text.string)) {
    const [whole, before = "", numbers = "", words = ""] = match;
    const start = match.index + before.length;
    const end = start + lengthWithoutSpace(text.bytes, start, start + words.length);
    // A numbered sentence is a list item.
    if (SENTENCE_ENDS.includes(text.string.charAt(end - 1))) continue;
    const level = 1 + numbers.split(".").length - 1 + (whole.charAt(1) === "." ? 1 : 0);
    found.push({ at: match.index, level, start: match.index, end, after: match.index + whole.length });
  }
  return found;
}
