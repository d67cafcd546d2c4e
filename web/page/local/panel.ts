// What the panel shows of an index in this browser: what it takes, how fast it answers, and what is kept.

import type { StorageStatus } from "../../src/index.ts";
import { find, make, makeBar, makeButton, makeBytesRow, makeFigures, makeList } from "../dom.ts";
import type { Child } from "../dom.ts";
import { makeLatencyPlot } from "../latency.ts";
import { counted, messageOf, share, size } from "../words.ts";
import { siteName, titleOf } from "./session.ts";
import type { LocalIndex } from "./session.ts";

/** What the panel's buttons do. */
export interface PanelActions {
  open(name: string): void;
  exportNamed(name: string): void;
  remove(name: string): void;
  importFile(): void;
  setBudget(bytes: number): Promise<void>;
  persist(): Promise<void>;
}

export interface PanelState {
  readonly opened: LocalIndex | null;
  readonly storage: StorageStatus;
  readonly names: readonly string[];
}

const MIB = 1 << 20;
const LEAST_POWER = 0; // of MiB
const MOST_POWER = 9;
const SOURCES: Readonly<Record<string, string>> = {
  stored: "read from storage",
  ranges: "fetched by ranges",
  server: "asked of the server",
  recompute: "computed here, from the text",
};
const KINDS: Readonly<Record<string, string>> = {
  opfs: "files (OPFS)",
  indexeddb: "IndexedDB",
  memory: "memory only: gone when the page is closed",
  none: "not kept",
};

/** The panel's content. */
export function makePanel(state: PanelState, actions: PanelActions): Child[] {
  const { opened } = state;
  return [
    ...(opened
      ? [...problemOf(opened), makeFigures(figuresOf(opened)), makeFacts(opened)]
      : [make("p", { class: "note" }, "No index is open.")]),
    make("h3", {}, "Time of the last questions"),
    makeLatencyPlot(),
    ...(opened ? [make("h3", {}, "Memory"), makeMemory(opened), makeBudget(opened, actions)] : []),
    make("h3", {}, "Storage of this site"),
    makeStorage(state.storage, actions),
    make("h3", {}, "Indexes in this browser"),
    makeNames(state, actions),
  ];
}

function problemOf({ problem }: LocalIndex): Child[] {
  if (problem === null) return [];
  return [make("div", { class: "problem", role: "alert" }, make("p", {}, messageOf(problem)))];
}

function figuresOf({ status }: LocalIndex): [string, string][] {
  return [
    [status.documents.toLocaleString("en"), "documents"],
    [status.chunks.toLocaleString("en"), "chunks"],
    [size(status.bytesFetched), "fetched"],
  ];
}

function makeFacts({ label, status }: LocalIndex): HTMLElement {
  return makeList([
    ["Index", label],
    ...(status.origin ? [["From", status.origin] as const] : []),
    ["Fetched", `${size(status.bytesFetched)} in ${counted(status.requests, "request")}`],
    ["Model", `${status.model}, ${status.dim} dimensions`],
    ["Vectors", SOURCES[status.vectors] ?? status.vectors],
    [
      "Kept",
      status.storageKind === "none"
        ? "nothing"
        : `${size(status.storageBytes)} in ${KINDS[status.storageKind]}`,
    ],
  ]);
}

function makeMemory({ status }: LocalIndex): HTMLElement {
  const rows: [string, number][] = [
    ["Wasm", status.wasmBytes],
    ["JavaScript", Math.max(0, status.memoryBytes - status.wasmBytes)],
    ["Cache in it", status.cacheBytes],
  ];
  const most = Math.max(1, ...rows.map(([, bytes]) => bytes));
  const cells = rows.map(([what, bytes]) => makeBytesRow(what, bytes / most, size(bytes)));
  return make("table", { class: "bytes" }, make("tbody", {}, ...cells));
}

