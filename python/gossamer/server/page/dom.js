/**
 * Elements made from data. What documents say only ever becomes text nodes: nothing here, or
 * anywhere in this page, parses HTML.
 */

/** @typedef {Node | string} Child */

/**
 * The element with this id; it stands in index.html.
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function find(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`index.html has no ${kind.name} #${id}`);
  return element;
}

/**
 * A new element with these attributes and children; strings become text.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string>>} attributes
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * A button that does something when it is pressed.
 * @param {Readonly<Record<string, string>>} attributes
 * @param {Child} label
 * @param {(event: MouseEvent) => void} press
 */
export function makeButton(attributes, label, press) {
  const button = make("button", { type: "button", ...attributes }, label);
  button.addEventListener("click", press);
  return button;
}

/**
 * A bar that fills a share of its width; what it shows is said in the text beside it.
 * @param {number} share from 0 to 1
 */
export function makeBar(share) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  svg.setAttribute("class", "bar");
  svg.setAttribute("aria-hidden", "true");
  rect.setAttribute("height", "100%");
  rect.setAttribute("width", `${Math.max(0.5, 100 * share).toFixed(2)}%`);
  svg.append(rect);
  return svg;
}

/**
 * A text with some stretches of it marked.
 * @param {string} text
 * @param {readonly (readonly [number, number])[]} spans of code points, rising, apart
 * @returns {Child[]}
 */
export function markSpans(text, spans) {
  const characters = Array.from(text);
  /** @type {Child[]} */
  const children = [];
  let at = 0;
  for (const [start, end] of spans) {
    children.push(characters.slice(at, start).join(""));
    children.push(make("mark", {}, characters.slice(start, end).join("")));
    at = end;
  }
  children.push(characters.slice(at).join(""));
  return children;
}

/**
 * A text with every one of these words in it marked.
 * @param {string} text
 * @param {ReadonlySet<string>} words in lower case
 * @returns {Child[]}
 */
export function markWords(text, words) {
  return text
    .split(/([\p{L}\p{N}\p{M}]+)/u)
    .map((piece) => (words.has(piece.toLowerCase()) ? make("mark", {}, piece) : piece));
}
