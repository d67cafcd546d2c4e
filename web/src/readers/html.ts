// HTML: what a reader of the page sees, as Markdown-like text that knows its source lines. The twin
// of readers/html.py; a tokenizer of its own, since a worker has no DOM.

import { decoded } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";
import type { Document, Value } from "../records.ts";
import { splitWords } from "../text/python_text.ts";
import { documentOf } from "./documents.ts";
import { declaredEncoding, decodeToUtf8 } from "./encoding.ts";
import { unescapeHtml } from "./entities.ts";
import { Blocks } from "./html_blocks.ts";
import { nextTag } from "./html_tags.ts";

const MAX_HTML_BYTES = 64 << 20; // takes several times its length while it is read
const ATTRIBUTE = /([\w:-]{1,64})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;
const MAX_ATTRIBUTE_CHARS = 4096;
const MAX_CHARS = 300;
const XML_BEGIN = /^(?:\ufeff?\s*<\?xml|[^>]{0,512}<html[^>]{0,512}xmlns=)/i;

// Their content is not markup: it ends at their end tag and nowhere else.
const RAW = new Map(
  "script style title textarea iframe noembed noframes xmp"
    .split(" ")
    .map((name): [string, RegExp] => [name, new RegExp(`</${name}(?=[\\s/>])[^>]*>?`, "gi")]),
);
// What belongs to the site and not to the page, and what no one reads.
const DROPPED = new Set(
  "nav footer noscript template svg canvas object select button datalist audio video dialog".split(" "),
);
const LISTS = new Set(["ul", "ol", "menu", "dir"]);
const BLOCKS = new Set(
  (
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption " +
    "figure form header hgroup hr html legend main option p search section summary"
  ).split(" "),
);
const DATES = new Set(["date", "dc.date", "dcterms.date", "article:published_time", "pubdate"]);

/** The text of a page, where lines of its source begin in it, and what it says of itself. */
export interface HtmlText {
  readonly text: Uint8Array;
  readonly places: readonly (readonly [number, number])[];
  readonly title: string;
  readonly metadata: Readonly<Record<string, Value>>;
}

/** A page; its places are the lines of the HTML file. */
export function readHtml(data: Uint8Array, maxTextBytes: number): Document {
  if (data.length > MAX_HTML_BYTES) {
    const said = `HTML of ${(data.length / 1e6).toFixed(1)} MB where at most `;
    throw new GossamerError("Unreadable", `${said}${(MAX_HTML_BYTES / 1e6).toFixed(1)} MB are read`);
  }
  const page = extractHtml(decoded(decodeToUtf8(data, declaredEncoding(data))), maxTextBytes);
  const { title, places, metadata } = page;
  return documentOf(page.text, "html", { markup: "markdown", title, places, metadata });
}

/** Takes the text out of HTML of any quality; work and memory are linear in its length. */
export function extractHtml(source: string, maxBytes: number): HtmlText {
  const lines = source.replace(/\r\n?/g, "\n");
  const dropped = new Set(DROPPED);
  for (;;) {
    const page = new Page(lines, maxBytes, dropped);
    page.run();
    // Better the site's menu in the index than the rest of the page lost.
    if (!dropped.delete(page.inside)) return page.result();
  }
}

/** One pass over the source. */
class Page {
  inside = ""; // the dropped element that is open
  private depth = 0; // how many of its name are
  private listDepth = 0;
  private title = "";
  private readonly metadata: Record<string, Value> = {};
  private readonly blocks: Blocks;
  private readonly isXml: boolean; // XML closes elements with a slash, which HTML ignores

  constructor(
    private readonly source: string,
    maxBytes: number,
    private readonly dropped: ReadonlySet<string>,
  ) {
    this.blocks = new Blocks(source, maxBytes);
    this.isXml = XML_BEGIN.test(source);
  }

  run(): void {
    const { source } = this;
    let at = 0;
    for (let tag = nextTag(source, at); tag; tag = nextTag(source, at)) {
      if (tag.begin > at && !this.inside) this.blocks.add(source.slice(at, tag.begin), at);
      at = tag.end;
      if (tag.name === "") continue;
      const isClosed = this.isXml && tag.attributes.endsWith("/");
      if (RAW.has(tag.name) && !tag.isEnd && !isClosed) at = this.passRaw(tag.name, at);
      else if (this.inside || this.dropped.has(tag.name)) {
        this.followDropped(tag.name, tag.isEnd, isClosed);
      } else if (tag.isEnd) this.end(tag.name);
      else this.begin(tag.name, tag.attributes);
    }
    if (!this.inside) this.blocks.add(source.slice(at), at);
    this.blocks.end();
  }

