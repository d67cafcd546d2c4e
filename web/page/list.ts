// The list of hits: refined in place, walked by keys.

import type { Hit } from "../src/index.ts";
import { makeCard } from "./cards.ts";
import type { Card, ReadContext } from "./cards.ts";

let cards: readonly Card[] = [];
let asked = "";
let roots: readonly string[] = [];

/** Writes where hits stand as seen from the folders that were indexed, from now on. */
export function setRoots(known: readonly string[]): void {
  roots = known;
  for (const card of cards) card.locate(roots);
}

/** Shows hits. Those of the same question (`key`) stay what they are, and the one that has the focus or is
 * open stays where it is on the screen: the others are put around it. */
export function showHits(
  list: HTMLElement,
  key: string,
  hits: readonly Hit[],
  readContext: ReadContext,
): void {
  const isSame = key === asked;
  asked = key;
  const known = new Map(isSame ? cards.map((card) => [card.id, card]) : []);
  const next = hits.map((hit) => {
    const card = known.get(hit.id);
    card?.update(hit);
    return card ?? makeCard(hit, readContext);
  });
  const sure = countSure(hits);
  next.forEach(({ element }, at) => {
    element.classList.toggle("weak", sure > 0 && at >= sure);
    element.classList.toggle("first-weak", sure > 0 && at === sure);
  });
  const anchor = isSame ? anchorOf(cards) : undefined;
  if (anchor && !next.includes(anchor))
    next.splice(Math.min(cards.indexOf(anchor), next.length), 0, anchor);
  const before = anchor?.element.getBoundingClientRect().top;
  arrange(list, next, anchor);
  cards = next;
  setRoots(roots);
  if (anchor && before !== undefined)
    scrollBy(0, anchor.element.getBoundingClientRect().top - before);
}

/** How many hits there are up to the last one that is not weak. */
export function countSure(hits: readonly Hit[]): number {
  return hits.reduce((sure, { strength }, at) => (strength === "weak" ? sure : at + 1), 0);
}

/** Shows no hits. */
export function clearHits(list: HTMLElement): void {
  cards = [];
  asked = "";
  list.replaceChildren();
}

/** Moves through the cards by key; true if the key meant something here. `above` stands above the first. */
export function moveThroughCards(event: KeyboardEvent, above: HTMLElement): boolean {
  const target = event.target instanceof Element ? event.target : null;
  const at = cards.findIndex((card) => card.element.contains(target));
  const card = cards[at];
  if (event.key === "ArrowDown") focusOn(cards[at + 1]?.main);
  else if (event.key === "ArrowUp") focusOn(at > 0 ? cards[at - 1]?.main : above);
  else if (event.key === "Escape" && card?.button.getAttribute("aria-expanded") === "true") {
    card.button.click();
    focusOn(card.button);
  } else if (event.key === "Escape") focusOn(above);
  else return false;
  return true;
}

/** The card that the user looks at: it has the focus, or else is the first that is open. */
function anchorOf(shown: readonly Card[]): Card | undefined {
  const focused = shown.find((card) => card.element.contains(document.activeElement));
  return focused ?? shown.find((card) => card.button.getAttribute("aria-expanded") === "true");
}

/** Puts cards in order without ever moving the anchor: an element that is moved loses the focus. */
function arrange(list: HTMLElement, next: readonly Card[], anchor: Card | undefined): void {
  const wanted = new Set<Element>(next.map((card) => card.element));
  for (const element of Array.from(list.children)) if (!wanted.has(element)) element.remove();
  if (!anchor) {
    next.forEach(({ element }, at) => {
      const there = list.children[at] ?? null;
      if (there !== element) list.insertBefore(element, there);
    });
    return;
  }
  const at = next.indexOf(anchor);
  anchor.element.before(...next.slice(0, at).map((card) => card.element));
  anchor.element.after(...next.slice(at + 1).map((card) => card.element));
}

function focusOn(element: HTMLElement | undefined): void {
  element?.focus({ preventScroll: true });
  (element?.closest(".card") ?? element)?.scrollIntoView({ block: "nearest" });
}
