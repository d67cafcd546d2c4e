/** The page: what is typed becomes a query, the address carries it, the server answers it. */

import { Api, ServerError } from "./api.js";
import { find, make, makeButton } from "./dom.js";
import { moveThroughCards, shortenLocations } from "./hits.js";
import { FILTERS, readQuery, writeQuery } from "./query.js";
import { announce, showEmptyIndex, showNothing, showProblem, showResults } from "./results.js";
import { isFresh, makeStatus } from "./status.js";
import { askToken } from "./token.js";
import { counted, messageOf } from "./words.js";

/** @typedef {import("./api.js").Status} Status */
/** @typedef {import("./query.js").Query} Query */

const PAUSE_MS = 350;

const form = find("form", HTMLFormElement);
const question = find("question", HTMLInputElement);
const results = find("results", HTMLElement);
const list = find("hits", HTMLElement);
const statusButton = find("status-button", HTMLButtonElement);
const statusDialog = find("status", HTMLDialogElement);

const api = new Api(askToken);
let running = new AbortController();
let pause = 0;
/** @type {Status | null} what the server said last */
let status = null;

start();

function start() {
  form.addEventListener("submit", onSubmit);
  form.addEventListener("input", onInput);
  // The last letters of an input method come before it ends, and no event of their own after it.
  form.addEventListener("compositionend", onInput);
  form.addEventListener("change", onChange);
  find("clear-filters", HTMLButtonElement).addEventListener("click", clearFilters);
  document.addEventListener("keydown", onKey);
  addEventListener("popstate", () => followAddress());
  statusButton.addEventListener("click", openStatus);
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog")?.close());
  }
  statusDialog.addEventListener("click", (event) => {
    if (event.target === statusDialog) statusDialog.close(); // the backdrop
  });
  followAddress();
  void refreshStatus();
}

/** @param {SubmitEvent} event */
function onSubmit(event) {
  event.preventDefault();
  goTo(queryOfForm(), false);
}

/** @param {Event} event */
function onInput(event) {
  if (event.target !== question || /** @type {InputEvent} */ (event).isComposing) return;
  clearTimeout(pause);
  pause = setTimeout(() => {
    const query = queryOfForm();
    if (query.question === "" || /[\p{L}\p{N}]/u.test(query.question)) goTo(query, true);
  }, PAUSE_MS);
}

/** @param {Event} event */
function onChange(event) {
  showFilterCount(queryOfForm());
  if (event.target !== question) goTo(queryOfForm(), false);
}

function clearFilters() {
  setForm({ ...queryOfForm(), path: "", type: "", where: "" });
  goTo(queryOfForm(), false);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
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
    goTo(queryOfForm(), true);
  } else if (target === question && event.key === "ArrowUp") {
    return; // nothing stands above; the caret moves as usual
  } else if (target === question || list.contains(target)) {
    if (moveThroughCards(list, event, question)) event.preventDefault();
  }
}

/**
 * Put a query in the address and answer it. While one types, one entry of the history follows
 * the typing; what is asked for on purpose stays in it.
 * @param {Query} query
 * @param {boolean} isDraft
 */
function goTo(query, isDraft) {
  const address = writeQuery(query);
  const isHere = new URL(address, location.href).href === location.href;
  if (isHere || history.state?.isDraft) history.replaceState({ isDraft }, "", address);
  else history.pushState({ isDraft }, "", address);
  void answer(query);
}

function followAddress() {
  const query = readQuery(location.search);
  setForm(query);
  void answer(query);
}

/**
 * Search, unless there is nothing to search for. A search that was overtaken is given up.
 * @param {Query} query
 */