/** Powers of two: what a slider can tell apart. */
function makeBudget({ status }: LocalIndex, actions: PanelActions): HTMLElement {
  const power = Math.min(
    MOST_POWER,
    Math.max(LEAST_POWER, Math.round(Math.log2(status.cacheBudget / MIB))),
  );
  const told = make("output", { for: "budget" });
  const attributes = {
    type: "range",
    id: "budget",
    min: String(LEAST_POWER),
    max: String(MOST_POWER),
    step: "1",
  };
  const slider = make("input", { ...attributes, value: String(power) });
  const say = (bytes: number) => {
    told.textContent = `${bytes / MIB} MiB`;
    slider.setAttribute("aria-valuetext", `${bytes / MIB} mebibytes`);
  };
  const chosen = () => MIB * 2 ** Number(slider.value);
  slider.addEventListener("input", () => say(chosen()));
  slider.addEventListener("change", () => {
    actions.setBudget(chosen()).catch((error: unknown) => (told.textContent = messageOf(error)));
  });
  say(MIB * 2 ** power);
  return make(
    "div",
    { class: "budget" },
    make("label", { for: "budget" }, "Cache of vectors, at most"),
    slider,
    told,
  );
}

function makeStorage(storage: StorageStatus, actions: PanelActions): HTMLElement {
  if (storage.quota === 0) {
    return make("div", { class: "storage" }, make("p", {}, `Kept in ${KINDS[storage.kind]}.`));
  }
  const part = share(storage.used, storage.quota);
  const used = `${size(storage.used)} of ${size(storage.quota)} (${part})`;
  const bar = makeBar(storage.used / storage.quota);
  const kept = storage.isPersistent
    ? make("p", { class: "hint" }, "The browser keeps it until you delete it.")
    : make("p", { class: "hint" }, "The browser may clear it when room runs short. ");
  const ask = makeButton({ class: "quiet" }, "Ask to keep it", () => void actions.persist());
  if (!storage.isPersistent && storage.kind !== "memory") kept.append(ask);
  return make(
    "div",
    { class: "storage" },
    make("p", {}, `${used}, ${KINDS[storage.kind]}`),
    bar,
    kept,
  );
}

function makeNames({ names, opened }: PanelState, actions: PanelActions): HTMLElement {
  const pick = makeButton({ class: "quiet" }, "Import an index file", () => actions.importFile());
  if (names.length === 0) {
    return make(
      "div",
      {},
      make("p", { class: "hint" }, "None yet."),
      make("p", { class: "choices" }, pick),
    );
  }
  const items = names.map((name) => {
    const isOpen = opened?.index.name === name;
    const open = makeButton(
      { class: "quiet", "aria-label": `Open ${name}` },
      isOpen ? "Is open" : "Open",
      () => actions.open(name),
    );
    open.disabled = isOpen;
    return make(
      "li",
      {},
      make("bdi", { class: "name", title: name }, titleOf(name)),
      make(
        "span",
        { class: "choices" },
        open,
        makeButton({ class: "quiet", "aria-label": `Export ${name}` }, "Export", () =>
          actions.exportNamed(name),
        ),
        makeButton({ class: "quiet", "aria-label": `Delete ${name}` }, "Delete", () =>
          actions.remove(name),
        ),
      ),
    );
  });
  const list = make("ul", { class: "names", role: "list" }, ...items);
  return make("div", {}, list, make("p", { class: "choices" }, pick));
}

/** Asks before something goes for good. */
export function confirmDelete(name: string): Promise<boolean> {
  const dialog = find("confirm", HTMLDialogElement);
  find("confirm-heading", HTMLElement).textContent = `Delete “${titleOf(name)}”?`;
  find("confirm-text", HTMLElement).textContent =
    name === siteName()
      ? "What this browser keeps of it goes, and is fetched again when it is needed."
      : "What is only in this browser is gone then: export it first if you want to keep it.";
  dialog.returnValue = "";
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  });
}
