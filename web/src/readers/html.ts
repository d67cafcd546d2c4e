// HTML: what a reader of the page sees, as Markdown-like text that knows its source lines. The twin
// of readers/html.py; a tokenizer of its own, since a worker has no DOM.

import { decoded } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";
import type { Document, Value } from "../records.ts";
import { splitWords, stripStart } from "../text/python_text.ts";
import { documentOf } from "./documents.ts";
import { declaredEncoding, decodeToUtf8 } from "./encoding.ts";
import { unescapeHtml } from "./entities.ts";
import { Blocks } from "./html_blocks.ts";
import { findFurniture, UNSEEN } from "./html_furniture.ts";
import { IdAbove, idOf } from "./html_ids.ts";
import { attributesOf, isXhtml, nextTag, placeOfAttribute, type Tag } from "./html_tags.ts";
import { titleOf } from "./html_title.ts";

const MAX_HTML_BYTES = 64 << 20; // takes several times its length while it is read
const MAX_TITLE_CHARS = 4096; // of its source
const MAX_CHARS = 300;
const MAX_NAMES = 8;
const LISTS = new Set(["ul", "ol", "menu", "dir"]);
const BLOCKS = new Set(
  (
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption " +
    "figure footer form header hgroup hr html legend main option p search section summary"
  ).split(" "),
);
const SITES = new Set(["og:site_name", "application-name", "apple-mobile-web-app-title"]);
const DATES = new Set(["date", "dc.date", "dcterms.date", "article:published_time", "pubdate"]);

/** The text of a page, where lines of its source begin in it, and what it says of itself. */
export interface HtmlText {
  readonly text: Uint8Array;
  readonly places: readonly (readonly [number, number])[];
  readonly title: string;
  readonly metadata: Readonly<Record<string, Value>>;
  readonly anchors: readonly (readonly [number, string])[]; // where headings stand in it, and their ids
}

/** A page; its places are the lines of the HTML file. */
export function readHtml(data: Uint8Array, maxTextBytes: number): Document {
  if (data.length > MAX_HTML_BYTES) {
    const said = `HTML of ${(data.length / 1e6).toFixed(1)} MB where at most `;
    throw new GossamerError("Unreadable", `${said}${(MAX_HTML_BYTES / 1e6).toFixed(1)} MB are read`);
  }
  const page = extractHtml(decoded(decodeToUtf8(data, declaredEncoding(data))), maxTextBytes);
  const { title, places, metadata, anchors } = page;
  return documentOf(page.text, "html", { markup: "markdown", title, places, metadata, anchors });
}

/** Takes the text out of HTML of any quality; work and memory are linear in its length. */
export function extractHtml(source: string, maxBytes: number): HtmlText {
  const page = new Page(source.replace(/\r\n?/g, "\n"), maxBytes);
  page.run();
  return page.result();
}

/** One pass over the source, past what is not the page's own. */
class Page {
  private listDepth = 0;
  private title = "";
  private readonly headings: string[] = [];
  private readonly sites: string[] = [];
  private isInTitle = false;
  private isTitleSaid = false;
  private isInLink = false;
  private readonly idAbove = new IdAbove();
  private readonly metadata: Record<string, Value> = {};
  private readonly blocks: Blocks;

  constructor(
    private readonly source: string,
    maxBytes: number,
  ) {
    this.blocks = new Blocks(source, maxBytes);
  }

  run(): void {
    const { source } = this;
    const isXml = isXhtml(source);
    const leftOut = findFurniture(source, isXml);
    let passed = 0;
    let at = 0;
    for (let tag = nextTag(source, at, isXml); tag; tag = nextTag(source, at, isXml)) {
      if (tag.begin > at) this.addText(at, tag.begin);
      at = tag.end;
      if (tag.isEnd) this.end(tag.name);
      else this.begin(tag);
      const next = leftOut[passed];
      if (next?.[0] === at) {
        at = next[1];
        passed += 1;
      }
    }
    this.addText(at, source.length);
    this.blocks.end();
  }

  result(): HtmlText {
    const { text, places, anchors } = this.blocks;
    const title = titleOf(this.title, this.headings, this.sites);
    return { text, places, title, metadata: this.metadata, anchors };
  }

