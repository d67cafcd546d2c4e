/** Hits as cards, each of which opens in its context. */

import { make, makeButton, markSpans, markWords } from "./dom.js";
import { messageOf, nearPath, rankingName } from "./words.js";

/** @typedef {import("./api.js").Hit} Hit */
/** @typedef {import("./api.js").Context} Context */

/**
 * @typedef {object} CardTools
 * @property {(id: number, margin: number) => Promise<Context>} readContext
 * @property {(message: string) => void} announce
 */

const FIRST_MARGIN = 600;
const WIDER = 4;
const MOST_MARGIN = 100_000;
// A margin cut inside a character loses the rest of it, at most this many bytes.
const CUT_BYTES = 3;
const NO_TEXT = "Its text is not here and cannot be had now.";
// Kinds that are written to be read; all others are code, and shown in a type of even width.
const PROSE = new Set([
  ...["text", "markdown", "rst", "asciidoc", "org", "html", "pdf", "epub", "mail", "chat"],
  ...["docx", "odt", "pptx", "odp", "xlsx", "notebook"],
]);

/**
 * The card of a hit, as an item of the list.
 * @param {Hit} hit
 * @param {CardTools} tools
 */
export function makeCard(hit, tools) {
  const place = `context-${hit.id}`;
  const context = make("div", { class: "context", id: place });
  context.hidden = true;
  const button = makeButton(
    { class: "location", "aria-expanded": "false", "aria-controls": place, title: hit.location },
    makeLocation(hit.path, hit.location, []),
    () => toggle(),
  );
  const shown = hit.snippet === "" ? [NO_TEXT] : markSpans(hit.snippet, hit.highlights);
  button.dataset.path = hit.path;
  const snippet = make("p", { class: "text snippet" }, ...shown);
  const article = make(
    "article",
    { class: PROSE.has(hit.kind) ? "card" : "card code" },
    make("div", { class: "head" }, make("h3", {}, button), makeCopyButton(hit, tools)),
    ...(hit.title ? [make("p", { class: "title" }, make("bdi", {}, hit.title))] : []),
    snippet,
    context,
    makeRanks(hit),
  );

  const toggle = () => {
    const isOpen = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(isOpen));
    snippet.hidden = isOpen;
    context.hidden = !isOpen;
    if (isOpen && context.childElementCount === 0) showContext(context, hit, tools, FIRST_MARGIN);
  };
  // The whole snippet is a target for the mouse; one that selects text in it means to copy.
  snippet.addEventListener("click", () => {
    if (String(getSelection()) === "") toggle();
  });
  return make("li", {}, article);
}

/**
 * Write the locations of cards as seen from the folders that were indexed.
 * @param {HTMLElement} list
 * @param {readonly string[]} roots
 */
export function shortenLocations(list, roots) {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (
    list.querySelectorAll("button.location")
  )) {
    button.replaceChildren(makeLocation(button.dataset.path ?? "", button.title, roots));
  }
}

/**
 * Move through the cards by key; true if the key meant something here.
 * @param {HTMLElement} list
 * @param {KeyboardEvent} event
 * @param {HTMLElement} above what stands above the first card
 */
export function moveThroughCards(list, event, above) {
  const card = event.target instanceof Element ? event.target.closest(".card") : null;
  const buttons = Array.from(list.querySelectorAll("button.location"));
  const at = buttons.findIndex((button) => card?.contains(button));
  if (event.key === "ArrowDown") focusOn(buttons[at + 1]);
  else if (event.key === "ArrowUp") focusOn(at > 0 ? buttons[at - 1] : above);
  else if (event.key === "Escape") leaveCard(buttons[at], above);
  else return false;
  return true;
}

/**
 * @param {Element | undefined} button
 * @param {HTMLElement} above
 */
function leaveCard(button, above) {
  if (button instanceof HTMLElement && button.getAttribute("aria-expanded") === "true") {
    button.click();
    focusOn(button);
  } else {
    focusOn(above);
  }
}

/** @param {Element | undefined} element */
function focusOn(element) {
  if (!(element instanceof HTMLElement)) return;
  element.focus({ preventScroll: true });
  (element.closest(".card") ?? element).scrollIntoView({ block: "nearest" });
}

/**
 * @param {string} path
 * @param {string} location begins with the path
 * @param {readonly string[]} roots
 */
