// Hits as cards, each of which opens in its context.

import type { ChunkContext, Hit } from "../src/index.ts";
import { announce, make, makeButton, markSpans, markWords } from "./dom.ts";
import type { Child } from "./dom.ts";
import { linkTo, makePath, safeAddress } from "./links.ts";
import { messageOf, nearPath, rankingName } from "./words.ts";

export type ReadContext = (id: number, margin: number) => Promise<ChunkContext>;

/** A card, and the hit that it shows. */
export interface Card {
  readonly id: number;
  readonly element: HTMLLIElement;
  readonly main: HTMLElement; // what keys go to: the link to its page, else the button
  readonly button: HTMLButtonElement; // unfolds it
  /** Shows what is new of the same hit; its context stays open. */
  update(hit: Hit): void;
  /** Writes where it stands as seen from these folders. */
  locate(roots: readonly string[]): void;
}

const FIRST_MARGIN = 600;
const WIDER = 4;
const MOST_MARGIN = 100_000;
// A margin cut inside a character loses the rest of it, at most this many bytes.
const CUT_BYTES = 3;
const MOST_WORD = 40; // characters; scripts without spaces have no longer ones
const NO_TEXT = "Its text is not here and cannot be had now.";
// Kinds that are written to be read; all others are code, and shown in a type of even width.
const PROSE = new Set([
  ...["text", "markdown", "rst", "asciidoc", "org", "html", "pdf", "epub", "mail", "chat"],
  ...["docx", "odt", "pptx", "odp", "xlsx", "notebook"],
]);

/** The card of a hit, as an item of the list. */
export function makeCard(hit: Hit, readContext: ReadContext): Card {
  let shown = hit;
  let known: readonly string[] = [];
  const place = `context-${hit.id}`;
  const context = make("div", { class: "context", id: place });
  context.hidden = true;
  const snippet = make("p", { class: "text snippet" });
  const places = make("div", { class: "places" });
  const ranks = make("ul", { class: "ranks", role: "list", "aria-label": "How sure it is" });
  const location = { class: "location", "aria-expanded": "false", "aria-controls": place };
  const button = makeButton({ ...location, title: hit.location }, "", () => toggle());
  const link = safeAddress(hit.url) === "" ? null : make("a", { class: "page" });
  const head = make("div", { class: "head" }, make("h3", {}, link ?? button), makeCopyButton(hit));
  const below = link ? make("p", { class: "where" }, button) : make("p", { class: "title" });
  const kind = { class: PROSE.has(hit.kind) ? "card" : "card code" };
  const article = make("article", kind, head, below, snippet, context, places, ranks);
  const toggle = () => {
    const isOpen = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(isOpen));
    snippet.hidden = isOpen;
    context.hidden = !isOpen;
    if (isOpen && context.childElementCount === 0) {
      void showContext(context, shown, readContext, FIRST_MARGIN);
    }
  };
  // The whole snippet is a target for the mouse; one that selects text in it means to copy.
  snippet.addEventListener("click", () => {
    if (String(getSelection()) === "") toggle();
  });
  const update = (next: Hit) => {
    shown = next;
    const path = makePath(next);
    if (link) {
      link.href = safeAddress(next.url);
      link.replaceChildren(...(path.length > 0 ? path : [make("bdi", {}, next.location)]));
    } else {
      below.replaceChildren(...path);
      below.hidden = path.length === 0;
    }
    const text = next.snippet === "" ? [NO_TEXT] : markSpans(next.snippet, next.highlights, next.code);
    snippet.replaceChildren(...text);
    places.replaceChildren(...makePlaces(next, known));
    ranks.replaceChildren(...makeReasons(next));
  };
  update(hit);
  const locate = (roots: readonly string[]) => {
    known = roots;
    button.replaceChildren(makeLocation(hit.source, hit.location, roots));
    places.replaceChildren(...makePlaces(shown, roots));
  };
  return { id: hit.id, element: make("li", {}, article), main: link ?? button, button, update, locate };
}

/** Where else it stands, and what more the document has: closed at first. */
function makePlaces({ copies, also, more }: Hit, roots: readonly string[]): HTMLElement[] {
  const kinds = [
    { said: `Also in ${copies === 1 ? "1 other" : `${copies.toLocaleString("en")} others`}`, places: also },
    { said: `${more.length} more in this file`, places: more },
  ];
  return kinds
    .filter(({ places }) => places.length > 0)
    .map(({ said, places }) => {
      const items = places.map(({ path, location, url = "" }) =>
        make("li", {}, linkTo(url, makeLocation(path, location, roots))),
      );
      return make("details", {}, make("summary", {}, said), make("ul", {}, ...items));
    });
}