  private addText(begin: number, end: number): void {
    const text = this.source.slice(begin, end);
    this.blocks.add(text, begin);
    if (this.isInTitle && !this.isInLink && stripStart(text) !== "") this.isTitleSaid = true;
  }

  private begin(tag: Tag): void {
    const { blocks } = this;
    const id = idOf(tag);
    const above = this.idAbove.take(blocks.filled);
    this.open(tag);
    if (/^h[1-6]$/.test(tag.name) && blocks.isHeading) blocks.anchor = id || above;
    else if (id && blocks.isHeading) blocks.anchor ||= id;
    else if (id) this.idAbove.note(tag, id, blocks.filled);
  }

  private open(tag: Tag): void {
    const { blocks } = this;
    const { name } = tag;
    if (name === "br") blocks.lineBreak();
    else if (blocks.isPreformatted) {
      if (name === "pre") blocks.begin("pre");
    } else if (/^h[1-6]$/.test(name)) {
      blocks.begin("text", `${"#".repeat(Number(name[1]))} `);
      this.isInTitle = name === "h1" || name === "h2";
      this.isTitleSaid = false;
    } else if (BLOCKS.has(name)) this.part();
    else if (LISTS.has(name)) {
      blocks.begin();
      this.listDepth += 1;
    } else if (name === "pre") blocks.begin("pre");
    else if (name === "table") blocks.begin();
    else if (name === "li") blocks.begin("item", "- ", Math.max(this.listDepth - 1, 0));
    else if (name === "tr") blocks.begin("row");
    else if (name === "td" || name === "th") this.beginCell();
    else this.note(tag);
  }

  private end(name: string): void {
    const { blocks } = this;
    if (blocks.isPreformatted) {
      if (name === "pre") blocks.end();
    } else if (/^h[1-6]$/.test(name) || ["li", "tr", "table"].includes(name)) {
      if (this.isInTitle) this.endTitle();
      blocks.end();
    } else if (LISTS.has(name)) {
      blocks.end();
      this.listDepth = Math.max(this.listDepth - 1, 0);
    } else if (BLOCKS.has(name)) this.part();
    else if (UNSEEN.has(name) || name === "nav") blocks.space();
    else if (name === "a") this.isInLink = false;
  }

  /** Remembers the first headings; one that is nothing but a link may name the site. */
  private endTitle(): void {
    const names = this.isTitleSaid ? this.headings : this.sites;
    if (names.length < MAX_NAMES) names.push(this.blocks.openText);
    this.isInTitle = false;
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

  /** Takes what stands in a tag, or in an element whose content is no markup. */
  private note(tag: Tag): void {
    const [begin, end] = tag.inner;
    if (tag.name === "title") {
      this.title ||= oneLine(this.source.slice(begin, Math.min(end, begin + MAX_TITLE_CHARS)));
    } else if (tag.name === "xmp") {
      this.blocks.begin("pre");
      this.blocks.add(this.source.slice(begin, end), begin);
      this.blocks.end();
    } else if (tag.name === "a") this.isInLink = true;
    else if (["meta", "link", "img"].includes(tag.name)) this.noteAttributes(tag, attributesOf(tag.attributes));
  }

  private noteAttributes(tag: Tag, attributes: ReadonlyMap<string, string>): void {
    const said = (key: string): string => oneLine(attributes.get(key) ?? "");
    const name = (attributes.get("name") || attributes.get("property") || "").toLowerCase();
    const content = said("content");
    if (tag.name === "img") {
      if (said("alt")) this.blocks.addWords(said("alt"), placeOfAttribute(tag, "alt"));
    } else if (tag.name === "link") {
      if (attributes.get("rel") === "search") this.noteSite(said("title"));
    } else if (!content) return;
    else if (name === "author") this.metadata["author"] ??= content;
    else if (DATES.has(name)) this.metadata["date"] ??= content;
    else if (SITES.has(name)) this.noteSite(content);
  }

  private noteSite(name: string): void {
    if (this.sites.length < MAX_NAMES) this.sites.push(name);
  }
}

function oneLine(raw: string): string {
  return [...splitWords(unescapeHtml(raw)).join(" ")].slice(0, MAX_CHARS).join("");
}
