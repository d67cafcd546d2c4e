// What a search gave, or why it gave nothing.

import type { Explanation, Results } from "../src/index.ts";
import type { Remedy } from "./backend.ts";
import type { ReadContext } from "./cards.ts";
import { announce, find, make, makeButton, makeList } from "./dom.ts";
import { clearHits, countSure, showHits } from "./list.ts";
import { counted, duration, headingOf, messageOf, size } from "./words.ts";

export interface Showing {
  readonly key: string; // what tells questions apart
  readonly isLast: boolean; // false while the search goes on
  readonly isFiltered: boolean;
  readonly readContext: ReadContext;
}

const problem = find("problem", HTMLElement);
const summary = find("summary", HTMLElement);
const remarks = find("remarks", HTMLElement);
const list = find("hits", HTMLElement);
const explanation = find("explanation", HTMLDetailsElement);

const FEWER_FILTERS = "Filters are set: fewer of them may let more through.";
const OTHER_WORDS = "Other words may help, or a search by meaning.";

/** Shows what was found. */
export function showResults(results: Results, showing: Showing): void {
  const count = results.hits.length;
  if (!showing.isLast && count === 0) {
    // What was there stays until the search is over.
    summary.textContent = "Searching by meaning…";
    return;
  }
  problem.replaceChildren();
  showHits(list, showing.key, results.hits, showing.readContext);
  const said = count > 0 ? counted(count, "hit") : "Nothing found.";
  const advice = showing.isFiltered ? FEWER_FILTERS : OTHER_WORDS;
  summary.textContent =
    count > 0
      ? `${said}${showing.isLast ? "" : " by words, searching by meaning…"}`
      : `${said} ${advice}`;
  const absence = makeAbsence(results);
  const notes = results.notes.map((note) => make("p", { class: "note" }, messageOf(note)));
  remarks.replaceChildren(...notes, ...absence);
  showExplanation(results);
  if (showing.isLast) announce([said, ...absence.map(({ textContent }) => textContent)].join(" "));
}

/** Says what no file contains to the letter, or that nothing is close, and what is shown in its place. */
function makeAbsence({ absent, hits, explanation: { mode } }: Results): HTMLElement[] {
  if (absent.length === 0) {
    const isClose = hits.length === 0 || countSure(hits) > 0;
    return isClose ? [] : [make("p", { class: "absence" }, "Nothing close was found; nearest:")];
  }
  const quoted = absent.map((words, at) => [at === 0 ? "" : " or ", make("bdi", {}, `“${words}”`)]);
  const nearest = mode === "lexical" ? "; nearest by other words:" : "; nearest by meaning:";
  const end = hits.length > 0 ? nearest : ".";
  // A phrase may begin in one passage and end in the next.
  const where = absent.some((words) => words.includes(" ")) ? "passage" : "file";
  return [make("p", { class: "absence" }, `No ${where} contains `, ...quoted.flat(), end)];
}

/** Shows no results and no problem. */
export function showNothing(): void {
  problem.replaceChildren();
  remarks.replaceChildren();
  clearHits(list);
  summary.replaceChildren();
  explanation.hidden = true;
}

/** Says what went wrong. Hits that are there already stay, as what could be found. */
export function showProblem(error: unknown, remedies: readonly Remedy[], hasHits = false): void {
  if (!hasHits) showNothing();
  else summary.textContent = "Found by words only.";
  const message = messageOf(error);
  // A message of several lines points at a character of one of them.
  const said = make(message.includes("\n") ? "code" : "span", {}, message);
  const buttons = remedies.map(({ label, act }, at) =>
    makeButton(at === 0 ? {} : { class: "quiet" }, label, act),
  );
  problem.replaceChildren(
    make(
      "div",
      { class: "problem" },
      make("h3", {}, headingOf(error)),
      make("p", {}, said),
      ...(buttons.length > 0 ? [make("p", { class: "choices" }, ...buttons)] : []),
    ),
  );
}

function showExplanation({ explanation: told, tookMs }: Results): void {
  const supplied = suppliedOf(told);
  const heading = [
    duration(tookMs),
    ...(told.strategy ? [told.strategy] : []),
    ...(supplied.length > 0 ? [`vectors: ${supplied.join(", ")}`] : []),
    ...(told.bytesFetched > 0 ? [`${size(told.bytesFetched)} fetched`] : []),
  ];
  const counts: [string, number][] = [
    ["codes looked at", told.codesTouched],
    ["vectors computed", told.chunksEmbedded],
    ["vectors in memory", told.chunksCached],
    ["vectors read", told.chunksRead],
    ["vectors asked of the server", told.chunksAsked],
    ["rounds", told.rounds],
  ];
  const facts: [string, string][] = [
    ["mode", told.mode],
    ["chunks", told.chunks.toLocaleString("en")],
    ["let through by filters", told.allowedChunks?.toLocaleString("en") ?? "all"],
    ...counts
      .filter(([, count]) => count > 0)
      .map(([what, count]): [string, string] => [what, count.toLocaleString("en")]),
    ...(told.bytesFetched > 0 ? [["fetched", size(told.bytesFetched)] as [string, string]] : []),
    ...Object.entries(told.lexicalTerms).map(([term, count]): [string, string] => {
      return [`chunks with “${term}”`, count.toLocaleString("en")];
    }),
    ...Object.entries(told.stages).map(([stage, ms]): [string, string] => [
      `time: ${stage}`,
      duration(ms),
    ]),
  ];
  const isOpen = explanation.open;
  explanation.replaceChildren(make("summary", {}, heading.join(" · ")), makeList(facts));
  explanation.open = isOpen;
  explanation.hidden = false;
}

/** Where the vectors of a search came from, the most telling first. */
function suppliedOf(told: Explanation): string[] {
  const sources: [number, string][] = [
    [told.chunksEmbedded, "computed"],
    [told.chunksRead, "read"],
    [told.chunksAsked, "asked"],
    [told.chunksCached, "cached"],
  ];
  return sources
    .filter(([count]) => count > 0)
    .map(([count, how]) => `${count.toLocaleString("en")} ${how}`);
}