async function answer(query) {
  clearTimeout(pause);
  running.abort();
  running = new AbortController();
  const { signal } = running;
  document.title = query.question ? `${query.question} – Gossamer` : "Gossamer";
  if (query.question === "") {
    results.removeAttribute("aria-busy");
    showStart();
    return;
  }
  results.setAttribute("aria-busy", "true");
  try {
    const found = await api.search(query, signal);
    if (signal.aborted) return;
    const isFiltered = FILTERS.some((name) => query[name] !== "");
    showResults(found, { readContext: api.context.bind(api), announce }, isFiltered);
    shortenLocations(list, status?.roots ?? []);
    if (found.hits.length === 0 && status?.chunks === 0) showEmptyIndex();
    if (status === null) void refreshStatus();
  } catch (error) {
    if (signal.aborted) return;
    showProblem(error, () => void answer(query));
  }
  results.removeAttribute("aria-busy");
}

function showStart() {
  if (status?.chunks === 0) showEmptyIndex();
  else showNothing();
}

/** @returns {Query} */
function queryOfForm() {
  const data = new FormData(form);
  const text = (/** @type {string} */ name) => String(data.get(name) ?? "").trim();
  return {
    question: text("q"),
    mode: text("mode"),
    k: Number(text("k")),
    path: text("path"),
    type: text("type"),
    where: text("where"),
  };
}

/** @param {Query} query */
function setForm(query) {
  const set = (/** @type {string} */ name, /** @type {string} */ value) => {
    const control = form.elements.namedItem(name);
    if (control instanceof HTMLInputElement || control instanceof RadioNodeList) {
      control.value = value;
    }
  };
  question.value = query.question;
  set("mode", query.mode);
  for (const name of FILTERS) set(name, query[name]);
  setCount(query.k);
  if (showFilterCount(query) > 0) find("filters", HTMLDetailsElement).open = true;
}

/** @param {number} k */
function setCount(k) {
  const select = find("k", HTMLSelectElement);
  const isThere = Array.from(select.options).some((option) => option.value === String(k));
  if (!isThere) select.append(make("option", {}, String(k)));
  select.value = String(k);
}

/** @param {Query} query */
function showFilterCount(query) {
  const count = FILTERS.filter((name) => query[name] !== "").length;
  find("filter-count", HTMLElement).textContent = count ? `(${count})` : "";
  return count;
}

function openStatus() {
  statusDialog.showModal();
  void refreshStatus();
}

/** Ask how the index is; the line at the top says it, and the panel if it is open. */
async function refreshStatus() {
  const line = find("status-line", HTMLElement);
  try {
    status = await api.status();
    line.textContent = lineOf(status);
    statusButton.dataset.state = isFresh(status) ? "good" : "old";
    offerKinds(status);
    shortenLocations(list, status.roots);
    if (queryOfForm().question === "") showStart();
    if (statusDialog.open) await fillStatus(status);
  } catch (error) {
    status = null;
    const message = messageOf(error);
    const isSilent = error instanceof ServerError && error.reason === "unreachable";
    line.textContent = isSilent ? "No connection" : "No status";
    statusButton.dataset.state = "bad";
    const again = makeButton({}, "Try again", () => void refreshStatus());
    const said = make("div", { class: "problem", role: "alert" }, make("p", {}, message), again);
    find("status-body", HTMLElement).replaceChildren(said);
  }
}

/** @param {Status} known */
function lineOf(known) {
  if (known.documents === 0) return "Empty index";
  return `${counted(known.documents, "document")}, ${isFresh(known) ? "fresh" : "not fresh"}`;
}

/** @param {Status} known */
async function fillStatus(known) {
  const body = find("status-body", HTMLElement);
  const fill = (/** @type {import("./api.js").Conflict[]} */ conflicts) =>
    body.replaceChildren(...makeStatus(known, conflicts, (number) => api.conflict(number)));
  fill([]);
  // An index that nobody follows has no conflicts, and asking for them would begin a history.
  if (!known.bytes_by_part.sync) return;
  try {
    fill(await api.conflicts());
  } catch (error) {
    const message = messageOf(error);
    body.append(make("p", { class: "problem", role: "alert" }, `Conflicts: ${message}`));
  }
}

/** @param {Status} known */
function offerKinds(known) {
  const options = Object.keys(known.kinds).map((kind) => make("option", { value: kind }));
  find("kinds", HTMLDataListElement).replaceChildren(...options);
}
