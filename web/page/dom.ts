// Elements made from data. What documents say only ever becomes text nodes: nothing here, or anywhere
// in this page, parses HTML.

export type Child = Node | string;
type Attributes = Readonly<Record<string, string>>;

/** The element with this id; it stands in index.html. */
export function find<T extends Element>(id: string, kind: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`index.html has no ${kind.name} #${id}`);
  return element;
}

/** A new element with these attributes and children; strings become text. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A new element of a drawing. */
export function draw<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A button that does something when it is pressed. */
export function makeButton(
  attributes: Attributes,
  label: Child,
  press: () => void,
): HTMLButtonElement {
  const button = make("button", { type: "button", ...attributes }, label);
  button.addEventListener("click", () => press());
  return button;
}

/** A bar that fills a share of its width, 0 to 1; what it shows is said in the text beside it. */
export function makeBar(share: number): SVGElement {
  const width = `${Math.min(100, Math.max(0.5, 100 * share)).toFixed(2)}%`;
  return draw(
    "svg",
    { class: "bar", "aria-hidden": "true" },
    draw("rect", { height: "100%", width }),
  );
}

/** A list of names and values. */
export function makeList(facts: readonly (readonly [string, string])[]): HTMLElement {
  const items = facts.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value)),
  );
  return make("dl", {}, ...items);
}

/** Numbers that catch the eye, each with what it counts. */
export function makeFigures(figures: readonly (readonly [string, string])[]): HTMLElement {
  const items = figures.map(([figure, what]) =>
    make("li", {}, make("strong", {}, figure), make("span", {}, what)),
  );
  return make("ul", { class: "figures", role: "list" }, ...items);
}

/** A row of a table of bytes: what takes them, a bar, how many, and what else there is to say. */
export function makeBytesRow(what: string, share: number, ...said: string[]): HTMLElement {
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, what),
    make("td", { class: "bars" }, makeBar(share)),
    ...said.map((text) => make("td", { class: "number" }, text)),
  );
}

type Spans = readonly (readonly [number, number])[];

/** A text from a place on, with some stretches of it in elements; spans are of UTF-16, rising, apart. */
function wrapSpans(
  [from, to]: readonly [number, number],
  spans: Spans,
  show: (start: number, end: number) => Child[],
  wrap: (start: number, end: number) => Child,
): Child[] {
  const children: Child[] = [];
  let at = from;
  for (const [start, end] of spans) {
    if (end <= at || start >= to) continue;
    const begin = Math.max(start, at);
    children.push(...show(at, begin), wrap(begin, Math.min(end, to)));
    at = Math.min(end, to);
  }
  return [...children, ...show(at, to)];
}

/** A text with some stretches of it marked, others as code, and those of these that are in both. */
export function markSpans(text: string, marked: Spans, code: Spans): Child[] {
  const plain = (start: number, end: number) => (start < end ? [text.slice(start, end)] : []);
  const mark = (start: number, end: number) => make("mark", {}, text.slice(start, end));
  const marks = (start: number, end: number) => wrapSpans([start, end], marked, plain, mark);
  const asCode = (start: number, end: number) => make("code", {}, ...marks(start, end));
  return wrapSpans([0, text.length], code, marks, asCode);
}

/** A text with every one of these words, in lower case, marked. */
export function markWords(text: string, words: ReadonlySet<string>): Child[] {
  return text
    .split(/([\p{L}\p{N}\p{M}]+)/u)
    .map((piece) => (words.has(piece.toLowerCase()) ? make("mark", {}, piece) : piece));
}

/** Says something short to those who hear the page. */
export function announce(message: string): void {
  // What stands outside of a dialog that is open is not heard.
  const inDialog = document.querySelector<HTMLElement>("dialog[open] > .said");
  const said = inDialog ?? find("said", HTMLElement);
  // The same words twice in a row would not be read again.
  said.textContent = said.textContent === message ? `${message}\u00a0` : message;
}
