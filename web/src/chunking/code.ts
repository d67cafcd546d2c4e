// Source code: cut at blank lines, rather at the margin than within a function. There are no
// grammars in a page, so nothing is known of signatures.

import {
  blankLineCuts,
  NO_SPANS,
  PARAGRAPH,
  type ByteText,
  type Outline,
} from "./outline.ts";

const PROSE = new Set(["asciidoc", "latex", "org", "text", "typst"]);
// Each level of nesting makes a cut dearer, up to this many.
const LEVEL_COST = 0.08;
const COUNTED_LEVELS = 3;
const SPACES_OF_LEVEL = 4;

/** Finds blank lines; those before code that is indented are worth less. */
export function codeOutline(text: ByteText, language: string): Outline {
  const blocks = blankLineCuts(text.string);
  const isProse = PROSE.has(language);
  const costs = isProse
    ? blocks.costs
    : blocks.offsets.map((offset) => PARAGRAPH + LEVEL_COST * levelAt(text.string, offset));
  return {
    cuts: { offsets: blocks.offsets, costs },
    headings: [],
    whole: NO_SPANS,
    tied: [],
    isProse,
  };
}

/** How deep the line is indented whose first word stands at an offset. */
function levelAt(text: string, offset: number): number {
  let spaces = 0;
  for (let at = offset - 1; at >= 0 && text[at] !== "\n"; at -= 1) {
    spaces += text[at] === "\t" ? SPACES_OF_LEVEL : 1;
    if (spaces >= COUNTED_LEVELS * SPACES_OF_LEVEL) return COUNTED_LEVELS;
  }
  return Math.ceil(spaces / SPACES_OF_LEVEL);
}
