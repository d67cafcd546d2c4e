// The page: what is typed becomes a query, the address carries it, the worker answers it.

import { announce, find } from "./dom.ts";
import { offerModes, queryOfForm, setForm, showFilterCount } from "./form.ts";
import * as indexes from "./indexes.ts";
import type { Hooks } from "./indexes.ts";
import { isWorking, passReport, showNote } from "./job.ts";
import { moveThroughCards } from "./list.ts";
import { setUpPanel } from "./manage.ts";
import { setUpPicking } from "./picking.ts";
import { FILTERS, hasWord, readQuery, writeQuery } from "./query.ts";
import type { Query } from "./query.ts";
import { showNothing, showProblem, showResults } from "./results.ts";
import type { Remedy } from "./results.ts";
import { answer as answerQuery } from "./search.ts";
import { SITE, explained, isRefused, isServed, paramsOf, restart, targetOf } from "./session.ts";
import type { Opened, Target } from "./session.ts";
import { hideStart, showStart } from "./start.ts";
import { setUpTheme } from "./theme.ts";
import { forgetToken, knownToken } from "./token.ts";
import { counted, reasonOf } from "./words.ts";

const TYPING_MS = 60; // until words are looked for
const MEANING_MS = 180; // more, until meaning is
const WORDS_ONLY =
  "The model of this index does not run in this page: it is searched by words only, not by meaning.";

const form = find("form", HTMLFormElement);
const question = find("question", HTMLInputElement);
const results = find("results", HTMLElement);
const list = find("hits", HTMLElement);
const panelButton = find("panel-button", HTMLButtonElement);
const panelLine = find("panel-line", HTMLElement);

let running = new AbortController();
let typing = 0;
let updated: Opened | null = null;
let retry: (() => void) | null = null; // what failed for want of a connection

const hooks: Hooks = {
  opening: () => say("Opening…", "busy"),
  opened: (target) => {
    showOpened();
    offerModes(indexes.opened()?.isWordsOnly ?? false);
    goTo(queryOfForm(), { isDraft: true, target });
    const now = indexes.opened();
    if (now && now !== updated) {
      updated = now; // once for each that is opened
      void indexes.update(hooks, false);
    }
  },
  refreshed: () => showOpened(),
  failed: (error, target) => {
    if (indexes.opened()) showOpened();
    else say("No index", "bad");
    results.removeAttribute("aria-busy");
    const again = () => void indexes.open(target, hooks);
    void remediesOf(error, target, again).then((remedies) =>
      showProblem(explained(error, target), remedies),
    );
    if (!indexes.opened()) void begin();
  },
};

document.getElementById("unserved")?.remove();
setUpTheme();
setUpPicking(hooks);
setUpPanel(hooks);
listen();
followAddress();

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
    setForm({ ...queryOfForm(), path: "", type: "", where: "" });
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
  }, TYPING_MS);
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
  const shown = target ?? indexes.opened()?.target ?? targetOf(location.search);
  const address = writeQuery(query, paramsOf(shown));
  const state = { isDraft, target: keyOf(shown) };
  const isHere = new URL(address, location.href).href === location.href;
  if (isHere || history.state === null || history.state.isDraft)
    history.replaceState(state, "", address);
  else history.pushState(state, "", address);
  void answer(query);
}

/** Opens the index that the address names, unless it is open, and answers its question. */
function followAddress(): void {
  setForm(readQuery(location.search));
  const now = indexes.opened()?.target;
  const wanted = targetOf(location.search);
  const isOpen = now && (history.state?.target === keyOf(now) || keyOf(now) === keyOf(wanted));
  if (isOpen) void answer(queryOfForm());
  else void indexes.open(wanted, hooks);
}