function makeLocation(source: string, location: string, roots: readonly string[]): HTMLElement {
  const near = nearPath(source, roots);
  const cut = Math.max(near.lastIndexOf("/"), near.lastIndexOf("\\")) + 1;
  const rest = location.startsWith(source) ? location.slice(source.length) : "";
  return make(
    "bdi",
    {},
    make("span", { class: "folder" }, near.slice(0, cut)),
    make("span", { class: "file" }, near.slice(cut)),
    make("span", { class: "place" }, rest),
  );
}

/** Says how sure a hit is and what it is; what that comes from is shown where the mouse rests on it. */
function makeReasons(hit: Hit): HTMLElement[] {
  const why = { title: ranksOf(hit).join(" · ") };
  const sure = hit.strength === "" ? [] : [make("li", { class: `strength ${hit.strength}`, ...why }, hit.strength)];
  return [...sure, make("li", hit.strength === "" ? why : {}, hit.kind)];
}

function ranksOf(hit: Hit): string[] {
  const ranks = Object.entries(hit.ranks).map(([ranking, rank]) => {
    const isMeasured = ranking === "semantic" && hit.distance !== null;
    const likeness = isMeasured ? `, cosine ${(0 - Number(hit.distance)).toFixed(2)}` : "";
    return `${rankingName(ranking)} #${rank}${likeness}`;
  });
  const sure = typeof hit.probability === "number" ? [`probability ${hit.probability.toFixed(2)}`] : [];
  return [...sure, ...(typeof hit.tokens === "number" ? [`tokens ${hit.tokens.toFixed(2)}`] : []), ...ranks];
}

function makeCopyButton(hit: Hit): HTMLElement {
  const attributes = { class: "quiet copy", "aria-label": `Copy location ${hit.location}` };
  const button = makeButton(attributes, "Copy", async () => {
    const isCopied = await copy(hit.location);
    button.textContent = isCopied ? "Copied" : "Not copied";
    announce(isCopied ? "Location copied" : "The browser does not let this page copy");
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

/** Puts a text on the clipboard; says whether the browser let it. */
async function copy(text: string): Promise<boolean> {
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

/** Shows the text around a hit; again with wider margins when asked for more. */
async function showContext(
  context: HTMLElement,
  hit: Hit,
  readContext: ReadContext,
  margin: number,
): Promise<void> {
  const hadFocus = () => context.contains(document.activeElement);
  const main = context.closest(".card")?.querySelector<HTMLElement>("button.location");
  context.setAttribute("aria-busy", "true");
  try {
    const found = await readContext(hit.id, margin);
    const isFocused = hadFocus();
    const wider = Math.min(margin * WIDER, MOST_MARGIN);
    context.replaceChildren(
      ...makeContext(found, hit, margin, () => void showContext(context, hit, readContext, wider)),
    );
    if (isFocused) (context.querySelector("button") ?? main)?.focus({ preventScroll: true });
  } catch (error) {
    const again = () => void showContext(context, hit, readContext, margin);
    const said = make("p", { class: "problem", role: "alert" }, messageOf(error));
    context.replaceChildren(said, makeButton({ class: "quiet" }, "Try again", again));
  } finally {
    context.removeAttribute("aria-busy");
  }
}

function makeContext(found: ChunkContext, hit: Hit, margin: number, more: () => void): Child[] {
  const isBegun = byteLength(found.before) >= hit.start;
  const isEnded = byteLength(found.after) < margin - CUT_BYTES;
  const words = new Set(
    hit.highlights.map(([start, end]) => hit.snippet.slice(start, end).toLowerCase()),
  );
  const text = make(
    "div",
    { class: "text" },
    make("span", { class: "around" }, isBegun ? found.before : `…${fromWord(found.before)}`),
    make("span", { class: "chunk" }, ...markWords(found.text, words)),
    make("span", { class: "around" }, found.after, isEnded ? "" : "…"),
  );
  if (isBegun && isEnded) return [text, make("p", { class: "hint" }, "This is the whole text.")];
  if (margin >= MOST_MARGIN) return [text, make("p", { class: "hint" }, "The text goes on.")];
  return [text, makeButton({ class: "quiet more" }, "More context", more)];
}

/** A text that was cut somewhere, from where its first whole word begins. */
function fromWord(text: string): string {
  const space = text.search(/\s/u);
  return space >= 0 && space < MOST_WORD ? text.slice(space + 1) : text;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