  result(): HtmlText {
    const { text, places } = this.blocks;
    return { text, places, title: this.title, metadata: this.metadata };
  }

  /** Goes over an element whose content is no markup; gives where it ends. */
  private passRaw(name: string, at: number): number {
    const pattern = RAW.get(name) as RegExp;
    pattern.lastIndex = at;
    const found = pattern.exec(this.source);
    const contentEnd = found ? found.index : this.source.length;
    if (name === "title" && !this.title && !this.inside) {
      this.title = oneLine(this.source.slice(at, Math.min(contentEnd, at + MAX_ATTRIBUTE_CHARS)));
    } else if (name === "xmp" && !this.inside) {
      this.blocks.begin("pre");
      this.blocks.add(this.source.slice(at, contentEnd), at);
      this.blocks.end();
    }
    return found ? found.index + found[0].length : this.source.length;
  }

  private followDropped(name: string, isEnd: boolean, isClosed: boolean): void {
    if (!this.inside && !isEnd && !isClosed) {
      this.inside = name;
      this.depth = 1;
    } else if (name === this.inside && !isClosed) {
      this.depth += isEnd ? -1 : 1;
      if (this.depth > 0) return;
      this.inside = "";
      this.blocks.space();
    }
  }

  private begin(name: string, attributes: string): void {
    const { blocks } = this;
    if (name === "br") blocks.lineBreak();
    else if (blocks.isPreformatted) {
      if (name === "pre") blocks.begin("pre");
    } else if (/^h[1-6]$/.test(name)) blocks.begin("text", `${"#".repeat(Number(name[1]))} `);
    else if (BLOCKS.has(name)) this.part();
    else if (LISTS.has(name)) {
      blocks.begin();
      this.listDepth += 1;
    } else if (name === "li") blocks.begin("item", "- ", Math.max(this.listDepth - 1, 0));
    else if (name === "pre") blocks.begin("pre");
    else if (name === "table") blocks.begin();
    else if (name === "tr") blocks.begin("row");
    else if (name === "td" || name === "th") this.beginCell();
    else if (name === "meta") this.note(attributesOf(attributes));
    else if (name === "img") this.describe(attributesOf(attributes));
  }

  private end(name: string): void {
    const { blocks } = this;
    if (blocks.isPreformatted) {
      if (name === "pre") blocks.end();
    } else if (/^h[1-6]$/.test(name) || ["li", "tr", "table"].includes(name)) blocks.end();
    else if (LISTS.has(name)) {
      blocks.end();
      this.listDepth = Math.max(this.listDepth - 1, 0);
    } else if (BLOCKS.has(name)) this.part();
  }

  /** Parts paragraphs; a row stays in one line, and an item until its list goes on. */
  private part(): void {
    if (this.blocks.isRow) this.blocks.space();
    else this.blocks.breakParagraph();
  }

  private beginCell(): void {
    // In a row that headings or lists broke up, the table serves to lay out the page.
    if (this.blocks.isRow) this.blocks.beginCell();
    else this.part();
  }

  private note(attributes: ReadonlyMap<string, string>): void {
    const name = (attributes.get("name") || attributes.get("property") || "").toLowerCase();
    const content = oneLine(attributes.get("content") ?? "");
    if (!content) return;
    if (name === "author") this.metadata["author"] ??= content;
    else if (DATES.has(name)) this.metadata["date"] ??= content;
  }

  private describe(attributes: ReadonlyMap<string, string>): void {
    const words = oneLine(attributes.get("alt") ?? "");
    if (words) this.blocks.addWords(words);
  }
}

function attributesOf(source: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const match of source.slice(0, MAX_ATTRIBUTE_CHARS).matchAll(ATTRIBUTE)) {
    found.set((match[1] ?? "").toLowerCase(), match[2] || match[3] || match[4] || "");
  }
  return found;
}

function oneLine(raw: string): string {
  return [...splitWords(unescapeHtml(raw)).join(" ")].slice(0, MAX_CHARS).join("");
}