/** Searches, unless there is nothing to search for. A search that was overtaken is given up. */
async function answer(query: Query): Promise<void> {
  clearTimeout(typing);
  running.abort();
  running = new AbortController();
  retry = null;
  const { signal } = running;
  const opened = indexes.opened();
  document.title = query.question ? `${query.question} – Gossamer` : "Gossamer";
  if (query.question === "" || !opened || opened.status.chunks === 0) return begin();
  if (opened.isWordsOnly) offerModes(true);
  hideStart();
  results.setAttribute("aria-busy", "true");
  let hasHits = false;
  const showing = {
    key: JSON.stringify([keyOf(opened.target), query]),
    isFiltered: FILTERS.some((name) => query[name] !== ""),
    readContext: opened.index.context.bind(opened.index),
  };
  const pause = () => new Promise<void>((done) => setTimeout(done, MEANING_MS));
  try {
    const asked: Query = opened.isWordsOnly ? { ...query, mode: "lexical" } : query;
    await answerQuery(opened.index, asked, signal, pause, {
      first: (found) => {
        hasHits = found.hits.length > 0;
        if (hasHits) results.removeAttribute("aria-busy");
        showResults(found, { ...showing, isLast: false });
      },
      last: (found) => showResults(found, { ...showing, isLast: true }),
    });
    void refresh();
  } catch (error) {
    if (signal.aborted) return;
    if (isMended(error, opened)) return;
    const remedies = await remediesOf(error, opened.target, () => void answer(query));
    if (!signal.aborted) showProblem(error, remedies, hasHits);
  }
  if (!signal.aborted) results.removeAttribute("aria-busy");
}

/** Whether what failed goes on by itself: by words where there is no model, with another token where the
 * server's has changed. */
function isMended(error: unknown, opened: Opened): boolean {
  if (reasonOf(error) === "MissingModel" && !opened.isWordsOnly) {
    opened.isWordsOnly = true;
    showNote(WORDS_ONLY, false);
    offerModes(true);
    goTo(queryOfForm(), { isDraft: true });
    return true;
  }
  if (isRefused(error) && isServed(opened.target) && knownToken() !== "") {
    forgetToken();
    void indexes.open(opened.target, hooks);
    return true;
  }
  return false;
}

/** Shows how the index is by now, and says so if others have changed it. */
async function refresh(): Promise<void> {
  const asked = indexes.opened();
  const hasChanged = await indexes.refresh();
  if (asked !== indexes.opened()) return;
  showOpened();
  if (hasChanged && asked && !isWorking())
    showNote(`The index has changed: it has ${counted(asked.status.documents, "document")} now.`);
}

/** Shows where one can begin; what went wrong stays in sight. */
async function begin(): Promise<void> {
  const opened = indexes.opened();
  results.removeAttribute("aria-busy");
  if (opened) showNothing();
  const acts = {
    keep: () => {
      if (opened?.target.kind === "file") void indexes.importFile(opened.target.file, hooks);
    },
    update: () => void indexes.update(hooks, true),
  };
  const names = await indexes.names();
  if (queryOfForm().question !== "" && opened && opened.status.chunks > 0) return;
  showStart(opened, names, (target) => void indexes.open(target, hooks), acts);
}

/** What can be done about a failure of an index. */
async function remediesOf(error: unknown, target: Target, again: () => void): Promise<Remedy[]> {
  const reason = reasonOf(error);
  const isGone = reason === "WrongState" && /worker/.test(String(error));
  if (reason === "Unreachable") retry = again;
  const remedies: Remedy[] = [];
  if (isGone) {
    const act = () => {
      restart();
      void indexes.closeCurrent().then(() => indexes.open(target, hooks));
    };
    remedies.push({ label: "Start again", act });
  } else if (["Unreachable", "Locked", "Unavailable", "WrongState", ""].includes(reason)) {
    remedies.push({ label: "Try again", act: again });
  }
  const isLost = ["NoIndex", "Damaged", "Truncated"].includes(reason);
  if (isLost && target.kind === "name" && (await indexes.names()).includes(target.name))
    remedies.push({ label: "Delete what is left", act: () => forget(target.name) });
  if (isLost && target.kind !== "site" && SITE.index !== "") {
    remedies.push({
      label: "Search this site instead",
      act: () => void indexes.open({ kind: "site" }, hooks),
    });
  }
  return remedies;
}

function forget(name: string): void {
  const gone = indexes.removeNamed(name, hooks).catch(() => false);
  void gone.then(() => indexes.open({ kind: "site" }, hooks));
}

function showOpened(): void {
  const opened = indexes.opened();
  if (!opened) return say("No index", "none");
  const state = opened.problem === "" ? "good" : "bad";
  say(`${opened.label} · ${counted(opened.status.documents, "document")}`, state);
}

function say(line: string, state: "good" | "busy" | "bad" | "none"): void {
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
