// The page: what is typed becomes a query, the address carries it, a server or the worker answers it.

import type { Hooks, Opened } from "./backend.ts";
import { announce, find, make } from "./dom.ts";
import { offerModes, queryOfForm, setForm, showFilterCount } from "./form.ts";
import { isWorking, passReport, showNote } from "./job.ts";
import { moveThroughCards, setRoots } from "./list.ts";
import { local, setUpIndexFiles } from "./local/backend.ts";
import { setUpPanel } from "./panel.ts";
import { setUpPicking } from "./picking.ts";
import { FILTERS, hasWord, readQuery, writeQuery } from "./query.ts";
import type { Query } from "./query.ts";
import { showNothing, showProblem, showResults } from "./results.ts";
import { answers } from "./search.ts";
import { server, setUpServer } from "./server/backend.ts";
import { isServer } from "./site.ts";
import type { Target } from "./site.ts";
import { hideStart, showExamples, showStart } from "./start.ts";
import { setUpTheme } from "./theme.ts";
import { counted, reasonOf } from "./words.ts";

const MEANING_MS = 180; // after words were looked for, until meaning is
const WORDS_ONLY =
  "The model of this index does not run in this page: it is searched by words only, not by meaning.";

const form = find("form", HTMLFormElement);
const question = find("question", HTMLInputElement);
const results = find("results", HTMLElement);
const list = find("hits", HTMLElement);
const panelButton = find("panel-button", HTMLButtonElement);
const panelLine = find("panel-line", HTMLElement);

const backend = isServer ? server : local;
let running = new AbortController();
let typing = 0;
let isWaiting = false; // for what is in the index, to show where one can begin
let retry: (() => void) | null = null; // what failed for want of a connection

const hooks: Hooks = {
  opening: () => say("Opening…", "busy"),
  opened: (target) => {
    refreshed();
    offerModes(backend.opened()?.isWordsOnly ?? false);
    goTo(queryOfForm(), { isDraft: true, target });
  },
  refreshed: () => {
    refreshed();
    if (isWaiting || backend.opened()?.status?.chunks === 0) void begin();
  },
  failed: (error, target) => {
    if (backend.opened()) refreshed();
    else say("No index", "bad");
    results.removeAttribute("aria-busy");
    void showFailure(error, target, () => void backend.open(target, hooks));
    if (!backend.opened()) void begin();
  },
};

// Some browsers run the page from a disk, where nothing can be fetched.
if (location.protocol !== "file:") document.getElementById("unserved")?.remove();
setUpTheme();
setUpPicking(backend, hooks);
setUpPanel(backend, hooks);
if (isServer) setUpServer();
else setUpIndexFiles(hooks);
listen();
if (location.protocol !== "file:") followAddress();

function listen(): void {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    goTo(queryOfForm(), { isDraft: false });
  });
  form.addEventListener("input", onInput);
  // The last letters of an input method come before it ends, and no event of their own after it.
  form.addEventListener("compositionend", onInput);
  form.addEventListener("change", (event) => {
    showFilterCount(queryOfForm());
    if (event.target !== question) goTo(queryOfForm(), { isDraft: false });
  });
  find("clear-filters", HTMLButtonElement).addEventListener("click", () => {
    const none = Object.fromEntries(FILTERS.map((name) => [name, ""]));
    setForm({ ...queryOfForm(), ...none });
    goTo(queryOfForm(), { isDraft: false });
  });
  document.addEventListener("keydown", onKey);
  addEventListener("popstate", () => followAddress());
  addEventListener("online", () => retry?.());
  addEventListener("beforeunload", (event) => {
    if (isWorking()) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") void refresh();
  });
}

function onInput(event: Event): void {
  if (event.target !== question || (event as InputEvent).isComposing) return;
  clearTimeout(typing);
  passReport();
  typing = window.setTimeout(() => {
    const query = queryOfForm();
    if (query.question === "" || hasWord(query.question)) goTo(query, { isDraft: true });
  }, backend.typingMs);
}

function onKey(event: KeyboardEvent): void {
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.closest("dialog")) return;
  if (event.key === "/" && !target.matches("input:not([type=radio]), select, textarea")) {
    event.preventDefault();
    question.focus();
    question.select();
  } else if (target === question && event.key === "Escape") {
    event.preventDefault();
    question.value = "";
    goTo(queryOfForm(), { isDraft: true });
  } else if (target === question && event.key === "ArrowUp") {
    return; // nothing stands above; the caret moves as usual
  } else if (target === question || list.contains(target)) {
    if (moveThroughCards(event, question)) event.preventDefault();
  }
}

/** Puts a query in the address and answers it. While one types, one entry of the history follows the
 * typing; what is asked for on purpose stays in it. */
function goTo(query: Query, { isDraft, target }: { isDraft: boolean; target?: Target }): void {
  const shown = target ?? backend.opened()?.target ?? backend.targetOf(location.search);
  const address = writeQuery(query, backend.paramsOf(shown));
  const isHere = new URL(address, location.href).href === location.href;
  const isStillDraft = isDraft && (!isHere || (history.state?.isDraft ?? true));
  const state = { isDraft: isStillDraft, target: keyOf(shown) };
  if (isHere || history.state === null || history.state.isDraft)
    history.replaceState(state, "", address);
  else history.pushState(state, "", address);
  void answer(query);
}

