/** What the index holds, what it takes, how fresh it is, and which writes met. */

import { make, makeBar, makeButton } from "./dom.js";
import { counted, messageOf, share, size, when } from "./words.js";

/** @typedef {import("./api.js").Status} Status */
/** @typedef {import("./api.js").Conflict} Conflict */

const REASONS_SHOWN = 8;

/**
 * Whether every indexed file is as it was when it was read.
 * @param {Status} status
 */
export function isFresh(status) {
  return status.changed_files === 0 && status.missing_files === 0;
}

/**
 * The panel's content.
 * @param {Status} status
 * @param {readonly Conflict[]} conflicts
 * @param {(number: number) => Promise<Conflict>} readConflict
 */
export function makeStatus(status, conflicts, readConflict) {
  return [
    makeFigures(status),
    makeFreshness(status),
    ...makeConflicts(conflicts, readConflict),
    make("h3", {}, "What it takes"),
    makeBytes(status),
    make("h3", {}, "What it is"),
    makeFacts(status),
    ...makeReasons(status),
  ];
}

/** @param {Status} status */
function makeFigures(status) {
  const total = totalBytes(status);
  /** @type {[string, string][]} */
  const figures = [
    [status.documents.toLocaleString("en"), "documents"],
    [status.chunks.toLocaleString("en"), "chunks"],
    [size(total), status.text_bytes ? `${share(total, status.text_bytes)} of the text` : "in all"],
  ];
  const items = figures.map(([figure, what]) =>
    make("li", {}, make("strong", {}, figure), make("span", {}, what)),
  );
  return make("ul", { class: "figures", role: "list" }, ...items);
}

/** @param {Status} status */
function makeFreshness(status) {
  if (Object.keys(status.follows).length > 0) return makeFollowed(status.follows);
  if (isFresh(status)) {
    return make("p", { class: "note good" }, "Fresh: all files are as they were indexed.");
  }
  const parts = [
    status.changed_files ? `${counted(status.changed_files, "file")} changed` : "",
    status.missing_files ? `${counted(status.missing_files, "file")} gone` : "",
  ];
  const said = parts.filter((part) => part !== "").join(", ");
  const command = make("code", {}, "gossamer add");
  return make("p", { class: "note" }, `Not fresh: ${said}. `, command, " brings it up to date.");
}

/** @param {Status["follows"]} origin */
function makeFollowed(origin) {
  const kept = `${origin.mode}, texts ${origin.texts}`;
  const said = `Follows ${origin.url}, version ${origin.version} (${kept}).`;
  const pending = Number(origin.pending ?? 0);
  const waits = pending === 1 ? "waits" : "wait";
  const more = pending > 0 ? ` ${counted(pending, "change")} ${waits} to be pushed.` : "";
  return make("p", { class: pending > 0 ? "note" : "note good" }, said, more);
}

/** @param {Status} status */
function makeBytes(status) {
  const parts = Object.entries(status.bytes_by_part).filter(([, bytes]) => bytes > 0);
  const most = Math.max(1, ...parts.map(([, bytes]) => bytes));
  const rows = parts.map(([part, bytes]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, part),
      make("td", { class: "bars" }, makeBar(bytes / most)),
      make("td", { class: "number" }, size(bytes)),
      make("td", { class: "number" }, share(bytes, status.text_bytes)),
    ),
  );
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, "Part"),
    make("td", {}),
    make("th", { scope: "col", class: "number" }, "Bytes"),
    make("th", { scope: "col", class: "number" }, "Of text"),
  );
  return make("table", { class: "bytes" }, make("thead", {}, head), make("tbody", {}, ...rows));
}

/** @param {Status} status */
function makeFacts(status) {
  const kinds = Object.entries(status.kinds).map(([kind, number]) => `${kind} ${number}`);
  const files = [
    `${status.indexed.toLocaleString("en")} indexed`,
    `${status.skipped.toLocaleString("en")} skipped`,
    `${status.failed.toLocaleString("en")} failed`,
  ];
  /** @type {[string, string][]} */
  const facts = [
    ["Index", status.folder],
    ["Folders", status.roots.join("\n") || "none; texts only, or nothing yet"],
    ["Files", files.join(", ")],
    ["Kinds", kinds.join(", ") || "none"],
    ["Text", size(status.text_bytes)],
    ["Version", `${status.generation.toLocaleString("en")}, of ${when(status.changed)}`],
    ["Model", status.model],
  ];
  return makeList(facts);
}

/**
 * A list of names and values.
 * @param {readonly (readonly [string, string])[]} facts
 */
export function makeList(facts) {
  const items = facts.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value)),
  );
  return make("dl", {}, ...items);
}

/** @param {Status} status */
function makeReasons(status) {
  const reasons = Object.entries(status.reasons);
  if (reasons.length === 0) return [];
  const shown = reasons.slice(0, REASONS_SHOWN);
  const items = shown.map(([reason, number]) => make("li", {}, `${number} × ${reason}`));
  if (reasons.length > shown.length) {
    items.push(make("li", {}, `and ${counted(reasons.length - shown.length, "more reason")}`));
  }
  return [make("h3", {}, "Left out"), make("ul", { class: "plain" }, ...items)];
}

/**
 * @param {readonly Conflict[]} conflicts
 * @param {(number: number) => Promise<Conflict>} readConflict
 */
function makeConflicts(conflicts, readConflict) {
  if (conflicts.length === 0) return [];
  const items = conflicts.map((conflict) => makeConflict(conflict, readConflict));
  const list = make("ul", { class: "conflicts", role: "list" }, ...items);
  return [make("h3", {}, counted(conflicts.length, "conflict")), list];
}

/**
 * @param {Conflict} conflict
 * @param {(number: number) => Promise<Conflict>} readConflict
 */
function makeConflict(conflict, readConflict) {
  const lost = make("div", { class: "text" });
  lost.hidden = true;
  const button = makeButton({ class: "quiet" }, "Show what was replaced", async () => {
    button.disabled = true;
    try {
      lost.textContent = (await readConflict(conflict.number)).lost || "(it was empty)";
    } catch (error) {
      lost.textContent = messageOf(error);
    }
    lost.hidden = false;
    button.hidden = true;
  });
  const head = make("p", {}, make("strong", {}, conflict.id), ` ${when(conflict.at)}`);
  return make("li", {}, head, make("p", {}, conflict.note), button, lost);
}

/** @param {Status} status */
function totalBytes(status) {
  return Object.values(status.bytes_by_part).reduce((sum, bytes) => sum + bytes, 0);
}
