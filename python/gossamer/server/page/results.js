/** What a search gave, or why it gave nothing. */

import { ServerError } from "./api.js";
import { find, make, makeButton } from "./dom.js";
import { makeCard } from "./hits.js";
import { makeList } from "./status.js";
import { counted, messageOf, size } from "./words.js";

/** @typedef {import("./api.js").Results} Results */
/** @typedef {import("./api.js").Status} Status */
/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./hits.js").CardTools} CardTools */

const STALE_SHOWN = 5;

const problem = find("problem", HTMLElement);
const summary = find("summary", HTMLElement);
const remarks = find("remarks", HTMLElement);
const list = find("hits", HTMLElement);
const explanation = find("explanation", HTMLDetailsElement);

/**
 * Show what was found.
 * @param {Results} results
 * @param {CardTools} tools
 * @param {boolean} isFiltered
 */
export function showResults(results, tools, isFiltered) {
  showNothing();
  const count = results.hits.length;
  summary.textContent = count > 0 ? counted(count, "hit") : "Nothing found.";
  if (count === 0) summary.append(` ${isFiltered ? FEWER_FILTERS : OTHER_WORDS}`);
  remarks.replaceChildren(...makeRemarks(results));
  list.replaceChildren(...results.hits.map((hit) => makeCard(hit, tools)));
  showExplanation(results);
}

const FEWER_FILTERS = "Filters are set: fewer of them may let more through.";
const OTHER_WORDS = "Other words may help, or a search by meaning.";

/** Show no results and no problem. */
export function showNothing() {
  problem.replaceChildren();
  remarks.replaceChildren();
  list.replaceChildren();
  summary.replaceChildren();
  explanation.hidden = true;
}

/** Say that there is nothing to find yet. */
export function showEmptyIndex() {
  showNothing();
  const command = make("code", {}, "gossamer add PATH");
  summary.replaceChildren("This index is empty. ", command, " puts files into it.");
}

/**
 * Say what went wrong.
 * @param {unknown} error
 * @param {() => void} retry
 */
export function showProblem(error, retry) {
  showNothing();
  const message = messageOf(error);
  const isPassing = error instanceof ServerError && error.isPassing;
  const again = isPassing ? [makeButton({}, "Try again", retry)] : [];
  // A message of several lines points at a character of one of them.
  const said = make(message.includes("\n") ? "code" : "span", {}, message);
  problem.replaceChildren(make("div", { class: "problem" }, make("p", {}, said), ...again));
}

/**
 * Say something short to those who hear the page.
 * @param {string} message
 */
export function announce(message) {
  const spoken = make("span", { class: "unseen" }, ` ${message}`);
  summary.append(spoken);
  setTimeout(() => spoken.remove(), 1500);
}

/** @param {Results} results */
function makeRemarks(results) {
  const notes = results.notes.map((note) => make("p", { class: "note" }, note));
  if (results.stale.length === 0) return notes;
  const shown = results.stale.slice(0, STALE_SHOWN).map((path) => make("li", {}, path));
  const more = results.stale.length - shown.length;
  if (more > 0) shown.push(make("li", {}, `and ${more} more`));
  const said = `${counted(results.stale.length, "file")} changed since the last update; hits in `;
  const stale = make(
    "div",
    { class: "note" },
    make("p", {}, `${said}old text are left out. `, make("code", {}, "gossamer add"), " mends it."),
    make("ul", { class: "plain" }, ...shown),
  );
  return [...notes, stale];
}

/** @param {Results} results */
function showExplanation(results) {
  const { stages, lexical_terms: terms, ...said } = results.explanation;
  const embedded = Number(said.chunks_embedded ?? 0);
  const heading = [
    `${results.took_ms.toLocaleString("en", { maximumFractionDigits: 1 })} ms`,
    ...(said.strategy ? [String(said.strategy)] : []),
    ...(embedded ? [`${counted(embedded, "chunk")} embedded`] : []),
  ];
  const facts = [
    ...Object.entries(said).map(([name, value]) => fact(name, value)),
    ...entries(terms).map(([term, count]) => fact(`chunks with “${term}”`, count)),
    ...entries(stages).map(([stage, ms]) => fact(`time: ${stage}`, `${ms} ms`)),
  ];
  const line = make("summary", {}, heading.join(" · "));
  explanation.replaceChildren(line, makeList(facts));
  explanation.hidden = false;
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {[string, string]}
 */
function fact(name, value) {
  const words = name.replaceAll("_", " ");
  if (value === null) return [words, "all"];
  if (typeof value !== "number") return [words, String(value)];
  return [words, name.endsWith("_bytes") ? size(value) : value.toLocaleString("en")];
}

/**
 * @param {unknown} mapping
 * @returns {[string, unknown][]}
 */
function entries(mapping) {
  return typeof mapping === "object" && mapping !== null ? Object.entries(mapping) : [];
}
