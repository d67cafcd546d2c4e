// What the panel shows of a server's index: what it holds and takes, how fresh it is, and which writes met.

import type { Conflict, ServerStatus } from "../../src/remote/remote_index.ts";
import { make, makeButton, makeBytesRow, makeFigures, makeList } from "../dom.ts";
import type { Child } from "../dom.ts";
import { makeLatencyPlot } from "../latency.ts";
import { counted, messageOf, share, size, when } from "../words.ts";

type ReadConflict = (number: number) => Promise<Conflict>;

const REASONS_SHOWN = 8;

/** The panel's content. */
export function makeStatus(
  status: ServerStatus,
  conflicts: readonly Conflict[],
  readConflict: ReadConflict,
): Child[] {
  const { documents, chunks, total_bytes: bytes } = status;
  const items = conflicts.map((conflict) => makeConflict(conflict, readConflict));
  return [
    makeFigures([
      [documents.toLocaleString("en"), "documents"],
      [chunks.toLocaleString("en"), "chunks"],
      [size(bytes), sharesOf(bytes, status).join(", ") || "in all"],
    ]),
    makeFreshness(status),
    ...makeGroup(counted(items.length, "conflict"), "conflicts", items),
    make("h3", {}, "Time of the last questions"),
    makeLatencyPlot(),
    make("h3", {}, "What it takes"),
    makeBytes(status),
    make("h3", {}, "What it is"),
    makeFacts(status),
    ...makeGroup("Left out", "plain", makeReasons(status)),
  ];
}

function sharesOf(bytes: number, status: ServerStatus): string[] {
  const [text, files] = [share(bytes, status.text_bytes), share(bytes, status.source_bytes)];
  return [text && `${text} of the text`, files && `${files} of the files`].filter((said) => said);
}

function makeGroup(heading: string, kind: string, items: readonly HTMLElement[]): Child[] {
  if (items.length === 0) return [];
  return [make("h3", {}, heading), make("ul", { class: kind, role: "list" }, ...items)];
}

function makeFreshness(status: ServerStatus): HTMLElement {
  if (Object.keys(status.follows).length > 0) return makeFollowed(status.follows);
  if (status.is_fresh) {
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

function makeFollowed(origin: ServerStatus["follows"]): HTMLElement {
  const kept = `${origin["mode"]}, texts ${origin["texts"]}`;
  const said = `Follows ${origin["url"]}, version ${origin["version"]} (${kept}).`;
  const pending = Number(origin["pending"] ?? 0);
  const waits = pending === 1 ? "waits" : "wait";
  const more = pending > 0 ? ` ${counted(pending, "change")} ${waits} to be pushed.` : "";
  return make("p", { class: pending > 0 ? "note" : "note good" }, said, more);
}

function makeBytes(status: ServerStatus): HTMLElement {
  const parts = Object.entries(status.bytes_by_part).filter(([, bytes]) => bytes > 0);
  const most = Math.max(1, ...parts.map(([, bytes]) => bytes));
  const rows = parts.map(([part, bytes]) =>
    makeBytesRow(part, bytes / most, size(bytes), share(bytes, status.text_bytes), share(bytes, status.source_bytes)),
  );
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, "Part"),
    make("td", {}),
    make("th", { scope: "col", class: "number" }, "Bytes"),
    make("th", { scope: "col", class: "number" }, "Of text"),
    make("th", { scope: "col", class: "number" }, "Of files"),
  );
  return make("table", { class: "bytes" }, make("thead", {}, head), make("tbody", {}, ...rows));
}

function makeFacts(status: ServerStatus): HTMLElement {
  const kinds = Object.entries(status.kinds).map(([kind, number]) => `${kind} ${number}`);
  const files = [
    `${status.indexed.toLocaleString("en")} indexed`,
    `${status.skipped.toLocaleString("en")} skipped`,
    `${status.failed.toLocaleString("en")} failed`,
  ];
  return makeList([
    ["Index", status.folder],
    ["Folders", status.roots.join("\n") || "none; texts only, or nothing yet"],
    ["Files", files.join(", ")],
    ["Kinds", kinds.join(", ") || "none"],
    ["Text", size(status.text_bytes)],
    ["Files on disk", size(status.source_bytes)],
    ["Version", `${status.generation.toLocaleString("en")}, of ${when(status.changed)}`],
    ["Model", status.model],
  ]);
}

function makeReasons({ reasons }: ServerStatus): HTMLElement[] {
  const all = Object.entries(reasons);
  const items = all.slice(0, REASONS_SHOWN).map(([reason, number]) => `${number} × ${reason}`);
  const more = all.length - items.length;
  if (more > 0) items.push(`and ${counted(more, "more reason")}`);
  return items.map((item) => make("li", {}, item));
}

function makeConflict({ number, id, at, note }: Conflict, read: ReadConflict): HTMLElement {
  const lost = make("div", { class: "text" });
  lost.hidden = true;
  const button = makeButton({ class: "quiet" }, "Show what was replaced", async () => {
    button.disabled = true;
    try {
      lost.textContent = (await read(number)).lost || "(it was empty)";
    } catch (error) {
      lost.textContent = messageOf(error);
    }
    lost.hidden = false;
    button.hidden = true;
  });
  const head = make("p", {}, make("strong", {}, id), ` ${when(at)}`);
  return make("li", {}, head, make("p", {}, note), button, lost);
}