function makeLocation(path, location, roots) {
  const near = nearPath(path, roots);
  const cut = Math.max(near.lastIndexOf("/"), near.lastIndexOf("\\")) + 1;
  return make(
    "bdi",
    {},
    make("span", { class: "folder" }, near.slice(0, cut)),
    make("span", { class: "file" }, near.slice(cut)),
    make("span", { class: "place" }, location.slice(path.length)),
  );
}

/** @param {Hit} hit */
function makeRanks(hit) {
  const ranks = Object.entries(hit.ranks).map(([ranking, rank]) => {
    const isMeasured = ranking === "semantic" && hit.distance !== null;
    const likeness = isMeasured ? `, cosine ${(0 - Number(hit.distance)).toFixed(2)}` : "";
    return make("li", {}, `${rankingName(ranking)} #${rank}${likeness}`);
  });
  const score = make("li", {}, `score ${Number(hit.score.toPrecision(3))}`);
  return make(
    "ul",
    { class: "ranks", role: "list", "aria-label": "Why it was found" },
    ...ranks,
    score,
    make("li", {}, hit.kind),
  );
}

/**
 * @param {Hit} hit
 * @param {CardTools} tools
 */
function makeCopyButton(hit, tools) {
  const attributes = { class: "quiet copy", "aria-label": `Copy location ${hit.location}` };
  const button = makeButton(attributes, "Copy", async () => {
    const isCopied = await copy(hit.location);
    button.textContent = isCopied ? "Copied" : "Not copied";
    tools.announce(isCopied ? "Location copied" : "The browser does not let this page copy");
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

/**
 * Put a text on the clipboard; says whether the browser let it.
 * @param {string} text
 */
async function copy(text) {
  // Browsers have no clipboard on plain HTTP from another machine; there the old command is left.
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const area = make("textarea", { class: "unseen", "aria-hidden": "true" }, text);
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

/**
 * Show the text around a hit; again with wider margins when asked for more.
 * @param {HTMLElement} context
 * @param {Hit} hit
 * @param {CardTools} tools
 * @param {number} margin
 */
async function showContext(context, hit, tools, margin) {
  context.setAttribute("aria-busy", "true");
  try {
    const found = await tools.readContext(hit.id, margin);
    const hadFocus = context.contains(document.activeElement);
    const more = () => showContext(context, hit, tools, Math.min(margin * WIDER, MOST_MARGIN));
    const children = makeContext(found, hit, margin, more);
    context.replaceChildren(...children);
    if (hadFocus) focusOn(context.querySelector("button") ?? buttonOf(context));
  } catch (error) {
    const message = messageOf(error);
    const again = () => showContext(context, hit, tools, margin);
    const retry = makeButton({ class: "quiet" }, "Try again", again);
    context.replaceChildren(make("p", { class: "problem", role: "alert" }, message), retry);
  } finally {
    context.removeAttribute("aria-busy");
  }
}

/** @param {HTMLElement} context */
function buttonOf(context) {
  return context.closest(".card")?.querySelector("button.location") ?? undefined;
}

/**
 * @param {Context} found
 * @param {Hit} hit
 * @param {number} margin
 * @param {() => void} more
 */
function makeContext(found, hit, margin, more) {
  const isBegun = byteLength(found.before) >= hit.start;
  const isEnded = byteLength(found.after) < margin - CUT_BYTES;
  const text = make(
    "div",
    { class: "text" },
    make("span", { class: "around" }, isBegun ? "" : "…", found.before),
    make("span", { class: "chunk" }, ...markWords(found.text, wordsOf(hit))),
    make("span", { class: "around" }, found.after, isEnded ? "" : "…"),
  );
  if (isBegun && isEnded) return [text, make("p", { class: "hint" }, "This is the whole text.")];
  if (margin >= MOST_MARGIN) return [text, make("p", { class: "hint" }, "The text goes on.")];
  return [text, makeButton({ class: "quiet more" }, "More context", more)];
}

/**
 * The words for which a hit is one, as its snippet marks them.
 * @param {Hit} hit
 */
function wordsOf(hit) {
  const characters = Array.from(hit.snippet);
  return new Set(
    hit.highlights.map(([start, end]) => characters.slice(start, end).join("").toLowerCase()),
  );
}

/** @param {string} text */
function byteLength(text) {
  return new TextEncoder().encode(text).length;
}
