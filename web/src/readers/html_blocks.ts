// HTML on its way into text: blocks, and the lines of the source that they come from. The twin of
// readers/html_blocks.py.

import { joinBytes } from "../bytes/join.ts";
import { utf8 } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";
import { SPACE, splitWords, stripEnd, stripStart } from "../text/python_text.ts";
import { unescapeHtml } from "./entities.ts";

export type BlockKind = "text" | "item" | "row" | "pre";

const MAX_INDENT = 9;
const CODE_INDENT = "    "; // makes one line code, without fences
// A paragraph that begins with one of these would be taken for a heading or a fence.
const MEANT_AS_MARKUP = ["#", "```", "~~~"];
const IS_SPACE = new RegExp(`^[${SPACE}]$`);

/** Text in the making: inline text is collected until its block ends.
 *
 * `text` and `places` give what came out. Positions in `source` must rise from call to call. */
export class Blocks {
  private at = 0;
  private line = 1;
  private readonly out: Uint8Array[] = [];
  private size = 0;
  private readonly found: [number, number][] = [];
  private lastKind: BlockKind | "" = "";
  // The open block: its text, its length in bytes, and where lines of the source begin in it.
  private parts: string[] = [];
  private length = 0;
  private marks: [number, number][] = [];
  private wantsSpace = false;
  private prefix = "";
  private kind: BlockKind = "text";
  private cells = 0;
  anchor = ""; // of the open block: the id that leads to it
  private readonly ids: [number, string][] = [];

  constructor(
    private readonly source: string,
    private readonly maxBytes: number,
  ) {}

  /** The blocks so far, as UTF-8. */
  get text(): Uint8Array {
    return joinBytes(this.out);
  }

  /** Where lines of the source begin: offset in `text`, and line. */
  get places(): readonly (readonly [number, number])[] {
    return this.found;
  }

  /** The ids that lead to blocks: offset in `text` of their words, and id. */
  get anchors(): readonly (readonly [number, string])[] {
    return this.ids;
  }

  /** How much text there is so far: it stays while nothing comes in. */
  get filled(): number {
    return this.size + this.length;
  }

  get isHeading(): boolean {
    return this.prefix.startsWith("#");
  }

  /** What the open block holds so far. */
  get openText(): string {
    return this.parts.join("");
  }

  get isPreformatted(): boolean {
    return this.kind === "pre";
  }

  get isRow(): boolean {
    return this.kind === "row";
  }

  /** Ends the open block and begins another, whose first line gets the prefix. */
  begin(kind: BlockKind = "text", prefix = "", indent = 0): void {
    this.end();
    this.kind = kind;
    this.prefix = "  ".repeat(Math.min(indent, MAX_INDENT)) + prefix;
  }

  /** Parts what follows from the cell before it in the open row. */
  beginCell(): void {
    if (this.cells) {
      const bar = this.parts.length ? " |" : "|";
      this.parts.push(bar);
      this.length += bar.length;
      this.wantsSpace = true;
    }
    this.cells += 1;
  }

  /** Parts what follows from what stands before it. */
  space(): void {
    this.wantsSpace = true;
  }

  /** Ends the open block if there is text in it; an empty one stays what it is to be. */
  breakParagraph(): void {
    if (this.parts.length) this.end();
  }

  /** Goes to a new line within the block, where it can have several. */
  lineBreak(): void {
    if (this.kind === "row" || this.kind === "item" || this.prefix) {
      this.wantsSpace = true;
    } else if (this.parts.length) {
      this.append("\n", this.line);
      this.wantsSpace = false;
    }
  }

  /** Puts text that stands at a position of the source into the open block. */
  add(raw: string, position: number): void {
    this.goTo(position);
    this.at = position + raw.length;
    if (this.kind === "pre") {
      this.addPreformatted(raw);
    } else if (!raw.includes("\n")) {
      this.addInline(raw, this.line);
    } else {
      const lines = raw.split("\n");
      lines.forEach((line, number) => {
        this.addInline(line, this.line + number);
        this.wantsSpace = true;
      });
      const last = lines[lines.length - 1] ?? "";
      this.wantsSpace = last === "" || IS_SPACE.test(last.charAt(last.length - 1));
      this.line += lines.length - 1;
    }
  }