/** Opens the index that the address names, unless it is open, and answers its question. */
function followAddress(): void {
  setForm(readQuery(location.search));
  const now = backend.opened()?.target;
  const wanted = backend.targetOf(location.search);
  // A link with a question was followed on purpose: Back leads to it from the next one.
  if (history.state === null && question.value !== "")
    history.replaceState({ isDraft: false, target: keyOf(wanted) }, "");
  const isOpen = now && (history.state?.target === keyOf(now) || keyOf(now) === keyOf(wanted));
  if (isOpen) void answer(queryOfForm());
  else void backend.open(wanted, hooks);
}

/** Searches, unless there is nothing to search for. A search that was overtaken is given up. */
async function answer(query: Query): Promise<void> {
  clearTimeout(typing);
  running.abort();
  running = new AbortController();
  retry = null;
  isWaiting = false;
  const { signal } = running;
  const opened = backend.opened();
  document.title = query.question ? `${query.question} – Gossamer` : "Gossamer";
  if (query.question === "" || !opened || opened.status?.chunks === 0) return begin();
  if (opened.isWordsOnly) offerModes(true);
  hideStart();
  results.setAttribute("aria-busy", "true");
  let hasHits = false;
  const showing = {
    key: JSON.stringify([keyOf(opened.target), query]),
    isFiltered: FILTERS.some((name) => query[name] !== ""),
    readContext: opened.context,
  };
  const possible: Query = opened.isWordsOnly ? { ...query, mode: "lexical" } : query;
  try {
    for await (const found of answers(opened, possible, signal, backend.isNear ? MEANING_MS : null)) {
      const isByWords = possible.mode === "hybrid" && found.results.explanation.mode === "lexical";
      if (found.isLast && isByWords) return limitToWords(opened);
      hasHits = found.results.hits.length > 0;
      if (hasHits) results.removeAttribute("aria-busy");
      showResults(found.results, { ...showing, isLast: found.isLast });
    }
    void refresh();
  } catch (error) {
    if (signal.aborted || isMended(error, opened)) return;
    await showFailure(error, opened.target, () => void answer(query), { signal, hasHits });
  }
  if (!signal.aborted) results.removeAttribute("aria-busy");
}

/** Whether what failed goes on by itself: by words where there is no model, or as the backend does it. */
function isMended(error: unknown, opened: Opened): boolean {
  if (reasonOf(error) !== "MissingModel" || opened.isWordsOnly)
    return backend.mends(error, opened, hooks);
  limitToWords(opened);
  return true;
}

/** Searches an index whose model is not here by words alone from now on, and says so. */
function limitToWords(opened: Opened): void {
  opened.isWordsOnly = true;
  showNote(WORDS_ONLY, false);
  offerModes(true);
  goTo(queryOfForm(), { isDraft: true });
}

/** Says what went wrong and what can be done about it; `again` is also tried when the network is back. */
async function showFailure(
  error: unknown,
  target: Target,
  again: () => void,
  { signal, hasHits = false }: { signal?: AbortSignal; hasHits?: boolean } = {},
): Promise<void> {
  if (reasonOf(error) === "Unreachable") retry = again;
  const remedies = await backend.remediesOf(error, target, again, hooks);
  if (!signal?.aborted) showProblem(error, remedies, hasHits);
}

/** Shows how the index is by now, and says so if others have changed it. */
async function refresh(): Promise<void> {
  const asked = backend.opened();
  if (!backend.isNear && asked?.status) return;
  const hasChanged = await backend.refresh();
  if (asked !== backend.opened()) return;
  hooks.refreshed();
  if (hasChanged && asked?.status && !isWorking())
    showNote(`The index has changed: it has ${counted(asked.status.documents, "document")} now.`);
}

/** Shows where one can begin; what went wrong stays in sight. */
async function begin(): Promise<void> {
  const opened = backend.opened();
  results.removeAttribute("aria-busy");
  if (opened) showNothing();
  isWaiting = opened?.status === null;
  if (opened && isWaiting) {
    const again = () => void backend.open(opened.target, hooks);
    if (opened.problem !== null) await showFailure(opened.problem, opened.target, again);
    return;
  }
  const beginning = await backend.beginning(hooks);
  if (queryOfForm().question !== "" && opened?.status?.chunks) return;
  showStart(beginning, (target) => void backend.open(target, hooks));
  void showExamples(opened, (text) => {
    question.value = text;
    goTo(queryOfForm(), { isDraft: false });
  });
}

/** Shows what is known of the open index. */
function refreshed(): void {
  const opened = backend.opened();
  if (!opened) return say("No index", "none");
  const { status, label, problem } = opened;
  const isBad = problem !== null;
  if (status) {
    const [said, state] = backend.stateOf(opened);
    say(`${label} · ${said}`, isBad ? "bad" : state);
  } else if (isBad) say(reasonOf(problem) === "Unreachable" ? "No connection" : "No status", "bad");
  setRoots(status?.roots ?? []);
  const kinds = Object.keys(status?.kinds ?? {}).map((kind) => make("option", { value: kind }));
  find("kinds", HTMLDataListElement).replaceChildren(...kinds);
}

function say(line: string, state: "good" | "old" | "busy" | "bad" | "none"): void {
  panelLine.textContent = line;
  if (state === "bad" && panelButton.dataset["state"] !== state) announce("Something went wrong");
  panelButton.dataset["state"] = state;
}

/** What tells targets apart; every picked file is one of its own. */
function keyOf(target: Target): string {
  if (target.kind === "file")
    return `file ${target.file.name} ${target.file.lastModified} ${target.file.size}`;
  return JSON.stringify(target);
}
