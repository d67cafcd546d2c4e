// What of a page belongs to its site: menus, tables of contents, footers; and where it stands. The
// twin of readers/html_furniture.py.

import { isAnchorMark, Mark, markOf, wayOf } from "./html_marks.ts";
import { lettersIn, MAX_ATTRIBUTE_CHARS, nextTag, type Tag } from "./html_tags.ts";

const setOf = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** What no one reads. */
export const UNSEEN = setOf("noscript template svg canvas object select button datalist audio video dialog");
const BY_NAME = setOf("nav footer"); // furniture whatever it holds
const LISTS = setOf("ul ol menu dir table div p section aside header");
const HEADINGS = setOf("h1 h2 h3 h4 h5 h6");
const FOLLOWED = new Set([...UNSEEN, ...BY_NAME, ...LISTS, ...HEADINGS, ...setOf("a pre dt dl form main")]);
const ENDED_BY_NEXT = setOf("p a dt");

/** How much is taken for furniture: the less, the surer. */
const Rules = { Names: 0, Marks: 1, SureForms: 2, Forms: 3 } as const;

const MIN_LINKS = 5;
const LINKED_SHARE = 0.9;
// Of a block that leads on ("Next: ... Up: ..."), and of a link: a longer one is a text.
const MAX_WAY_LETTERS = 40;
const MAX_LINK_LETTERS = 150;
const MAX_DEPTH = 2000; // elements of one name within one another; deeper ones are not looked at
const MARKED_SPAN = /editsection|linenos/;
const MAX_SPAN_CHARS = 4096; // of the source of a marked span, which is small
const TARGET = /\shref\s*=\s*["']?\s*([a-z][a-z0-9+.-]*:|\/\/|#)?/i;

/** What a page had up to a place. Letters of text, unless said otherwise. */
interface Counts {
  readonly letters: number;
  readonly kept: number; // outside of furniture
  readonly headed: number; // of these, in headings
  readonly listed: number; // in furniture that could be content, by its form
  readonly linked: number; // in links
  readonly near: number; // of these, in links within the site
  readonly links: number; // links within the site
  readonly inner: number; // links within the page
  readonly ways: number; // to the next page and the like
  readonly titles: number; // first headings that are no link
  readonly mains: number; // main parts
}

const NONE: Counts = {
  letters: 0, kept: 0, headed: 0, listed: 0, linked: 0, near: 0, links: 0, inner: 0, ways: 0, titles: 0, mains: 0,
};

/** An element that is open: where its content begins, and what the page had before. */
interface Element {
  readonly begin: number;
  readonly tag: Tag;
  readonly mark: Mark;
  readonly before: Counts;
}

type Span = readonly [number, number];

/** The content of elements to leave out, in order.
 *
 * As much as leaves a page its text: one that is nothing but a list of links keeps it. */
export function findFurniture(source: string, isXml: boolean): readonly Span[] {
  let page = new Page(source, isXml, Rules.Names);
  for (const rules of [Rules.Forms, Rules.SureForms, Rules.Marks, Rules.Names]) {
    page = new Page(source, isXml, rules);
    page.run();
    if (page.hasEnoughLeft()) break;
  }
  return page.spans;
}

/** One pass over the source. An element that is never closed is no furniture. */
class Page {
  spans: Span[] = [];
  private now = NONE;
  private letters = 0; // since `now` was made
  private readonly open = new Map<string, Element[]>();
  private readonly deeper = new Map<string, number>();
  private readonly mains: { begin: number; end: number; kept: number; titles: number }[] = [];
  private body = 0;

  constructor(
    private readonly source: string,
    private readonly isXml: boolean,
    private readonly rules: number,
  ) {}

  run(): void {
    const { source } = this;
    // Spans are many, and few pages have one to look at.
    const hasSpans = MARKED_SPAN.test(source);
    let at = 0;
    for (let tag = nextTag(source, at, this.isXml); tag; tag = nextTag(source, at, this.isXml)) {
      if (tag.begin > at) this.letters += lettersIn(source.slice(at, tag.begin));
      at = tag.end;
      if (tag.name === "body") this.body ||= tag.end;
      else if (FOLLOWED.has(tag.name) || (hasSpans && tag.name === "span")) this.follow(tag);
    }
    this.letters += lettersIn(source.slice(at));
    this.settle();
    if (this.rules >= Rules.Marks) this.preferMain();
  }

  /** Whether what is left out was furniture, as far as what is left can tell. */
  hasEnoughLeft(): boolean {
    const { kept, headed, listed } = this.now;
    const prose = kept - headed;
    if (this.rules === Rules.Forms) return prose > 0 && prose >= listed;
    return this.rules === Rules.Names || (this.rules === Rules.SureForms ? prose : kept) > 0;
  }

  private openOf(name: string): Element[] {
    let elements = this.open.get(name);
    if (!elements) this.open.set(name, (elements = []));
    return elements;
  }

  private follow(tag: Tag): void {
    if (tag.isEnd) this.close(tag);
    else if (!tag.isEmpty) this.begin(tag);
  }

  private settle(): Counts {
    if (this.letters) {
      const { letters, kept } = this.now;
      this.now = { ...this.now, letters: letters + this.letters, kept: kept + this.letters };
      this.letters = 0;
    }
    return this.now;
  }

  private begin(tag: Tag): void {
    const { name } = tag;
    const before = this.settle();
    const mark = markOfTag(tag);
    if (mark === Mark.Main && name !== "span") this.now = { ...before, mains: before.mains + 1 };
    const elements = this.openOf(name);
    if (ENDED_BY_NEXT.has(name)) elements.length = 0;
    if (elements.length < MAX_DEPTH) elements.push({ begin: tag.end, tag, mark, before });
    else this.deeper.set(name, (this.deeper.get(name) ?? 0) + 1);
  }

  private close(tag: Tag): void {
    const { name } = tag;
    const deeper = this.deeper.get(name) ?? 0;
    if (deeper) {
      this.deeper.set(name, deeper - 1);
      return;
    }
    const element = this.openOf(name).pop();
    if (!element) return;
    this.settle();
    if (HEADINGS.has(name)) this.countHeading(name, element.before);
    else if (name === "a") this.closeLink(element, tag);
    else if (name === "span") this.closeSpan(element, tag.begin);
    else if (UNSEEN.has(name)) {
      this.leaveOut(element, tag.begin);
      this.now = element.before;
    } else if (this.isFurniture(name, element)) this.leaveOut(element, tag.begin);
    else if (element.mark === Mark.Main) this.noteMain(element, tag.end);
  }

  private closeSpan(element: Element, end: number): void {
    if (element.mark !== Mark.Firm || end - element.begin > MAX_SPAN_CHARS) return;
    if (this.rules >= Rules.Marks) this.leaveOut(element, end);
    this.now = element.before;
  }

  private countHeading(name: string, before: Counts): void {
    const { now } = this;
    const isTitle = name === "h1" && now.letters - before.letters > now.linked - before.linked;
    const headed = now.headed + now.kept - before.kept;
    this.now = { ...now, headed, titles: now.titles + (isTitle ? 1 : 0) };
  }

  private closeLink(element: Element, tag: Tag): void {
    const { now } = this;
    const letters = now.letters - element.before.letters;
    const { attributes } = element.tag;
    const target = TARGET.exec(attributes);
    if (!target) return;
    let ways = 0;
    if (this.rules >= Rules.Marks && letters <= MAX_WAY_LETTERS) {
      const content = this.source.slice(element.begin, tag.begin);
      const hasHeading = [...HEADINGS, "dt"].some((one) => this.open.get(one)?.length);
      if (isAnchorMark(content, attributes, hasHeading)) {
        this.leaveOut(element, tag.begin);
        return;
      }
      ways = wayOf(content, attributes);
    }
    // Names in a program are linked for another reason.
    if (letters > MAX_LINK_LETTERS || this.open.get("pre")?.length) return;
    const isNear = letters > 0 && (target[1] === undefined || target[1] === "#");
    this.now = {
      ...now,
      linked: now.linked + letters,
      near: now.near + (isNear ? letters : 0),
      links: now.links + (isNear ? 1 : 0),
      inner: now.inner + (isNear && target[1] === "#" ? 1 : 0),
      ways: now.ways + ways,
    };
  }

  private isFurniture(name: string, { mark, before }: Element): boolean {
    const { now } = this;
    if (now.titles > before.titles || now.mains > before.mains) return false;
    if (BY_NAME.has(name)) return true;
    if (this.rules < Rules.Marks) return false;
    const letters = now.letters - before.letters;
    const linked = now.linked - before.linked;
    if (mark === Mark.Firm) return true;
    if (mark === Mark.Weak && 2 * linked >= letters && linked) return true;
    if (!LISTS.has(name)) return false;
    const ways = now.ways - before.ways;
    const links = now.links - before.links;
    if (ways > 1 && ways >= links && letters - linked <= MAX_WAY_LETTERS) return true;
    return links >= MIN_LINKS && this.isListOfLinks(before);
  }

  /** Whether almost all is links within the site: furniture, if it may be told by that. */
  private isListOfLinks(before: Counts): boolean {
    const { now } = this;
    const letters = now.letters - before.letters;
    if (this.rules < Rules.SureForms || now.near - before.near < LINKED_SHARE * letters) return false;
    const isSure = now.titles === 0 || 2 * (now.inner - before.inner) > now.links - before.links;
    if (this.rules === Rules.Forms && !isSure) {
      this.now = { ...now, listed: before.listed + letters };
      return true;
    }
    return isSure;
  }

  private leaveOut({ begin, before }: Element, end: number): void {
    const { spans } = this;
    while ((spans.at(-1)?.[0] ?? -1) >= begin) spans.pop();
    if ((spans.at(-1)?.[1] ?? 0) > begin) return; // tags that cross
    if (end > begin) spans.push([begin, end]);
    this.now = { ...this.now, kept: before.kept, headed: before.headed };
  }

  private noteMain({ tag, before }: Element, end: number): void {
    const { mains, now } = this;
    while ((mains.at(-1)?.begin ?? -1) > tag.begin) mains.pop();
    if (mains.length > 1) return;
    mains.push({ begin: tag.begin, end, kept: now.kept - before.kept, titles: now.titles - before.titles });
  }

  /** Leaves out all around the main part, if there is one that has most of the text. */
  private preferMain(): void {
    const [main, other] = this.mains;
    if (!main || other || !this.body || main.begin < this.body) return;
    if (main.titles < this.now.titles || 2 * main.kept < this.now.kept) return;
    const around: Span[] = [[this.body, main.begin], [main.end, this.source.length]];
    const found = [...this.spans, ...around].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    this.spans = [];
    for (const span of found) if (span[0] >= (this.spans.at(-1)?.[1] ?? 0)) this.spans.push(span);
  }
}

function markOfTag(tag: Tag): Mark {
  return markOf(tag.name, tag.attributes.slice(0, MAX_ATTRIBUTE_CHARS));
}
