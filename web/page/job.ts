// One long job at a time: how far it is, a way to stop it, and what came of it.

import type { Progress } from "../src/index.ts";
import type { AddReport } from "../src/remote/remote_index.ts";
import { announce, find, make, makeButton } from "./dom.ts";
import { counted, messageOf, reasonOf } from "./words.ts";

/** What a job is given to say how far it is, and to know that it was cancelled. */
export interface JobTools {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

const FAILED_SHOWN = 200;
const section = find("job", HTMLElement);
const report = find("report", HTMLElement);
let current: AbortController | null = null;

/** Whether a job is under way. */
export function isWorking(): boolean {
  return current !== null;
}

/** Runs a job, one at a time; what goes wrong is said in place of its report. */
export async function job(title: string, work: (tools: JobTools) => Promise<void>): Promise<void> {
  if (isWorking())
    return showNote("Something else is under way: wait for it, or cancel it.", false);
  try {
    await runJob(title, work);
  } catch (error) {
    if (reasonOf(error) === "Cancelled") showNote("Cancelled: nothing was changed.", false);
    else showNote(messageOf(error), false);
  }
}

/** Runs a job with a bar and a button to cancel it. */
async function runJob(title: string, work: (tools: JobTools) => Promise<void>): Promise<void> {
  const abort = new AbortController();
  current = abort;
  hideReport();
  const bar = make("progress", { max: "1", "aria-label": title });
  const line = make("p", { class: "hint" }, "Getting ready…");
  const cancel = makeButton({ class: "quiet" }, "Cancel", () => {
    cancel.disabled = true;
    line.textContent = "Cancelling…";
    abort.abort();
  });
  section.replaceChildren(
    make("div", { class: "work" }, make("p", {}, make("strong", {}, title)), cancel),
    bar,
    line,
  );
  section.hidden = false;
  announce(title);
  try {
    await work({ signal: abort.signal, onProgress: showing(bar, line) });
  } finally {
    current = null;
    section.hidden = true;
    section.replaceChildren();
  }
}

/** Says what a change did, with the files that were left out and why. */
export function showReport(done: AddReport, name: string, notes: readonly string[]): void {
  const counts: [number, string][] = [
    [done.added, "added"],
    [done.replaced, "updated"],
    [done.unchanged, "unchanged"],
  ];
  const told = counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${counted(count, "file")} ${what}`);
  const what = `${told.join(", ") || "Nothing was added"} in “${name}”`;
  const said = `${[what, ...notes].join("; ")}.`;
  const failed = done.failed.length > 0 ? [makeFailed(done)] : [];
  const kind = done.added + done.replaced + done.unchanged > 0 ? "note good" : "note";
  fill(make("div", { class: kind }, make("p", {}, said), ...failed));
  announce(said);
}

/** Says something that was done, or not. */
export function showNote(message: string, isGood = true): void {
  fill(make("div", { class: isGood ? "note good" : "note" }, make("p", {}, message)));
  announce(message);
}

/** Takes a report of what was done away, once something else is looked at; one of a failure stays. */
export function passReport(): void {
  if (report.querySelector(".good")) hideReport();
}

export function hideReport(): void {
  report.hidden = true;
  report.replaceChildren();
}

function fill(content: HTMLElement): void {
  const close = makeButton({ class: "quiet icon", "aria-label": "Dismiss" }, "✕", hideReport);
  content.append(close);
  report.replaceChildren(content);
  report.hidden = false;
}

function makeFailed({ failed }: AddReport): HTMLElement {
  const items = failed.slice(0, FAILED_SHOWN).map(({ source, message }) => {
    return make("li", {}, make("code", {}, source), ` ${messageOf(message)}`);
  });
  const more = failed.length - items.length;
  if (more > 0) items.push(make("li", {}, `and ${more.toLocaleString("en")} more`));
  const heading = `${counted(failed.length, "file")} left out`;
  return make(
    "details",
    {},
    make("summary", {}, heading),
    make("ul", { class: "plain" }, ...items),
  );
}

/** Reading and embedding go on side by side: both are said. The bar counts files, and within the one that is
 * read, its chunks: it may be large. */
function showing(bar: HTMLProgressElement, line: HTMLElement): (progress: Progress) => void {
  let [read, total, embedded, begun, within] = [0, 0, 0, 0, 0];
  return ({ phase, done, total: all }) => {
    if (phase === "reading") [read, total, begun, within] = [done, all, embedded, 0];
    else if (phase === "embedding") {
      embedded = done;
      within = all > begun ? Math.min(1, (done - begun) / (all - begun)) : 0;
    }
    const progress = `${read.toLocaleString("en")} of ${counted(total, "file")}`;
    const files = total > 0 ? (phase === "reading" && read === 0 ? "Reading…" : progress) : "";
    const chunks = embedded > 0 ? counted(embedded, "chunk") : "";
    const isOwn = phase === "reading" || phase === "embedding";
    const said = [files, chunks, isOwn ? "" : `${phase}…`].filter((part) => part !== "").join(", ");
    line.textContent = said || "Getting ready…";
    if (total > 0)
      bar.value = isOwn
        ? (0.95 * Math.min(total, read + within)) / total
        : 0.95 + (0.05 * done) / Math.max(1, all);
    else if (!isOwn && all > 0) bar.value = done / all;
  };
}
