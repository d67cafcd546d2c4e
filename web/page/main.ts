// The page: what is typed becomes a query, the address carries it, the worker answers it.

import { announce, find } from "./dom.ts";
import { setForm, queryOfForm, showFilterCount } from "./form.ts";
import * as indexes from "./indexes.ts";
import type { Hooks } from "./indexes.ts";
import { isWorking } from "./job.ts";
import { moveThroughCards } from "./list.ts";
import { setUpPanel } from "./manage.ts";
import { setUpPicking } from "./picking.ts";
import { FILTERS, hasWord, readQuery, writeQuery } from "./query.ts";
import type { Query } from "./query.ts";
import { showNothing, showProblem, showResults } from "./results.ts";
import type { Remedy } from "./results.ts";
import { answer as answerQuery } from "./search.ts";
import { SITE, paramsOf, restart, targetOf } from "./session.ts";
import type { Target } from "./session.ts";
import { hideStart, showStart } from "./start.ts";
import { setUpTheme } from "./theme.ts";
import { counted, reasonOf } from "./words.ts";

const TYPING_MS = 60; // until words are looked for
const MEANING_MS = 180; // more, until meaning is

const form = find("form", HTMLFormElement);
const question = find("question", HTMLInputElement);
const results = find("results", HTMLElement);
const list = find("hits", HTMLElement);
const panelButton = find("panel-button", HTMLButtonElement);
const panelLine = find("panel-line", HTMLElement);

let running = new AbortController();
let typing = 0;
let retry: (() => void) | null = null; // what failed for want of a connection

const hooks: Hooks = {
  opening: () => say("Opening…", "busy"),
  opened: (target) => {
    showOpened();
    goTo(queryOfForm(), { isDraft: true, target });
  },
  failed: (error, target) => {
    if (indexes.opened()) showOpened();
    else say("No index", "bad");
    results.removeAttribute("aria-busy");
    showProblem(
      error,
      remediesOf(error, target, () => void indexes.open(target, hooks)),
    );
    if (!indexes.opened()) void begin();
  },
};

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
    if (document.visibilityState === "visible")
      void indexes.refresh().then(showOpened, () => undefined);
  });
}

function onInput(event: Event): void {
  if (event.target !== question || (event as InputEvent).isComposing) return;
  clearTimeout(typing);
  typing = window.setTimeout(() => {
    const query = queryOfForm();
    if (query.question === "" || hasWord(query.question)) goTo(query, { isDraft: true });
  }, TYPING_MS);
}

function onKey(event: KeyboardEvent): void {
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.closest("dialog")) return;
  if (event.key === "/" && !target.matches("input, select, textarea")) {
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
    await answerQuery(opened.index, query, signal, pause, {
      first: (found) => {
        hasHits = found.hits.length > 0;
        if (hasHits) results.removeAttribute("aria-busy");
        showResults(found, { ...showing, isLast: false });
      },
      last: (found) => showResults(found, { ...showing, isLast: true }),
    });
  } catch (error) {
    if (signal.aborted) return;
    showProblem(
      error,
      remediesOf(error, opened.target, () => void answer(query)),
      hasHits,
    );
  }
  if (!signal.aborted) results.removeAttribute("aria-busy");
}

/** Shows where one can begin; what went wrong stays in sight. */
async function begin(): Promise<void> {
  const opened = indexes.opened();
  results.removeAttribute("aria-busy");
  if (opened) showNothing();
  const keep = () => {
    if (opened?.target.kind === "file") void indexes.importFile(opened.target.file, hooks);
  };
  const names = await indexes.names();
  if (queryOfForm().question !== "" && opened && opened.status.chunks > 0) return;
  showStart(opened, names, (target) => void indexes.open(target, hooks), keep);
}

/** What can be done about a failure of an index. */
function remediesOf(error: unknown, target: Target, again: () => void): Remedy[] {
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
  if (isLost && target.kind === "name")
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
  const gone = indexes.removeNamed(name).catch(() => false);
  void gone.then(() => indexes.open({ kind: "site" }, hooks));
}

function showOpened(): void {
  const opened = indexes.opened();
  if (!opened) return say("No index", "none");
  say(`${opened.label} · ${counted(opened.status.documents, "document")}`, "good");
}

function say(line: string, state: "good" | "busy" | "bad" | "none"): void {
  panelLine.textContent = line;
  panelButton.dataset["state"] = state;
  if (state === "bad") announce("Something went wrong");
}

/** What tells targets apart; every picked file is one of its own. */
function keyOf(target: Target): string {
  if (target.kind === "file")
    return `file ${target.file.name} ${target.file.lastModified} ${target.file.size}`;
  return JSON.stringify(target);
}