  /** Puts words that stand in a tag of the source into the open block. */
  addWords(words: string, position: number): void {
    this.goTo(position);
    this.append(this.parts.length ? ` ${words}` : words, this.line);
    this.wantsSpace = true;
  }

  /** Ends the open block; an empty one leaves nothing behind. */
  end(): void {
    const text = this.parts.join("");
    const isEmpty = this.kind === "row" ? /^[| ]*$/.test(text) : false;
    if (!isEmpty && stripStart(text) !== "") this.write(text);
    this.parts = [];
    this.marks = [];
    this.length = 0;
    this.cells = 0;
    this.wantsSpace = false;
    this.kind = "text";
    this.prefix = "";
    this.anchor = "";
  }

  private goTo(position: number): void {
    this.line += newlinesIn(this.source, this.at, position);
    this.at = position;
  }

  private addInline(raw: string, line: number): void {
    const text = unescapeHtml(raw);
    let words = splitWords(text).join(" ");
    if (!words) {
      this.wantsSpace = this.wantsSpace || text !== "";
      return;
    }
    const isApart = this.wantsSpace || IS_SPACE.test(text.charAt(0));
    const last = this.parts[this.parts.length - 1];
    if (isApart && last !== undefined && last !== "\n") words = ` ${words}`;
    this.append(words, line);
    this.wantsSpace = IS_SPACE.test(text.charAt(text.length - 1));
  }

  private addPreformatted(raw: string): void {
    raw.split("\n").forEach((line, number) => {
      if (number) {
        this.line += 1;
        if (this.parts.length) this.append("\n", this.line);
      }
      if (line) this.append(unescapeHtml(line), this.line);
    });
  }

  private append(text: string, line: number): void {
    const last = this.marks[this.marks.length - 1];
    if (!last || last[1] !== line) {
      // A line begins after the space or the line end that parts it from the one before.
      const at = this.length + (text.startsWith(" ") || text.startsWith("\n") ? 1 : 0);
      if (last?.[0] === at) this.marks.pop(); // a line without a word
      this.marks.push([at, line]);
    }
    this.parts.push(text);
    this.length += utf8(text).length;
  }

  private write(text: string): void {
    let { prefix } = this;
    let suffix = "";
    let cut = 0;
    const bare = stripEnd(stripStart(text));
    if (this.kind === "pre" && !bare.includes("\n")) {
      cut = utf8(text).length - utf8(stripStart(text)).length;
      text = bare;
      prefix = CODE_INDENT;
    } else if (this.kind === "pre") {
      const fence = text.includes("```") ? "````" : "```";
      text = stripEnd(text);
      prefix = `${fence}\n`;
      suffix = `\n${fence}`;
    } else if (!prefix && MEANT_AS_MARKUP.some((mark) => text.startsWith(mark))) {
      prefix = "\\";
    }
    if (this.out.length) {
      const isRun = this.kind === this.lastKind && (this.kind === "item" || this.kind === "row");
      this.put(isRun ? "\n" : "\n\n");
    }
    const begin = this.size;
    this.put(prefix + text + suffix);
    this.lastKind = this.kind;
    if (this.anchor) this.ids.push([begin + prefix.length - cut, this.anchor]);
    for (const [offset, line] of this.marks) {
      const at = offset <= cut ? begin : begin + prefix.length - cut + offset;
      if (this.found.at(-1)?.[0] === at) this.found.pop();
      const last = this.found.at(-1);
      if ((!last || line > last[1]) && at < this.size) this.found.push([at, line]);
    }
  }

  private put(text: string): void {
    const bytes = utf8(text);
    this.out.push(bytes);
    this.size += bytes.length;
    if (this.size > this.maxBytes) {
      throw new GossamerError("Unreadable", `more than ${Math.round(this.maxBytes / 1e6)} MB of text`);
    }
  }
}

function newlinesIn(text: string, begin: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", begin); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
    count += 1;
  }
  return count;
}
